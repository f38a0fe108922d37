//! What a node of the tree stands for in the catalog.

use super::state::Model;
use super::tree::Kind;
use crate::model::{Layer, Profile, World};

/// What a node of the tree stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Profile(&'a Profile),
    World(&'a Profile, &'a World),
    Layer(&'a Profile, &'a World, &'a Layer),
}

impl Model {
    /// The node of an id in the tree as something of the catalog.
    pub(super) fn subject(&self, node: u32) -> Option<Subject<'_>> {
        let item = self.tree.forest.item(node)?;
        Some(match item.kind {
            Kind::Profile => Subject::Profile(self.catalog.profiles.iter().find(|p| p.id == item.key)?),
            Kind::World => {
                let (profile, world) = self.catalog.world(&item.key)?;
                Subject::World(profile, world)
            }
            Kind::Layer => {
                let (profile, world, layer) = self.catalog.layer(&item.key)?;
                Subject::Layer(profile, world, layer)
            }
        })
    }

    /// The layer that a node stands for: itself, or a world's live one.
    pub(super) fn layer_of(&self, node: u32) -> Option<(&Profile, &World, &Layer)> {
        match self.subject(node)? {
            Subject::Profile(_) => None,
            Subject::World(profile, world) => {
                let layer = world.live().or_else(|| world.layers.first())?;
                Some((profile, world, layer))
            }
            Subject::Layer(profile, world, layer) => Some((profile, world, layer)),
        }
    }
}
