//! The cache of biomes goes by the name inside, travels with its world, and is never another world's.

use worldkeep::games::valheim::write::WorldPlan;
use worldkeep::model::LayerKind;
use worldkeep::model::outline::{Ask, Outline};
use worldkeep::model::plan::Operation;

use crate::carry::{ask, carry_out, files, plan, scan, whole_day};
use crate::support::root::SaveRoot;
use crate::support::small_world;

/// A world that is called `inner` inside.
fn called(inner: &str, seed: i32) -> WorldPlan {
    let mut plan = small_world(inner);
    plan.seed += seed;
    plan.day(12.5)
}

trait Day {
    fn day(self, day: f64) -> Self;
}

impl Day for WorldPlan {
    fn day(mut self, day: f64) -> Self {
        self.net_time = day * 1800.0;
        self
    }
}

fn cache(root: &SaveRoot, inner: &str) -> Option<String> {
    let bytes = files(root.path()).remove(&format!("cache/{inner}_biomedatacache.bin"))?;
    Some(String::from_utf8(bytes).unwrap())
}

fn put_cache(root: &SaveRoot, inner: &str, bytes: &str) {
    root.file(format!("cache/{inner}_biomedatacache.bin"), bytes.as_bytes());
}

/// Carries out what is asked of Midgard, and says whether the notes speak of the cache.
fn done(root: &SaveRoot, change: impl for<'a> Fn(Ask<'a>) -> Ask<'a>) -> (Outline, bool) {
    let profile = scan(root.path());
    let outline = plan(&change(ask(Operation::Copy, &profile, "Midgard", None))).unwrap();
    carry_out(&outline, "0123456789ab");
    let told = outline.preview.notes.iter().any(|note| note.contains("biome cache"));
    (outline, told)
}

#[test]
fn the_name_inside_decides_which_cache_is_a_worlds_and_not_the_name_on_disk() {
    for operation in [Operation::Copy, Operation::Rename, Operation::Delete] {
        let root = SaveRoot::new();
        root.generation("Midgard", &called("Inner", 0), 3);
        put_cache(&root, "Inner", "of Inner");
        put_cache(&root, "Midgard", "of nobody here");
        let name = (operation != Operation::Delete).then_some("Hel");
        done(&root, |asked| Ask { operation, name, ..asked });
        let copied = operation != Operation::Delete;
        assert_eq!(cache(&root, "Hel").as_deref(), copied.then_some("of Inner"), "{operation:?}");
        assert_eq!(cache(&root, "Inner").is_some(), operation == Operation::Copy, "{operation:?}");
        assert_eq!(cache(&root, "Midgard").as_deref(), Some("of nobody here"), "{operation:?}");
    }
}

#[test]
fn a_cache_that_another_world_shows_the_name_of_stays() {
    for operation in [Operation::Rename, Operation::Delete] {
        let root = SaveRoot::new();
        root.generation("Midgard", &called("Shared", 0), 3);
        root.generation("Neighbour", &called("Shared", 0), 3);
        put_cache(&root, "Shared", "of both");
        let name = (operation == Operation::Rename).then_some("Hel");
        done(&root, |asked| Ask { operation, name, ..asked });
        assert_eq!(cache(&root, "Shared").as_deref(), Some("of both"), "{operation:?}");
    }
}

#[test]
fn what_is_left_of_an_earlier_world_of_the_new_name_is_parked() {
    for operation in [Operation::Copy, Operation::Rename] {
        for own in [Some("of Midgard"), None] {
            let root = SaveRoot::new();
            root.world("Midgard").day(20.5).folder(3);
            put_cache(&root, "Hel", "of an earlier Hel");
            if let Some(own) = own {
                put_cache(&root, "Midgard", own);
            }
            let (_, told) = done(&root, |asked| Ask { operation, name: Some("Hel"), ..asked });
            assert!(told, "{operation:?} {own:?}");
            assert_eq!(cache(&root, "Hel").as_deref(), own, "{operation:?}");
            let parked = root.read(".worldkeep/recycle/0123456789ab/cache/Hel_biomedatacache.bin");
            assert_eq!(parked, b"of an earlier Hel");
            assert_eq!(whole_day(root.path(), "Hel"), 20);
        }
    }
}

#[test]
fn the_cache_of_a_world_that_shows_the_new_name_stays_its_own() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    root.generation("Elsewhere", &called("Hel", 5), 3);
    put_cache(&root, "Hel", "of Elsewhere");
    put_cache(&root, "Midgard", "of Midgard");
    let (_, told) = done(&root, |asked| Ask { name: Some("Hel"), ..asked });
    assert!(!told);
    assert_eq!(cache(&root, "Hel").as_deref(), Some("of Elsewhere"));
}

#[test]
fn a_restore_of_another_seed_or_generator_parks_the_cache_and_of_the_same_leaves_it() {
    type Change = fn(&mut WorldPlan);
    let changes: [(&str, Change, bool); 3] = [
        ("the same", |_| {}, false),
        ("another seed", |plan| plan.seed += 1, true),
        ("another generator", |plan| plan.world_gen = 1, true),
    ];
    for (what, change, parks) in changes {
        let root = SaveRoot::new();
        root.world("Midgard").day(20.5).folder(17);
        let mut other = small_world("Midgard").day(9.5);
        change(&mut other);
        root.generation("Midgard_backup_auto-20261129-120000", &other, 4);
        put_cache(&root, "Midgard", "of the live seed");
        let profile = scan(root.path());
        let asked = ask(Operation::Restore, &profile, "Midgard", Some(LayerKind::Auto));
        let outline = plan(&asked).unwrap();
        carry_out(&outline, "0123456789ab");
        assert_eq!(cache(&root, "Midgard").is_none(), parks, "{what}");
        assert_eq!(outline.preview.notes.iter().any(|note| note.contains("biome cache")), parks, "{what}");
        assert_eq!(whole_day(root.path(), "Midgard"), 9);
    }
}
