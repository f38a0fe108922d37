//! What a scan looks at, how often, and how far: archives beside the worlds, places named twice, large neighbours.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use worldkeep::games::valheim::write::{Object, WorldPlan, gzip};
use worldkeep::model::{Cancel, Clock, Code, Finding, Found, Layer, LayerKind, Outcome, Severity};
use worldkeep::scan::{self, Catalog, Request, Root};
use worldkeep::store::Ceilings;

const NOW: &str = "2026-11-30T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A save root with the world `W`, in a folder of its own.
fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    pair(&dir.path().join("worlds_local"));
    dir
}

fn halves() -> [(&'static str, Vec<u8>); 2] {
    let mut plan = WorldPlan::new("W", "seed");
    plan.objects = (0..20).map(|_| Object::new("Rock", [1.0, 30.0, 1.0])).collect();
    let (fwl, db) = plan.to_pair(36);
    [("W.fwl", fwl), ("W.db", db)]
}

fn pair(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    for (name, bytes) in halves() {
        fs::write(dir.join(name), bytes).unwrap();
    }
}

/// A tar with a world `W` in each of some folders, and some zeros.
fn tar(folders: &[&str], zeros: usize) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, bytes).unwrap();
    };
    for folder in folders {
        for (name, bytes) in halves() {
            add(&format!("{folder}worlds_local/{name}"), &bytes);
        }
    }
    if zeros > 0 {
        add("zeros", &vec![0; zeros]);
    }
    builder.into_inner().unwrap()
}

fn zip() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in halves() {
        zip.start_file(format!("worlds_local/{name}"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Writes a file that is so many minutes old.
fn write(path: &Path, bytes: &[u8], minutes: i64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    let at = now() - SignedDuration::from_mins(minutes);
    let since = std::time::Duration::from_secs(u64::try_from(at.as_second()).unwrap());
    fs::File::options().write(true).open(path).unwrap().set_modified(std::time::UNIX_EPOCH + since).unwrap();
}

fn request(paths: &[PathBuf]) -> Request {
    let root = |path: &PathBuf| Root { path: path.clone(), found: Found::Argument, game: None, name: None };
    Request { roots: paths.iter().map(root).collect(), clock: Clock::Fixed(now()), ..Request::default() }
}

fn scan(request: &Request) -> Catalog {
    let mut catalog = Catalog::default();
    scan::run(request, &Cancel::new(), &mut |event| catalog.apply(event));
    assert!(catalog.complete);
    catalog
}

fn archived(catalog: &Catalog) -> Vec<&Layer> {
    let worlds = catalog.profiles.iter().flat_map(|profile| &profile.worlds);
    worlds.flat_map(|world| &world.layers).filter(|layer| layer.kind == LayerKind::Archive).collect()
}

fn finding(catalog: &Catalog, code: Code) -> Option<&Finding> {
    catalog.profiles.iter().flat_map(|profile| &profile.findings).find(|finding| finding.code == code)
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.profiles.iter().map(|profile| profile.id.as_str()).collect()
}

#[test]
fn an_archive_that_did_not_change_is_looked_into_once() {
    let dir = place();
    let archive = dir.path().join("backups/b.tar.gz");
    let bytes = gzip(&tar(&[""], 0));
    write(&archive, &bytes, 60);
    let request = request(&[dir.path().to_path_buf()]);
    let first = scan(&request);
    assert_eq!(archived(&first).len(), 1);
    // Were it opened again, it would be no archive any more.
    write(&archive, &vec![b'x'; bytes.len()], 60);
    // Not the whole profile: the free space of the mount changes by itself.
    assert_eq!(archived(&scan(&request)), archived(&first));
    write(&archive, &vec![b'x'; bytes.len()], 59);
    let changed = scan(&request);
    assert!(archived(&changed).is_empty());
    assert!(finding(&changed, Code::UnsupportedArchive).is_some());
}

#[test]
fn an_archive_that_was_written_just_now_is_looked_into_again() {
    let dir = place();
    let archive = dir.path().join("backups/b.tar.gz");
    let bytes = gzip(&tar(&[""], 0));
    write(&archive, &bytes, 5);
    let request = request(&[dir.path().to_path_buf()]);
    assert_eq!(archived(&scan(&request)).len(), 1);
    write(&archive, &vec![b'x'; bytes.len()], 5);
    assert!(archived(&scan(&request)).is_empty());
}

#[test]
fn an_archive_that_takes_long_to_unpack_is_passed_over_and_named() {
    let dir = place();
    write(&dir.path().join("backups/a.zip"), &zip(), 60);
    write(&dir.path().join("backups/b.tar.gz"), &gzip(&tar(&[""], 0)), 60);
    write(&dir.path().join("backups/c.tar.gz"), &gzip(&tar(&[""], 600_000)), 60);
    let mut request = request(&[dir.path().to_path_buf()]);
    request.ceilings = Ceilings { archive_total: 1_000_000, ..Ceilings::default() };
    // The newest name comes first and uses the effort up; the second scan must not differ from the first.
    for _ in 0..2 {
        let catalog = scan(&request);
        let ids: Vec<_> = archived(&catalog).iter().map(|layer| layer.key()).collect();
        assert_eq!(ids, ["archive-a.zip"]);
        let passed = finding(&catalog, Code::TooMany).unwrap();
        assert_eq!(passed.severity, Severity::Note);
        assert!(passed.text.contains("2 archives (backups/c.tar.gz and others)"), "{}", passed.text);
    }
}

#[test]
fn a_cut_archive_beside_the_worlds_is_told_of_as_a_warning() {
    let dir = place();
    let whole = zip();
    write(&dir.path().join("backups/b.zip"), &whole[..whole.len() / 2], 60);
    let catalog = scan(&request(&[dir.path().to_path_buf()]));
    let told = finding(&catalog, Code::BadArchive).unwrap();
    assert_eq!(told.severity, Severity::Warning);
    assert!(told.text.contains("backups/b.zip is broken"), "{}", told.text);
    assert_eq!(catalog.profiles[0].worlds.len(), 1);
}

#[test]
fn archives_of_one_name_and_worlds_of_one_name_in_an_archive_keep_ids_of_their_own() {
    let dir = place();
    write(&dir.path().join("backups/b.tar"), &tar(&["one/", "two/"], 0), 60);
    write(&dir.path().join("worlds_local/b.tar"), &tar(&[""], 0), 60);
    let catalog = scan(&request(&[dir.path().to_path_buf()]));
    let mut ids: Vec<_> = archived(&catalog).iter().map(|layer| layer.key().to_owned()).collect();
    ids.sort();
    assert_eq!(ids, ["archive-b.tar", "archive-b.tar-2", "archive-b.tar-3"]);
}

#[test]
fn ids_of_profiles_are_unique_even_where_a_name_looks_numbered() {
    let dirs = [place(), place(), place()];
    let mut request = request(&dirs.iter().map(|dir| dir.path().to_path_buf()).collect::<Vec<_>>());
    for (root, name) in request.roots.iter_mut().zip(["srv", "srv", "srv-2"]) {
        root.name = Some(name.to_owned());
    }
    assert_eq!(names(&scan(&request)), ["srv", "srv-2", "srv-2-2"]);
}

#[test]
fn a_server_that_two_paths_lead_to_is_listed_once() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        pair(&dir.path().join(name).join("worlds_local"));
    }
    let mut paths = vec![dir.path().to_path_buf(), dir.path().join("b")];
    #[cfg(unix)]
    {
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("a"), &link).unwrap();
        paths.push(link);
    }
    let catalog = scan(&request(&paths));
    assert_eq!(names(&catalog), ["a", "b"]);
    assert!(catalog.looked.iter().all(|looked| looked.outcome == Outcome::Saves), "{:?}", catalog.looked);
}

#[test]
fn a_large_neighbour_does_not_hide_a_server() {
    // In an archive, since thousands of folders on a disk take long to make.
    let mut builder = tar::Builder::new(Vec::new());
    let neighbours = (0..70).flat_map(|a| (0..70).map(move |b| format!("aaa/{a}/{b}/x")));
    for name in neighbours.chain(["srv/valheim/worlds_local/W.fwl".to_owned()]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        builder.append_data(&mut header, name, &[][..]).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.tar");
    fs::write(&path, builder.into_inner().unwrap()).unwrap();
    let roots: Vec<_> =
        scan(&request(std::slice::from_ref(&path))).profiles.into_iter().map(|profile| profile.root).collect();
    assert_eq!(roots, [path.join("srv/valheim")]);
}

#[test]
fn every_server_in_one_packed_archive_is_a_profile() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.tar.gz");
    fs::write(&path, gzip(&tar(&["a/", "b/", "c/"], 0))).unwrap();
    let catalog = scan(&request(&[path]));
    assert_eq!(catalog.profiles.len(), 3);
    assert!(catalog.profiles.iter().all(|profile| profile.worlds.len() == 1));
}

#[test]
fn a_path_into_an_archive_is_an_error_that_says_to_name_the_archive() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("b.zip");
    fs::write(&archive, zip()).unwrap();
    let catalog = scan(&request(&[archive.join("worlds_local/W.db")]));
    assert!(catalog.profiles.is_empty());
    match &catalog.looked[0].outcome {
        Outcome::Failed(why) => {
            assert!(why.contains("name the archive itself") && why.ends_with("b.zip"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}
