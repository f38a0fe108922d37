//! What only a real folder can hold: pipes, loops, names that are no text, very many and very large files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use worldkeep::model::{Code, Verdict};
use worldkeep::store::{Ceilings, open};

use crate::support::look::{Seen, look, must_make_sense_but};
use crate::support::root::SaveRoot;
use crate::support::small_world;
use crate::{MB, peak_of, strict, thorough};

fn seen_in(root: &SaveRoot) -> Seen {
    let context = strict();
    let (seen, peak) = peak_of(|| {
        let store = open(root.path(), &Ceilings::default()).unwrap();
        look(store.as_ref(), &context)
    });
    // A small kind of file with the size of a giant is damage as a whole.
    must_make_sense_but(&seen, &[Code::OverCeiling]);
    assert!(peak < 200 * MB, "{peak} bytes were held at once");
    seen
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn pipes_in_the_place_of_files_are_named_and_never_opened() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    root.world("Grimhold").pair(36);
    pipe(&root.at("worlds_local/Pipe.fwl"));
    pipe(&root.at("worlds_local/Pipe.db"));
    root.without("worlds_local/Midgard/20_20__1_3.chunk");
    pipe(&root.at("worlds_local/Midgard/20_20__1_3.chunk"));
    let seen = seen_in(&root);
    assert_eq!(seen.live("Grimhold").unwrap().verdict.max(Verdict::Notes), Verdict::Notes);
    assert!(seen.live("Midgard").unwrap().verdict > Verdict::Notes);
    let named = |name: &str| {
        let file = |f: &&worldkeep::model::Finding| f.place.file.as_deref().is_some_and(|file| file.contains(name));
        seen.all_findings().any(|finding| file(&finding) || finding.text.contains(name))
    };
    assert!(named("20_20__1_3.chunk") && named("Pipe"), "{:?}", seen.all_findings().collect::<Vec<_>>());
}

#[test]
fn links_in_a_circle_and_links_to_nowhere_end() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    symlink("..", root.at("worlds_local/up")).unwrap();
    symlink(".", root.at("worlds_local/Midgard/self")).unwrap();
    symlink("loop.db", root.at("worlds_local/loop.db")).unwrap();
    symlink("loop.fwl", root.at("worlds_local/loop.fwl")).unwrap();
    symlink("nowhere", root.at("worlds_local/Gone")).unwrap();
    let seen = seen_in(&root);
    assert!(seen.live("Midgard").unwrap().verdict <= Verdict::Notes, "{:?}", seen.live("Midgard"));
}

#[test]
fn a_name_that_is_no_text_is_listed() {
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    let (metadata, data) = small_world("W").to_pair(36);
    for (ending, bytes) in [(&b".fwl"[..], metadata), (b".db", data)] {
        let name = [b"worlds_local/W\xff\xfe", ending].concat();
        // Some file systems take no such name, and then there is nothing to show.
        if let Err(error) = fs::write(root.at(OsStr::from_bytes(&name)), bytes) {
            eprintln!("skipped: this file system takes no name that is not UTF-8: {error}");
            return;
        }
    }
    let seen = seen_in(&root);
    assert!(seen.live("Midgard").unwrap().verdict <= Verdict::Notes);
    let listed = seen.worlds.iter().any(|world| world.name.starts_with('W') && world.name != "W");
    let told = seen.all_findings().any(|finding| finding.code == Code::OddName);
    assert!(listed || told, "{:?}", seen.worlds);
}

#[test]
fn very_many_files_are_listed_and_the_world_among_them_is_found() {
    let count = if thorough() { 100_000 } else { 3_000 };
    let root = SaveRoot::new();
    root.world("Midgard").folder(3);
    root.world("Grimhold").pair(36);
    for n in 0..count {
        let dir = if n % 2 == 0 { "worlds_local" } else { "worlds_local/Midgard" };
        File::create(root.at(format!("{dir}/junk-{n:06}.tmp"))).unwrap();
    }
    let seen = seen_in(&root);
    for name in ["Midgard", "Grimhold"] {
        assert!(seen.live(name).unwrap().verdict <= Verdict::Notes, "{name}");
    }
    assert!(seen.all_findings().count() < 1000 + count, "{}", seen.all_findings().count());
}

#[test]
fn sparse_giants_are_named_and_not_read() {
    let giant = |root: &SaveRoot, name: &str| {
        let file = File::options().write(true).create(true).truncate(true).open(root.at(name)).unwrap();
        file.set_len(4 << 30).unwrap();
    };
    for name in [
        "worlds_local/Grimhold.db",
        "worlds_local/Grimhold.fwl",
        "worlds_local/Midgard/_main.3.ok",
        "worlds_local/Midgard/_main.3.fwl2",
        "worlds_local/Midgard/_main.3.db2",
        "worlds_local/Midgard/_main.3.chunks",
        "worlds_local/Midgard/20_20__1_3.chunk",
        "worlds_local/Midgard/cacheMinimapBiome",
    ] {
        let root = SaveRoot::new();
        root.world("Midgard").folder(3);
        root.world("Grimhold").pair(36);
        giant(&root, name);
        let seen = seen_in(&root);
        let world = if name.contains("Grimhold") { "Grimhold" } else { "Midgard" };
        let live = seen.live(world).unwrap();
        if name.ends_with("cacheMinimapBiome") {
            assert!(live.verdict <= Verdict::Notes, "{name}: {live:?}");
            continue;
        }
        assert!(live.verdict > Verdict::Notes, "{name}: {live:?}");
        let file = name.rsplit('/').next().unwrap();
        let named =
            live.findings.iter().any(|finding| finding.place.file.as_deref().is_some_and(|f| f.ends_with(file)));
        assert!(named, "{name}: {:?}", live.findings);
    }
}
