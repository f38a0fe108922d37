use super::Event;
use crate::model::{Checked, Layer, Looked, Profile, World};

/// Everything that scans have found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// The profiles, in the order in which they were found.
    pub profiles: Vec<Profile>,
    /// The places that were looked at.
    pub looked: Vec<Looked>,
    /// Grows with every change.
    pub revision: u64,
    /// The last scan has ended.
    pub complete: bool,
}

impl Catalog {
    /// Takes over one event of a first scan.
    pub fn apply(&mut self, event: Event) {
        self.revision += 1;
        match event {
            Event::Looked(looked) => match self.looked.iter_mut().find(|l| l.path == looked.path) {
                Some(old) => *old = looked,
                None => self.looked.push(looked),
            },
            Event::Profile(profile) => match self.profiles.iter_mut().find(|p| p.id == profile.id) {
                Some(old) => *old = profile,
                None => self.profiles.push(profile),
            },
            Event::World { profile, world } => {
                let Some(profile) = self.profiles.iter_mut().find(|p| p.id == profile) else { return };
                match profile.worlds.iter_mut().find(|w| w.id == world.id) {
                    Some(old) => *old = world,
                    None => profile.worlds.push(world),
                }
            }
            Event::Done => self.complete = true,
        }
    }

    /// The world of an id.
    pub fn world(&self, id: &str) -> Option<(&Profile, &World)> {
        self.profiles.iter().find_map(|p| p.worlds.iter().find(|w| w.id == id).map(|w| (p, w)))
    }

    /// The layer of an id.
    pub fn layer(&self, id: &str) -> Option<(&Profile, &World, &Layer)> {
        self.profiles
            .iter()
            .find_map(|p| p.worlds.iter().find_map(|w| w.layers.iter().find(|l| l.id == id).map(|l| (p, w, l))))
    }

    /// Takes over the result of a deeper check; false when the layer is gone.
    pub fn checked(&mut self, id: &str, checked: Checked) -> bool {
        let layer =
            self.profiles.iter_mut().flat_map(|p| &mut p.worlds).flat_map(|w| &mut w.layers).find(|l| l.id == id);
        let Some(layer) = layer else { return false };
        layer.apply(checked);
        self.revision += 1;
        true
    }
}
