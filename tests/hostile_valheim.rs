//! Hostile input, through the public API: cut files, mutated files, odd names, pipes, loops, sparse giants.
//!
//! Each case ends in an answer that makes sense, without a panic, with bounded reading and bounded memory. A tenth of
//! the mutations runs by default; `WORLDKEEP_HOSTILE=all cargo test --release --test hostile_valheim` runs all.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper that fails fails its test, and skips are told"
)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use support::fixtures::Files;
use support::look::{Seen, look_at, must_make_sense};
use support::memory::MemoryStore;
use support::patch;
use support::random::Random;
use support::{require_samples, small_world};
use worldkeep::games::Context;
use worldkeep::games::valheim::write::{Object, WorldPlan};
use worldkeep::model::Verdict;
use worldkeep::store::Ceilings;

/// Mutations of each file format.
const MUTATIONS: usize = 10_000;
const MB: u64 = 1 << 20;
/// The most calls to a store of about a dozen files.
const MOST_CALLS: u64 = 2_000;

/// The system's allocator, which counts what each thread holds.
struct Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // A thread that ends may still free memory after its counters are gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; it only counts and hands on")]
// SAFETY: every call goes to the system's allocator with the arguments as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that this thread held at once during some work, beyond what it held before.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, u64::try_from(PEAK.get() - before).unwrap_or_default())
}

#[test]
fn the_most_that_is_held_at_once_is_counted() {
    let ((), peak) = peak_of(|| {
        drop(vec![1_u8; 3 << 20]);
        drop(vec![1_u8; 2 << 20]);
    });
    assert!((3 * MB..4 * MB).contains(&peak), "{peak}");
}

/// True when everything is to run.
fn thorough() -> bool {
    std::env::var_os("WORLDKEEP_HOSTILE").is_some_and(|value| value == "all")
}

/// A context with ceilings far below the usual ones, so that believing a length shows.
fn strict() -> Context {
    let ceilings = Ceilings {
        file: 8 * MB,
        packed_block: MB,
        inflated_block: 4 * MB,
        byte_array: MB,
        text: MB / 16,
        objects: 200_000,
        ..Ceilings::default()
    };
    Context { ceilings, ..support::context() }
}

/// A whole save, and the file in it that is hurt.
struct Subject {
    files: Files,
    victim: usize,
}

impl Subject {
    fn new(files: Files, ending: &str) -> Self {
        let victim = files.iter().position(|(name, _)| name.ends_with(ending)).expect("the file is there");
        Self { files, victim }
    }

    fn bytes(&self) -> &[u8] {
        &self.files[self.victim].1
    }

    /// Another file of the same save, for parts that do not belong.
    fn neighbour(&self) -> &[u8] {
        &self.files[(self.victim + 1) % self.files.len()].1
    }

    fn with(&self, bytes: Vec<u8>) -> Files {
        let mut files = self.files.clone();
        files[self.victim].1 = bytes;
        files
    }
}

fn pair(version: i32, ending: &str) -> Subject {
    let (metadata, data) = small_world("Midgard").to_pair(version);
    let files = vec![("worlds_local/Midgard.fwl".to_owned(), metadata), ("worlds_local/Midgard.db".to_owned(), data)];
    Subject::new(files, ending)
}

fn folder(ending: &str) -> Subject {
    let files = small_world("Midgard").to_folder(41, 3, |_| 3).into_iter();
    Subject::new(files.map(|(name, bytes)| (format!("worlds_local/Midgard/{name}"), bytes)).collect(), ending)
}

/// Looks at hurt files; what is true of every answer is checked here. `what` says how they were hurt.
fn examine(files: Files, what: &str) -> Seen {
    examine_at(files, what, true)
}

/// The same, with or without maps, which take most of the time.
fn examine_at(files: Files, what: &str, maps: bool) -> Seen {
    let store = MemoryStore::new(files);
    let context = strict();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (seen, peak) = peak_of(|| look_at(&store, &context, maps));
        must_make_sense(&seen);
        let allowed = 24 * MB + 16 * store.bytes() + 2 * context.ceilings.inflated_block;
        assert!(peak <= allowed, "{peak} bytes were held at once, {allowed} are allowed");
        // Names, headers, the check, the map, and each of them once more after a file went away.
        assert!(store.bytes_read() <= 16 * store.bytes() + 4096, "{} bytes were read", store.bytes_read());
        assert!(store.calls() <= MOST_CALLS, "{} calls were made", store.calls());
        seen
    }));
    outcome.unwrap_or_else(|_| panic!("this case failed, see above: {what}"))
}

/// Cuts a file at every length in steps: no part of a file may pass for the whole of it.
fn cut_everywhere(subject: &Subject, steps: usize, name: &str) {
    let whole = examine(subject.with(subject.bytes().to_vec()), name);
    assert!(whole.verdict() <= Verdict::Notes, "{name} is whole: {:?}", whole.worlds);
    let length = subject.bytes().len();
    let step = if thorough() { 1 } else { (length / steps).max(1) };
    for cut in (0..length).step_by(step) {
        let what = format!("{name} cut at {cut} of {length}");
        let seen = examine(subject.with(patch::cut(subject.bytes(), cut)), &what);
        assert!(seen.verdict() > Verdict::Notes, "{what} passes for whole: {:?}", seen.worlds);
    }
}

/// Mutates a file again and again.
fn mutate_often(subject: &Subject, times: usize, salt: u64, name: &str) {
    let times = if thorough() { times } else { times / 10 };
    let mut damaged = 0;
    for seed in (0..times as u64).map(|n| salt << 32 | n) {
        let (bytes, change) = patch::mutate(subject.bytes(), subject.neighbour(), &mut Random(seed));
        let maps = thorough() || seed % 4 == 0;
        let seen = examine_at(subject.with(bytes), &format!("{name}, seed {seed}: {change}"), maps);
        damaged += usize::from(seen.verdict() > Verdict::Notes);
    }
    // Were all of them let through or none, the cases would not show anything.
    assert!(damaged > times / 10 && damaged <= times, "{name}: {damaged} of {times}");
}

macro_rules! formats {
    ($($name:ident: $subject:expr, $salt:literal;)*) => {
        mod cut_short {
            $(#[test] fn $name() { super::cut_everywhere(&$subject, 150, stringify!($name)); })*
        }

        mod mutated {
            $(#[test] fn $name() { super::mutate_often(&$subject, super::MUTATIONS, $salt, stringify!($name)); })*
        }
    };
}

formats! {
    metadata_v26: super::pair(26, ".fwl"), 1;
    metadata_v36: super::pair(36, ".fwl"), 2;
    data_v29: super::pair(29, ".db"), 3;
    data_v32: super::pair(32, ".db"), 4;
    data_v36: super::pair(36, ".db"), 5;
    metadata_v41: super::folder(".fwl2"), 6;
    data_v41: super::folder(".db2"), 7;
    index_v41: super::folder(".chunks"), 8;
    chunk_v41: super::folder("20_20__1_3.chunk"), 9;
    portals_v41: super::folder("00_01__0_3.chunk"), 10;
    marker_v41: super::folder(".ok"), 11;
}

/// The real pairs; a data file without its metadata gets one of ours.
fn real_pairs() -> Vec<(&'static str, Files)> {
    let Some(samples) = require_samples() else { return Vec::new() };
    let read = |name: &str| fs::read(samples.join("valheim").join(name)).unwrap();
    let files = |metadata, data| {
        vec![("worlds_local/Midgard.fwl".to_owned(), metadata), ("worlds_local/Midgard.db".to_owned(), data)]
    };
    vec![
        ("v27", files(read("v27/Test20210421.fwl"), read("v27/Test20210421.db"))),
        ("v29", files(read("v29/Test.fwl"), read("v29/Test.db"))),
        ("v32", files(read("v32/TestWorld32.fwl"), read("v32/TestWorld32.db"))),
        ("v36", files(small_world("Midgard").metadata(36), read("v36/v36.db"))),
    ]
}

#[test]
fn real_pairs_cut_short_never_pass_for_whole() {
    for (name, files) in real_pairs() {
        let length = |files: &Files| files[1].1.len();
        let mut random = Random(length(&files) as u64);
        let times = if thorough() { 200 } else { 12 };
        for _ in 0..times {
            let cut = random.below(length(&files));
            let what = format!("real {name} cut at {cut}");
            let subject = Subject { files: files.clone(), victim: 1 };
            let seen = examine(subject.with(patch::cut(subject.bytes(), cut)), &what);
            assert!(seen.verdict() > Verdict::Notes, "{what} passes for whole");
        }
    }
}

#[test]
fn real_pairs_mutated_get_an_answer() {
    for (salt, (name, files)) in (20..).zip(real_pairs()) {
        for victim in [0, 1] {
            let subject = Subject { files: files.clone(), victim };
            let times = if thorough() { 400 } else { 15 };
            for seed in (0..times).map(|n| salt << 32 | n) {
                let (bytes, change) = patch::mutate(subject.bytes(), subject.bytes(), &mut Random(seed));
                examine(subject.with(bytes), &format!("real {name}, seed {seed}: {change}"));
            }
        }
    }
}

#[test]
fn real_files_of_a_folder_cut_and_mutated_get_an_answer() {
    let Some(samples) = require_samples() else { return };
    let read = |name: &str| fs::read(samples.join("valheim/v41").join(name)).unwrap();
    let file = |name: &str, bytes| (format!("worlds_local/Troll/{name}"), bytes);
    let subjects = [
        Subject::new(vec![file("_main.0.fwl2", read("Troll/_main.0.fwl2"))], ".fwl2"),
        Subject::new(
            small_world("Troll").to_folder(41, 20, |_| 1).into_iter().map(|(name, bytes)| file(&name, bytes)).collect(),
            ".chunks",
        ),
    ];
    let index = subjects[1].with(read("_main.20.chunks"));
    let subjects = [&subjects[0], &Subject::new(index, ".chunks")];
    for (salt, subject) in (40..).zip(subjects) {
        for cut in 0..subject.bytes().len() {
            examine(subject.with(patch::cut(subject.bytes(), cut)), &format!("real file {salt} cut at {cut}"));
        }
        for seed in (0..if thorough() { 10_000 } else { 500 }).map(|n| salt << 32 | n) {
            let (bytes, change) = patch::mutate(subject.bytes(), subject.bytes(), &mut Random(seed));
            examine(subject.with(bytes), &format!("real file, seed {seed}: {change}"));
        }
    }
}

#[test]
fn a_small_block_that_inflates_to_a_giant_is_damage_and_takes_no_memory() {
    let zeros = vec![0; 64 << 20];
    let bomb = worldkeep::games::valheim::write::gzip(&zeros);
    drop(zeros);
    let subject = folder(".db2");
    let (before, rest) = subject.bytes().split_at(12);
    let packed = usize::try_from(i32::from_le_bytes(rest[..4].try_into().unwrap())).unwrap();
    let length = i32::try_from(bomb.len()).unwrap().to_le_bytes();
    let bytes = [before, &length, &bomb, &rest[4 + packed..]].concat();
    let seen = examine(subject.with(bytes), "a zone block of 64 MiB in 64 KiB");
    assert_eq!(seen.live("Midgard").unwrap().verdict, Verdict::Damaged);
}

#[test]
fn a_count_of_objects_that_no_file_could_hold_takes_no_memory() {
    for (subject, at) in [(pair(36, ".db"), 24), (pair(29, ".db"), 24), (folder("20_20__1_3.chunk"), 2)] {
        for count in [i32::MAX, 0x0100_0000, -1, i32::MIN] {
            let bytes = patch::put_i32(subject.bytes(), at, count);
            let what = format!("{count} objects in {}", subject.files[subject.victim].0);
            assert_eq!(examine(subject.with(bytes), &what).verdict(), Verdict::Damaged, "{what}");
        }
    }
}

#[test]
fn a_world_whose_texts_would_steer_a_terminal_is_shown_harmless() {
    let evil = "Mid\u{1b}[2J\u{202e}gard\r\n\u{7}";
    let mut plan = WorldPlan::new(evil, "\u{1b}]0;seed\u{7}");
    plan.global_keys = vec!["\u{1b}[31mkey".to_owned()];
    plan.event.name = "\u{9b}31m".to_owned();
    plan.objects.push(Object::new("portal_wood", [1.0, 2.0, 3.0]).text("tag", "\u{1b}c"));
    plan.zones_from_objects();
    let (metadata, data) = plan.to_pair(36);
    let files = vec![
        (format!("worlds_local/{evil}.fwl"), metadata),
        (format!("worlds_local/{evil}.db"), data),
        (format!("worlds_local/{evil}/junk{evil}"), b"x".to_vec()),
    ];
    let seen = examine(files, "a name with escapes");
    assert_eq!(seen.worlds.iter().filter(|world| world.name.contains("gard")).count(), 1, "{:?}", seen.worlds);
}

#[cfg(unix)]
#[path = "hostile_valheim/on_disk.rs"]
mod on_disk;
