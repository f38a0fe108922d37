//! `.fwl` and `.fwl2`: a world's name, seed and settings.

use super::cursor::{Cursor, Fault, FaultKind, Tally};
use super::zones::{Texts, tolerant_text};
use crate::store::Ceilings;

/// The most that is read of a metadata file, in bytes: real ones stay under 10 KB, a long list of players included.
pub const META_CEILING: u64 = 4 * 1024 * 1024;

/// What a metadata file says, as far as it could be read; a field that its version does not have is `None`.
#[derive(Clone, Debug, Default)]
pub struct Meta<'a> {
    /// Bytes that the file says to follow its first four.
    pub says: Option<i64>,
    /// Bytes that do.
    pub follow: u64,
    /// The version of the world's format.
    pub version: Option<i32>,
    /// The name inside; not always UTF-8.
    pub name: Option<&'a [u8]>,
    /// The seed as it was typed; not always UTF-8.
    pub seed_text: Option<&'a [u8]>,
    /// The seed as a number.
    pub seed: Option<i32>,
    /// The world's own number.
    pub uid: Option<i64>,
    /// The version of the world's generator (from version 26).
    pub world_gen: Option<i32>,
    /// The world was saved at least once, so that it needs its data (from version 30).
    pub needs_db: Option<bool>,
    /// Settings (from version 32).
    pub start_keys: Option<Texts<'a>>,
    /// How many players are on record (from version 41).
    pub players: Option<u64>,
    /// Texts that are not UTF-8.
    pub odd_texts: Tally,
    /// Where reading had to end. A payload that ends in front of an optional field is no fault.
    pub fault: Option<Fault>,
    /// The fault lies in the list of players, whose form no real file has confirmed yet.
    pub fault_in_players: bool,
    /// Bytes of the payload behind the last known field.
    pub left: u64,
}

/// Reads a metadata file. A newer version is read as the newest known one, as far as that goes.
pub fn read<'a>(bytes: &'a [u8], ceilings: &Ceilings) -> Meta<'a> {
    let mut meta = Meta::default();
    let mut cursor = Cursor::new(bytes);
    match cursor.i32("the length of the payload") {
        Ok(says) => meta.says = Some(i64::from(says)),
        Err(fault) => meta.fault = Some(fault),
    }
    meta.follow = cursor.left() as u64;
    if meta.fault.is_none() {
        let within = meta.says.and_then(|says| usize::try_from(says).ok()).unwrap_or(usize::MAX).min(cursor.left());
        if let Ok(mut payload) = cursor.block(within, "the payload") {
            meta.fault = meta.fill(&mut payload, ceilings).err();
            if meta.fault.is_none() {
                meta.left = payload.left() as u64;
            }
        }
    }
    meta
}

impl<'a> Meta<'a> {
    fn fill(&mut self, cursor: &mut Cursor<'a>, ceilings: &Ceilings) -> Result<(), Fault> {
        let version = cursor.i32("the version")?;
        self.version = Some(version);
        let text_ceiling = ceilings.text.min(META_CEILING);
        self.name = Some(tolerant_text(cursor, text_ceiling, "the world's name", &mut self.odd_texts)?);
        self.seed_text = Some(tolerant_text(cursor, text_ceiling, "the seed's text", &mut self.odd_texts)?);
        self.seed = Some(cursor.i32("the seed")?);
        self.uid = Some(cursor.i64("the world's number")?);
        if version < 26 || cursor.left() == 0 {
            return Ok(());
        }
        self.world_gen = Some(cursor.i32("the generator's version")?);
        if version < 30 || cursor.left() == 0 {
            return Ok(());
        }
        self.needs_db = Some(cursor.flag("whether the world needs its data")?);
        if version < 32 || cursor.left() == 0 {
            return Ok(());
        }
        self.start_keys = Some(Texts::read(cursor, ceilings, "the settings", &mut self.odd_texts)?);
        if version < 41 || cursor.left() == 0 {
            return Ok(());
        }
        self.fault_in_players = true;
        let count = cursor.count(4, ceilings.objects, "the count of players")?;
        for _ in 0..4 * count {
            tolerant_text(cursor, text_ceiling, "a player's name", &mut self.odd_texts)?;
        }
        self.fault_in_players = false;
        self.players = Some(count as u64);
        Ok(())
    }

    /// A fault when the length at the front is not the length of what follows.
    pub fn length_fault(&self) -> Option<Fault> {
        let says = self.says?;
        (u64::try_from(says) != Ok(self.follow)).then_some(Fault {
            offset: 0,
            kind: FaultKind::BadLength { value: says, left: self.follow },
            what: "the length of the payload",
        })
    }

    /// The name as text, with replacement characters where it is none.
    pub fn name(&self) -> Option<String> {
        self.name.map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The seed's text, with replacement characters where it is none.
    pub fn seed_text(&self) -> Option<String> {
        self.seed_text.map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Meta, read};
    use crate::games::valheim::format::cursor::FaultKind;
    use crate::store::Ceilings;

    /// A metadata file of a version, with every field that the version has.
    fn file(version: i32) -> Vec<u8> {
        let mut p = version.to_le_bytes().to_vec();
        p.extend(b"\x04Holm\x03abc");
        p.extend(1_099_313_834_i32.to_le_bytes());
        p.extend((-5_i64).to_le_bytes());
        if version >= 26 {
            p.extend(2_i32.to_le_bytes());
        }
        if version >= 30 {
            p.push(1);
        }
        if version >= 32 {
            p.extend(1_i32.to_le_bytes());
            p.extend(b"\x0bnobuildcost");
        }
        if version >= 41 {
            p.extend(1_i32.to_le_bytes());
            p.extend(b"\x07Steam_1\x01A\x01A\x02ff");
        }
        let mut all = u32::try_from(p.len()).unwrap().to_le_bytes().to_vec();
        all.extend(p);
        all
    }

    fn whole(meta: &Meta<'_>) -> bool {
        meta.fault.is_none() && meta.left == 0 && meta.length_fault().is_none() && meta.odd_texts.count == 0
    }

    #[test]
    fn each_version_has_its_own_fields() {
        for (version, world_gen, needs, keys, players) in [
            (25, None, None, None, None),
            (26, Some(2), None, None, None),
            (29, Some(2), None, None, None),
            (30, Some(2), Some(true), None, None),
            (31, Some(2), Some(true), None, None),
            (32, Some(2), Some(true), Some(1), None),
            (40, Some(2), Some(true), Some(1), None),
            (41, Some(2), Some(true), Some(1), Some(1)),
        ] {
            let bytes = file(version);
            let meta = read(&bytes, &Ceilings::default());
            assert!(whole(&meta), "{version}: {meta:?}");
            assert_eq!(
                (meta.version, meta.name(), meta.seed),
                (Some(version), Some("Holm".into()), Some(1_099_313_834))
            );
            assert_eq!((meta.uid, meta.world_gen, meta.needs_db), (Some(-5), world_gen, needs), "{version}");
            assert_eq!((meta.start_keys.as_ref().map(super::Texts::len), meta.players), (keys, players), "{version}");
        }
    }

    #[test]
    fn a_payload_may_end_before_an_optional_field_and_no_sooner() {
        let mut bytes = file(29);
        bytes[4] = 41;
        let meta = read(&bytes, &Ceilings::default());
        assert!(whole(&meta) && meta.world_gen == Some(2) && meta.needs_db.is_none());
        for cut in 4..file(26).len() {
            let bytes = &file(26)[..cut];
            let meta = read(bytes, &Ceilings::default());
            assert!(meta.length_fault().is_some(), "cut at {cut}");
            // 23 bytes of fields end where the generator's version would begin.
            assert_eq!(meta.fault.is_none(), cut == file(25).len(), "cut at {cut}");
        }
    }

    #[test]
    fn a_newer_version_keeps_its_unknown_tail() {
        let mut bytes = file(41);
        bytes[4] = 42;
        bytes.extend([1, 2, 3]);
        let length = u8::try_from(bytes.len() - 4).unwrap();
        bytes[0] = length;
        let meta = read(&bytes, &Ceilings::default());
        assert_eq!((meta.left, meta.fault, meta.name()), (3, None, Some("Holm".into())));
    }

    #[test]
    fn a_bad_flag_and_a_huge_count_are_told_with_their_place() {
        let mut bytes = file(32);
        let flag = 4 + 4 + 5 + 4 + 4 + 8 + 4;
        bytes[flag] = 7;
        let fault = read(&bytes, &Ceilings::default()).fault.unwrap();
        assert_eq!((fault.offset, fault.kind), (flag as u64, FaultKind::BadValue { value: 7 }));
        bytes[flag] = 1;
        bytes[flag + 4] = 0x7f;
        let meta = read(&bytes, &Ceilings::default());
        assert!(matches!(meta.fault.unwrap().kind, FaultKind::OverCeiling { .. }), "{:?}", meta.fault);
        assert_eq!(meta.needs_db, Some(true));
    }

    #[test]
    fn an_empty_file_is_a_fault_and_no_panic() {
        assert!(read(&[], &Ceilings::default()).fault.is_some());
        assert!(read(&[0xff; 4], &Ceilings::default()).length_fault().is_some());
    }
}
