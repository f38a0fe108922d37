//! The small saves in `fixtures/`, and what each must be found to be.

mod damaged;

use std::io::{Cursor, Write as _};

use worldkeep::games::valheim::write::{Object, WorldPlan, gzip};
use worldkeep::model::{Code, LayerKind};

use super::root::FOLDER;
use super::small_world;

/// Files by their path with `/`, and their bytes.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// How whole something is, for a person who decides what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Sound, or sound with notes.
    Whole,
    /// Damaged.
    Damaged,
    /// No finished save.
    Unfinished,
    /// Newer or unknown.
    Unsupported,
    /// No world at all.
    NoWorld,
}

impl Answer {
    /// The words in the table.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Damaged => "damaged",
            Self::Unfinished => "no finished save",
            Self::Unsupported => "unknown version",
            Self::NoWorld => "no world",
        }
    }
}

/// What must be found in one layer of a fixture.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The world's name.
    pub(crate) world: &'static str,
    /// Which layer.
    pub(crate) layer: LayerKind,
    /// How whole it is.
    pub(crate) answer: Answer,
    /// Any one of these codes must be there; none: it does not matter.
    pub(crate) codes: &'static [Code],
    /// The end of the path of the file that one of those findings names, where one must.
    pub(crate) file: Option<&'static str>,
}

/// How the files of a fixture are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// As a folder.
    Folder,
    /// As one zip.
    Zip,
    /// As one compressed tar.
    TarGz,
}

/// One small save.
pub(crate) struct Fixture {
    /// Its folder or the stem of its archive in `fixtures/`.
    pub(crate) name: &'static str,
    /// What is in it, in words.
    pub(crate) holds: &'static str,
    /// How it is stored.
    pub(crate) packing: Packing,
    /// Its files, below a save root.
    pub(crate) files: Files,
    /// What must be found.
    pub(crate) expected: Vec<Expected>,
}

impl Fixture {
    /// The name in `fixtures/`.
    pub(crate) fn file_name(&self) -> String {
        let ending = match self.packing {
            Packing::Folder => "",
            Packing::Zip => ".zip",
            Packing::TarGz => ".tar.gz",
        };
        format!("{}{ending}", self.name)
    }

    /// The bytes of the archive.
    pub(crate) fn archive(&self) -> Vec<u8> {
        if self.packing == Packing::Zip { zip(&self.files) } else { tar_gz(&self.files) }
    }
}

fn folder(name: &'static str, holds: &'static str, files: Files) -> Fixture {
    Fixture { name, holds, packing: Packing::Folder, files, expected: Vec::new() }
}

impl Fixture {
    fn expect(mut self, layer: LayerKind, answer: Answer, codes: &'static [Code]) -> Self {
        self.expected.push(Expected { world: "Midgard", layer, answer, codes, file: None });
        self
    }

    fn live(self, answer: Answer, codes: &'static [Code]) -> Self {
        self.expect(LayerKind::Live, answer, codes)
    }

    fn of(mut self, world: &'static str) -> Self {
        self.expected.last_mut().unwrap().world = world;
        self
    }

    fn file(mut self, file: &'static str) -> Self {
        self.expected.last_mut().unwrap().file = Some(file);
        self
    }
}

/// A pair under a name in `worlds_local`.
fn pair(name: &str, plan: &WorldPlan, version: i32) -> Files {
    let (metadata, data) = plan.to_pair(version);
    vec![(format!("worlds_local/{name}.fwl"), metadata), (format!("worlds_local/{name}.db"), data)]
}

/// A generation in a folder of `worlds_local`; its chunks have the generation's number.
fn generation(name: &str, plan: &WorldPlan, number: u32) -> Files {
    let files = plan.to_folder(FOLDER, number, |_| number).into_iter();
    files.map(|(file, bytes)| (format!("worlds_local/{name}/{file}"), bytes)).collect()
}

/// The same files with one changed.
fn change(mut files: Files, ending: &str, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Files {
    let file = files.iter_mut().find(|(name, _)| name.ends_with(ending)).expect("the file is there");
    file.1 = change(&file.1);
    files
}

/// The same files without one.
fn without(mut files: Files, ending: &str) -> Files {
    let before = files.len();
    files.retain(|(name, _)| !name.ends_with(ending));
    assert_eq!(files.len() + 1, before, "{ending}");
    files
}

fn midgard() -> WorldPlan {
    small_world("Midgard")
}

fn sound_folder() -> Files {
    generation("Midgard", &midgard(), 3)
}

/// A later state of the same world.
fn later() -> WorldPlan {
    let mut plan = midgard();
    plan.net_time += 1800.0;
    plan.objects.push(Object::new("piece_workbench", [30.0, 33.0, 18.0]).yaw(0.0).built_by(7_301_144_209));
    plan
}

/// Every fixture.
pub(crate) fn all() -> Vec<Fixture> {
    [sound(), archives(), damaged::pairs(), damaged::folders(), unfinished(), names_and_places()]
        .into_iter()
        .flatten()
        .collect()
}

fn sound() -> Vec<Fixture> {
    let mut old = midgard();
    old.world_gen = 1;
    let mut tailed = midgard();
    tailed.pair_tail = 0_i32.to_le_bytes().to_vec();
    let mut uber = small_world("Über");
    uber.starting_keys.clear();
    let whole = |name, holds, files| folder(name, holds, files).live(Answer::Whole, &[]);
    vec![
        whole("folder-sound", "a 1.0 folder, generation 3", sound_folder()),
        whole("pair-v26", "a pair of version 26: old objects, no byte arrays", pair("Midgard", &old, 26)),
        whole("pair-v29", "a pair of version 29: old objects", pair("Midgard", &midgard(), 29)),
        whole("pair-v32", "a pair of version 32: flagged objects, counts of one byte", pair("Midgard", &midgard(), 32)),
        whole("pair-v36", "a pair of version 36", pair("Midgard", &midgard(), 36)),
        whole("pair-v37-tail", "a pair of version 37 with four bytes after its event", pair("Midgard", &tailed, 37)),
        whole("name-beyond-ascii", "a 1.0 folder named Über", generation("Über", &uber, 1)).of("Über"),
    ]
}

fn archives() -> Vec<Fixture> {
    let both = || [sound_folder(), pair("Grimhold", &small_world("Grimhold"), 36)].concat();
    [("archive-zip", Packing::Zip, "a zip"), ("archive-tar-gz", Packing::TarGz, "a compressed tar")]
        .into_iter()
        .map(|(name, packing, _)| {
            let holds = "an archive of `worlds_local` with a 1.0 folder and a pair of version 36";
            let fixture = Fixture { packing, ..folder(name, holds, both()) };
            fixture.live(Answer::Whole, &[]).live(Answer::Whole, &[]).of("Grimhold")
        })
        .collect()
}

fn unfinished() -> Vec<Fixture> {
    let mut fresh = WorldPlan::new("Midgard", "SmallSeed1");
    fresh.saved = false;
    fresh.uid = midgard().uid;
    let lone = |name: &str| (format!("worlds_local/{name}/_main.0.fwl2"), fresh.metadata(FOLDER));
    let begun = without(generation("Midgard", &later(), 4), ".ok");
    vec![
        folder(
            "save-begun",
            "generation 4 without its marker; generation 3 is whole",
            [sound_folder(), begun].concat(),
        )
        .live(Answer::Whole, &[Code::SaveInterrupted, Code::SaveInProgress]),
        folder("never-played", "a new world: only `_main.0.fwl2`", vec![lone("Midgard")])
            .live(Answer::Unfinished, &[Code::NeverPlayed]),
        folder(
            "backup-unsaved",
            "a whole folder, and an automatic backup with only `_main.0.fwl2`",
            [sound_folder(), vec![lone("Midgard_backup_auto-20260912-200308")]].concat(),
        )
        .live(Answer::Whole, &[])
        .expect(LayerKind::Auto, Answer::Unfinished, &[Code::NoFinishedSave, Code::NeverPlayed]),
    ]
}

fn names_and_places() -> Vec<Fixture> {
    let mut stranger = small_world("Midgard");
    (stranger.seed_text, stranger.seed, stranger.uid) = ("OtherSeed".to_owned(), 77_001, 13);
    let cache = |kind: &str, bytes: &[u8]| (format!("worlds_local/Cloudfell/cacheMinimap{kind}"), bytes.to_vec());
    vec![
        folder(
            "pair-hidden",
            "a folder and a pair of one name",
            [sound_folder(), pair("Midgard", &midgard(), 36)].concat(),
        )
        .live(Answer::Whole, &[Code::HiddenPair]),
        folder(
            "backup-of-another-world",
            "a folder, and an automatic backup with another seed and id",
            [sound_folder(), generation("Midgard_backup_auto-20260909-180000", &stranger, 2)].concat(),
        )
        .live(Answer::Whole, &[])
        .expect(LayerKind::Auto, Answer::Whole, &[Code::OtherWorld]),
        folder(
            "name-differs",
            "a folder Midgard whose metadata says Asgard",
            generation("Midgard", &small_world("Asgard"), 3),
        )
        .live(Answer::Whole, &[Code::NameDiffers]),
        folder(
            "rolling-orphan",
            "a rolling save without a live world",
            pair("Grimhold_20260909180000", &small_world("Grimhold"), 36),
        )
        .expect(LayerKind::Rolling, Answer::Whole, &[])
        .of("Grimhold"),
        folder(
            "every-kind-of-backup",
            "a folder with backups of the kinds auto, standard, restore, cloud, and a rolling save",
            [
                sound_folder(),
                generation("Midgard_backup_auto-2026-09-09-18-00-00", &midgard(), 2),
                generation("Midgard_backup_20260908-180000 (2)", &midgard(), 2),
                generation("Midgard_backup_restore-20260907-180000", &midgard(), 2),
                generation("Midgard_backup_cloud-20260906180000", &midgard(), 2),
                pair("Midgard_20260905180000", &midgard(), 36),
            ]
            .concat(),
        )
        .live(Answer::Whole, &[])
        .expect(LayerKind::Auto, Answer::Whole, &[])
        .expect(LayerKind::Manual, Answer::Whole, &[])
        .expect(LayerKind::Restore, Answer::Whole, &[])
        .expect(LayerKind::Cloud, Answer::Whole, &[])
        .expect(LayerKind::Rolling, Answer::Whole, &[]),
        folder(
            "dated-copy",
            "a `.db` alone with a stamp that the game cannot read",
            without(pair("CrumblyHeim_2025-06-25_18-10-21", &small_world("CrumblyHeim"), 36), ".fwl"),
        )
        .live(Answer::Whole, &[Code::DatedCopy])
        .of("CrumblyHeim_2025-06-25_18-10-21"),
        folder(
            "old-folder",
            "a pair in `worlds`, beside an empty `worlds_local`",
            pair("Midgard", &midgard(), 32)
                .into_iter()
                .map(|(name, bytes)| (name.replace("worlds_local", "worlds"), bytes))
                .chain([("worlds_local/readme.txt".to_owned(), b"moved\n".to_vec())])
                .collect(),
        )
        .live(Answer::Whole, &[Code::OldFolder]),
        folder(
            "map-cache-only",
            "a folder with only the map cache of a cloud world, beside a whole pair",
            [
                pair("Midgard", &midgard(), 36),
                vec![cache("Meta", &[0x11, 0x22, 0x33, 0x44, 1, 0, 0, 0]), cache("Biome", &gzip(&[0; 256]))],
            ]
            .concat(),
        )
        .live(Answer::Whole, &[])
        .live(Answer::NoWorld, &[Code::MapCacheOnly])
        .of("Cloudfell"),
    ]
}

/// Files as a zip with fixed times.
pub(crate) fn zip(files: &Files) -> Vec<u8> {
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::from_date_and_time(2026, 10, 9, 11, 5, 18).unwrap())
        .unix_permissions(0o644);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Files as a compressed tar with fixed times.
pub(crate) fn tar_gz(files: &Files) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_791_543_918);
        tar.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    gzip(&tar.into_inner().unwrap())
}
