//! The game's own hash of names: of prefabs, of property keys, and of a seed's text.

/// The hash under which the game stores a name.
///
/// Two lanes over the UTF-16 units of the name, even and odd places, from 5381 each; a lane is multiplied by 33 and
/// xored with the unit; the hash is the first lane plus 1566083941 times the second. A NUL ends the name. Confirmed
/// by the seeds of real metadata files. The game stores seed 0 for an empty text and not this function's
/// value, so a seed is always read and never computed.
pub fn stable_hash(name: &str) -> i32 {
    let mut lanes = Lanes::new();
    for (place, unit) in name.encode_utf16().take_while(|&unit| unit != 0).enumerate() {
        lanes = lanes.with(place, unit);
    }
    lanes.join()
}

/// [`stable_hash`] of a name of ASCII letters, usable in constants.
pub const fn ascii_hash(name: &str) -> i32 {
    let bytes = name.as_bytes();
    let mut lanes = Lanes::new();
    let mut place = 0;
    while place < bytes.len() {
        lanes = lanes.with(place, bytes[place] as u16);
        place += 1;
    }
    lanes.join()
}

#[derive(Clone, Copy)]
struct Lanes {
    even: u32,
    odd: u32,
}

impl Lanes {
    const fn new() -> Self {
        Self { even: 5381, odd: 5381 }
    }

    const fn with(self, place: usize, unit: u16) -> Self {
        if place.is_multiple_of(2) {
            Self { even: self.even.wrapping_mul(33) ^ unit as u32, ..self }
        } else {
            Self { odd: self.odd.wrapping_mul(33) ^ unit as u32, ..self }
        }
    }

    const fn join(self) -> i32 {
        self.even.wrapping_add(self.odd.wrapping_mul(1_566_083_941)).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::{ascii_hash, stable_hash};

    #[test]
    fn known_names_have_known_hashes() {
        let vectors = [
            ("", 371_857_150),
            ("a", 372_029_373),
            ("j", 372_029_384),
            ("abc", 1_099_313_834),
            ("Abc", 1_099_314_826),
            ("abc ", -1_139_976_598),
            ("HHcLC5acQt", 298_112_588),
            ("yBvEFPKD9S", 649_688_311),
            ("MWd8eV6svz", -1_772_362_158),
            ("hnBd9gJf2G", 319_486_907),
            ("htsE7kJL5K", -812_712_818),
            ("q6GhJN6FwT", 517_038_747),
            ("Kh0zDpuPnw", 810_132_289),
            ("wMW3mSL2S0", 1_707_192_617),
            ("StartTemple", -1_544_986_047),
            ("Eikthyrnir", -316_818_231),
            ("piece_workbench", -958_010_034),
            ("wood_beam", -1_109_248_277),
            ("piece_chest_wood", 328_745_978),
        ];
        for (name, hash) in vectors {
            assert_eq!(stable_hash(name), hash, "{name}");
            assert_eq!(ascii_hash(name), hash, "{name}");
        }
    }

    #[test]
    fn a_nul_ends_the_name_and_units_beyond_ascii_count() {
        assert_eq!(stable_hash("abc\0def"), stable_hash("abc"));
        assert_ne!(stable_hash("\u{e5}"), stable_hash("a"));
        assert_ne!(stable_hash("\u{1f600}"), stable_hash("\u{d7ff}"));
    }
}
