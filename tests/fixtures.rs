//! The small saves in `fixtures/` are what their builder makes, and are found to be what their table says.
//!
//! `WORLDKEEP_WRITE_FIXTURES=1 cargo test --test fixtures` writes them and the table anew.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use support::fixtures::{Answer, Expected, Fixture, Packing, all};
use support::look::{Seen, look, must_make_sense};
use worldkeep::model::{Finding, Verdict};
use worldkeep::store::{Ceilings, open};

/// Held by each test that writes or lists the folder, so that none sees another's half.
static FOLDER: Mutex<()> = Mutex::new(());

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn writing() -> bool {
    std::env::var_os("WORLDKEEP_WRITE_FIXTURES").is_some_and(|value| value == "1")
}

/// Writes one fixture; only what the builder knows is taken away first.
fn write(fixture: &Fixture) {
    let path = home().join(fixture.file_name());
    if fixture.packing != Packing::Folder {
        fs::create_dir_all(home()).unwrap();
        fs::write(path, fixture.archive()).unwrap();
        return;
    }
    if path.is_dir() {
        fs::remove_dir_all(&path).unwrap();
    }
    for (name, bytes) in &fixture.files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

/// The files of a fixture as they lie in the repository.
fn stored(fixture: &Fixture) -> BTreeMap<String, Vec<u8>> {
    let path = home().join(fixture.file_name());
    match fixture.packing {
        Packing::Folder => files_below(&path),
        Packing::Zip => {
            let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
            let read = |n| {
                let mut file = archive.by_index(n).unwrap();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                (file.name().unwrap().to_string(), bytes)
            };
            (0..fixture.files.len()).map(read).collect()
        }
        Packing::TarGz => {
            let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(fs::File::open(path).unwrap()));
            let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
                let mut entry = entry.unwrap();
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
            };
            archive.entries().unwrap().map(read).collect()
        }
    }
}

fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

/// The page that says what is in each fixture.
fn table() -> String {
    let mut page = String::from(
        "# Fixtures\n\n\
         Small Valheim saves, all made up by `tests/support/fixtures.rs`; none comes from a game. `tests/fixtures.rs` makes\n\
         each one anew and compares it byte for byte (of an archive, its members), and holds what worldkeep finds against\n\
         the right answers below. `WORLDKEEP_WRITE_FIXTURES=1 cargo test --test fixtures` writes the files and this page.\n\n\
         | fixture | what is in it | right answer |\n|---|---|---|\n",
    );
    for fixture in all() {
        let answers: Vec<_> = fixture.expected.iter().map(answer).collect();
        writeln!(page, "| `{}` | {} | {} |", fixture.file_name(), fixture.holds, answers.join("; ")).unwrap();
    }
    page
}

/// One answer in words: `Midgard live: damaged (bad-checksum or bad-compression) in _main.3.db2`.
fn answer(expected: &Expected) -> String {
    let mut text = format!("{} {}: {}", expected.world, expected.layer.as_str(), expected.answer.words());
    let codes: Vec<_> = expected.codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
    if !codes.is_empty() {
        write!(text, " ({})", codes.join(" or ")).unwrap();
    }
    if let Some(file) = expected.file {
        write!(text, " in `{file}`").unwrap();
    }
    text
}

#[test]
fn fixtures_are_what_their_builder_makes() {
    let _alone = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    for fixture in all() {
        if writing() {
            write(&fixture);
        }
        let made: BTreeMap<_, _> = fixture.files.iter().cloned().collect();
        assert_eq!(made.len(), fixture.files.len(), "{}: a name comes twice", fixture.name);
        let bytes: usize = made.values().map(Vec::len).sum();
        assert!(bytes < 50_000, "{} has {bytes} bytes", fixture.name);
        let stored = stored(&fixture);
        assert!(stored.keys().eq(made.keys()), "{}: {:?}", fixture.name, stored.keys());
        for (name, bytes) in &made {
            // What a packer makes may change with its version; what is in it may not.
            let same =
                stored[name] == *bytes || unpacked(&stored[name]) == unpacked(bytes) && unpacked(bytes).is_some();
            assert!(same, "{}: {name} differs", fixture.name);
        }
    }
}

/// The start, the inflated zone block and the rest of a `.db2`; none for anything else.
fn unpacked(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let length = usize::try_from(i32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?)).ok()?;
    let (packed, rest) = bytes.get(16..)?.split_at_checked(length)?;
    let mut zones = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut zones).ok()?;
    Some((bytes[..12].to_vec(), zones, rest.to_vec()))
}

#[test]
fn the_table_tells_about_every_fixture_and_nothing_else_lies_there() {
    let _alone = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let page = home().join("README.md");
    if writing() {
        fs::create_dir_all(home()).unwrap();
        fs::write(&page, table()).unwrap();
    }
    assert_eq!(fs::read_to_string(page).unwrap(), table());
    let mut known: Vec<_> = all().iter().map(Fixture::file_name).chain(["README.md".to_owned()]).collect();
    known.sort();
    let mut there: Vec<_> =
        fs::read_dir(home()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    assert_eq!(there, known);
}

/// Whether an answer is the right one; if not, what was found.
fn holds(seen: &Seen, expected: &Expected) -> Result<(), String> {
    let world = seen.world(expected.world);
    let of_world = world.iter().flat_map(|world| &world.findings);
    if expected.answer == Answer::NoWorld {
        let told = seen.findings.iter().chain(of_world).any(|finding| expected.codes.contains(&finding.code));
        let live = seen.live(expected.world);
        return if live.is_none() && told { Ok(()) } else { Err(format!("{live:?}, {:?}", seen.findings)) };
    }
    let Some(layer) = seen.layer(expected.world, expected.layer) else {
        return Err(format!("no such layer among {:?}", seen.worlds));
    };
    let right = match layer.verdict {
        Verdict::Sound | Verdict::Notes => Answer::Whole,
        Verdict::Damaged => Answer::Damaged,
        Verdict::Unfinished => Answer::Unfinished,
        Verdict::Unsupported => Answer::Unsupported,
        Verdict::Unchecked | Verdict::Unreadable => Answer::NoWorld,
    };
    let findings: Vec<&Finding> = of_world.chain(layer.all_findings()).chain(&seen.findings).collect();
    let code = expected.codes.is_empty() || findings.iter().any(|finding| expected.codes.contains(&finding.code));
    let file = expected.file.is_none_or(|file| {
        let wanted = |finding: &&Finding| expected.codes.is_empty() || expected.codes.contains(&finding.code);
        let names = |finding: &&Finding| finding.place.file.as_deref().is_some_and(|f| f.ends_with(file));
        findings.iter().copied().filter(|finding| wanted(finding)).any(|finding| names(&finding))
    });
    if right == expected.answer && code && file { Ok(()) } else { Err(format!("{:?}, {findings:#?}", layer.verdict)) }
}

#[test]
fn every_fixture_is_found_to_be_what_the_table_says() {
    let mut wrong = Vec::new();
    for fixture in all() {
        let dir = tempfile::tempdir().unwrap();
        let path = match fixture.packing {
            Packing::Folder => {
                for (name, bytes) in &fixture.files {
                    let file = dir.path().join(name);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, bytes).unwrap();
                }
                dir.path().to_path_buf()
            }
            Packing::Zip | Packing::TarGz => {
                let path = dir.path().join(fixture.file_name());
                fs::write(&path, fixture.archive()).unwrap();
                path
            }
        };
        let store = open(&path, &Ceilings::default()).unwrap();
        let seen = look(store.as_ref(), &support::context());
        must_make_sense(&seen);
        for expected in &fixture.expected {
            if let Err(found) = holds(&seen, expected) {
                wrong.push(format!("{}: {} expected, found {found}", fixture.name, answer(expected)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
