use super::Event;
use crate::games;
use crate::model::{Checked, GameId, Layer, Looked, Profile, World};

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
            Event::World { profile, mut world } => {
                let Some(profile) = self.profiles.iter_mut().find(|p| p.id == profile) else { return };
                match profile.worlds.iter_mut().find(|w| w.id == world.id) {
                    Some(old) => {
                        keep_depths(old, &mut world, profile.game);
                        *old = world;
                    }
                    None => profile.worlds.push(world),
                }
            }
            Event::Finding { profile, finding } => {
                if let Some(profile) = self.profiles.iter_mut().find(|p| p.id == profile) {
                    profile.findings.push(finding);
                }
            }
            Event::Done => self.complete = true,
        }
    }

    /// Takes the place of everything, after a new scan; `self.revision` goes on counting.
    ///
    /// A deeper check is kept for each layer whose files are the same in size and time.
    pub fn renew(&mut self, mut fresh: Self) {
        for profile in &mut fresh.profiles {
            for world in &mut profile.worlds {
                if let Some((_, old)) = self.world(&world.id) {
                    keep_depths(old, world, profile.game);
                }
            }
        }
        fresh.revision = self.revision + 1;
        *self = fresh;
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

    /// Takes over the result of a deeper check, and works out anew what the layers of its world say about each other;
    /// false when the layer is gone.
    pub fn checked(&mut self, id: &str, checked: Checked) -> bool {
        let worlds = self.profiles.iter_mut().flat_map(|p| p.worlds.iter_mut().map(|world| (p.game, world)));
        for (game, world) in worlds {
            if let Some(layer) = world.layers.iter_mut().find(|l| l.id == id) {
                layer.apply(checked);
                if let Some(game) = games::by_id(game) {
                    game.relate(world);
                }
                self.revision += 1;
                return true;
            }
        }
        false
    }
}

/// Keeps the deeper checks of a world's layers whose files are the same.
fn keep_depths(old: &World, new: &mut World, game: GameId) {
    let mut kept = false;
    for layer in &mut new.layers {
        kept |= old.layers.iter().find(|l| l.id == layer.id).is_some_and(|old| keep_depth(old, layer));
    }
    if kept && let Some(game) = games::by_id(game) {
        game.relate(new);
    }
}

/// Keeps a deeper check of the same files; true when it did.
fn keep_depth(old: &Layer, new: &mut Layer) -> bool {
    // Files in an archive often have no time of their own; the stamp is then the archive's.
    let same =
        old.depth > new.depth && (old.generation, old.stamp, &old.files) == (new.generation, new.stamp, &new.files);
    if same {
        new.verdict = old.verdict;
        new.depth = old.depth;
        new.findings.clone_from(&old.findings);
        new.facts.clone_from(&old.facts);
        new.restorable = old.restorable;
        new.reason.clone_from(&old.reason);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::Catalog;
    use crate::model::{
        Checked, Container, Depth, Facts, FileEntry, Found, Layer, LayerKind, Profile, Shape, Source, Stamp, StampFrom,
        Value, Verdict, World, WorldKind,
    };

    fn catalog(size: u64) -> Catalog {
        let layer = Layer {
            id: "p/W@live".into(),
            path: "/x/W.db".into(),
            source: Source { outer: "/x".into() },
            kind: LayerKind::Live,
            orphan: false,
            rule: String::new(),
            shape: Shape::ValheimPair,
            container: Container::Files,
            generation: None,
            stamp: None,
            bytes: size,
            files: vec![FileEntry { path: "W.db".into(), size, mtime: None }],
            verdict: Verdict::Sound,
            depth: Depth::Headers,
            restorable: false,
            reason: None,
            findings: Vec::new(),
            relations: Vec::new(),
            facts: Facts::default(),
        };
        let world = World {
            id: "p/W".into(),
            name: "W".into(),
            kind: WorldKind::World,
            place: None,
            inner_name: None,
            opens_with: None,
            findings: Vec::new(),
            layers: vec![layer],
        };
        let profile = Profile {
            id: "p".into(),
            name: "p".into(),
            game: "valheim",
            root: "/x".into(),
            found: Found::Argument,
            free_bytes: None,
            findings: Vec::new(),
            worlds: vec![world],
        };
        Catalog { profiles: vec![profile], ..Catalog::default() }
    }

    fn checked() -> Checked {
        let mut facts = Facts::default();
        facts.push("objects", "objects", Value::Int(7));
        Checked {
            verdict: Verdict::Sound,
            depth: Depth::Full,
            findings: Vec::new(),
            facts,
            restorable: false,
            reason: None,
            moved: None,
        }
    }

    #[test]
    fn a_deeper_check_outlives_a_new_scan_of_the_same_files_only() {
        for (size, depth) in [(5, Depth::Full), (6, Depth::Headers)] {
            let mut known = catalog(5);
            assert!(known.checked("p/W@live", checked()));
            let before = known.revision;
            known.renew(catalog(size));
            assert_eq!(known.layer("p/W@live").map(|(_, _, l)| l.depth), Some(depth), "size {size}");
            assert!(known.revision > before);
        }
    }

    #[test]
    fn a_deeper_check_does_not_outlive_a_new_archive_with_files_of_the_same_sizes() {
        let of = |second| {
            let mut catalog = catalog(5);
            let at = jiff::Timestamp::from_second(second).unwrap();
            catalog.profiles[0].worlds[0].layers[0].stamp = Some(Stamp { at, from: StampFrom::Mtime });
            catalog
        };
        let mut known = of(1);
        assert!(known.checked("p/W@live", checked()));
        known.renew(of(2));
        assert_eq!(known.layer("p/W@live").map(|(_, _, l)| l.depth), Some(Depth::Headers));
    }

    #[test]
    fn a_check_of_a_layer_that_is_gone_changes_nothing() {
        let mut known = catalog(5);
        assert!(!known.checked("p/W@old", checked()));
        assert_eq!(known.revision, 0);
    }
}
