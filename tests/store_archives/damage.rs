//! Archives that were cut off or changed: whatever the bytes, an answer comes, in time and in little memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use worldkeep::store::{Ceilings, EntryKind, Store, StoreErrorKind, open};

use crate::build::{Tree, bz2, every_kind, gz, noise, raw_tar, raw_tar_entry, tar, tree, xz, zst};
use crate::{on_disk, paths, sound};

/// A tree that packs into little, so that many changed copies can be tried.
fn small() -> Tree {
    vec![
        ("W/", Vec::new()),
        ("W/a.db", noise(1, 700)),
        ("W/b.fwl", b"fwl".to_vec()),
        ("W/zeros", vec![0; 3000]),
        ("c", noise(2, 100)),
    ]
}

/// Looks at everything in a store; what is read has the size that was said.
fn exercise(store: &dyn Store) -> BTreeMap<String, Result<Vec<u8>, StoreErrorKind>> {
    let mut all = BTreeMap::new();
    for path in paths(store) {
        let at = Path::new(&path);
        let stat = store.stat(at).unwrap();
        if stat.kind == EntryKind::File {
            let read = store.read(at, 1 << 20);
            if let Ok(bytes) = &read {
                assert_eq!(bytes.len() as u64, stat.size, "{path}");
            }
            all.insert(path, read.map_err(|error| error.kind));
        }
    }
    all
}

/// Puts other bytes into a file. Emptying it first would make some file systems write it out each time, which takes
/// longer than all the rest.
fn rewrite(mut file: &File, bytes: &[u8]) {
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

fn tight() -> Ceilings {
    Ceilings {
        archived_file: 1 << 20,
        archive_total: 1 << 22,
        archive_memory: 1 << 16,
        entries: 1000,
        ..Ceilings::default()
    }
}

#[test]
fn every_prefix_of_every_kind_gets_an_answer() {
    let whole: BTreeMap<_, _> = small().into_iter().collect();
    for (kind, bytes) in every_kind(&small()) {
        let (_folder, path) = on_disk(b"x");
        let file = File::options().write(true).open(&path).unwrap();
        for end in 0..bytes.len() {
            rewrite(&file, &bytes[..end]);
            let Ok(store) = open(&path, &tight()) else { continue };
            assert_ne!(kind, "zip", "a zip cut at {end} was accepted");
            for (path, read) in exercise(store.as_ref()) {
                // What is read from a part is what was in the whole.
                match read {
                    Ok(read) => assert_eq!(&read, &whole[path.as_str()], "{kind} cut at {end}: {path}"),
                    Err(StoreErrorKind::Broken(_)) => assert!(store.damage().is_some(), "{kind} cut at {end}: {path}"),
                    Err(other) => panic!("{kind} cut at {end}: {path}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn changed_bytes_of_every_kind_get_an_answer() {
    for (kind, bytes) in every_kind(&small()) {
        let random = noise(42, 2000 * 12);
        let (_folder, path) = on_disk(b"x");
        let file = File::options().write(true).open(&path).unwrap();
        for (number, dice) in random.chunks_exact(12).enumerate() {
            let mut changed = bytes.clone();
            let word = |at: usize| usize::from(u16::from_le_bytes([dice[at], dice[at + 1]]));
            // One to three places: a bit, a byte, or eight bytes of the kind that lengths are made of.
            for place in 0..=number % 3 {
                let at = (word(place * 4) * 65_536 + word(place * 4 + 2)) % changed.len();
                match dice[place] % 3 {
                    0 => changed[at] ^= 1 << (dice[place + 3] % 8),
                    1 => changed[at] = dice[place + 5],
                    _ => {
                        let end = (at + 8).min(changed.len());
                        changed[at..end].fill(if dice[place + 1] % 2 == 0 { 0xff } else { 0x00 });
                    }
                }
            }
            rewrite(&file, &changed);
            if let Ok(store) = open(&path, &tight()) {
                for (path, read) in exercise(store.as_ref()) {
                    let expected = matches!(
                        read,
                        Ok(_)
                            | Err(StoreErrorKind::Broken(_)
                                | StoreErrorKind::Unsupported(_)
                                | StoreErrorKind::TooLarge { .. })
                    );
                    assert!(expected, "{kind} {number} {path}: {read:?}");
                }
            }
        }
    }
}

#[test]
fn a_tar_that_was_cut_off_keeps_what_came_before() {
    // Large enough for several blocks of every packing, of which a cut takes the last one with it.
    let mut files: Tree = vec![("first", noise(1, 3000))];
    files.extend(["a", "b", "c", "d", "e"].map(|name| (name, noise(2, 300_000))));
    let tar = tar(&files);
    let mut all = vec![tar[..tar.len() - 30_000].to_vec()];
    all.extend([gz, zst, xz, bz2].map(|pack| {
        let packed = pack(&tar);
        packed[..packed.len() * 9 / 10].to_vec()
    }));
    for bytes in all {
        let store = sound(&bytes);
        assert_eq!(store.read(Path::new("first"), u64::MAX).unwrap(), noise(1, 3000));
        let damage = store.damage().expect("the cut is told");
        assert!(matches!(damage.kind, StoreErrorKind::Broken(_)), "{damage}");
        let broken: Vec<_> = exercise(store.as_ref()).into_iter().filter(|(_, read)| read.is_err()).collect();
        assert_eq!(broken.len(), 1, "{broken:?}");
    }
}

#[test]
fn a_damaged_header_in_the_middle_of_a_tar_hides_only_what_follows() {
    let mut tar = raw_tar(&["a", "b", "c"].map(|name| raw_tar_entry(b'0', name.as_bytes(), b"x")));
    tar[1024 + 3] ^= 1;
    for bytes in [tar.clone(), gz(&tar)] {
        let store = sound(&bytes);
        assert_eq!(paths(store.as_ref()), ["a"]);
        assert!(store.damage().unwrap().to_string().contains("byte 1024"));
    }
}

#[test]
fn a_wrong_checksum_of_a_packed_stream_is_told() {
    let tar = tar(&tree());
    for (pack, from_end) in [(gz as fn(&[u8]) -> Vec<u8>, 6), (bz2, 2)] {
        let mut bytes = pack(&tar);
        let at = bytes.len() - from_end;
        bytes[at] ^= 0x40;
        let store = sound(&bytes);
        assert!(store.damage().is_some());
    }
}

#[test]
fn a_window_that_needs_gigabytes_is_not_made() {
    // A frame of one empty block whose header asks for a window of 4 GiB.
    let zst = [0x28, 0xb5, 0x2f, 0xfd, 0, 22 << 3, 1, 0, 0];
    // A block header that asks for the largest dictionary there is, 4 GiB less one byte.
    let sum = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let mut xz = vec![0xfd, b'7', b'z', b'X', b'Z', 0, 0, 1];
    xz.extend(sum(&[0, 1]));
    let block = [2, 0, 0x21, 1, 40, 0, 0, 0];
    xz.extend(block);
    xz.extend(sum(&block));
    xz.extend([0; 64]);
    for (kind, bytes) in [("zstd", zst.to_vec()), ("xz", xz)] {
        let error = crate::refusal(&bytes);
        let StoreErrorKind::Unsupported(what) = &error.kind else { panic!("{kind}: {error:?}") };
        assert!(what.contains("memory"), "{kind}: {what}");
    }
}
