//! The game's hash of a text: prefab names, property keys, and a world's seed text.

/// Where both lanes of the hash begin.
const START: u32 = 5381;
/// What the second lane is multiplied with before the lanes are added.
const SPREAD: u32 = 1_566_083_941;

/// The hash of a text, as the game stores it.
///
/// The UTF-16 units take turns between two lanes, each step being `lane * 33 ^ unit`; a zero unit ends the text. Real
/// `.fwl` files confirm it: their stored seed is the hash of their seed text. An empty seed text is the exception, the
/// game stores 0 for it, so a seed is always read from the file and never worked out from its text.
pub fn stable_hash(text: &str) -> i32 {
    let mut lanes = [START; 2];
    for (i, unit) in text.encode_utf16().take_while(|unit| *unit != 0).enumerate() {
        let [even, odd] = &mut lanes;
        let lane = if i % 2 == 0 { even } else { odd };
        *lane = lane.wrapping_mul(33) ^ u32::from(unit);
    }
    let [even, odd] = lanes;
    even.wrapping_add(odd.wrapping_mul(SPREAD)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::stable_hash;

    #[test]
    fn hashes_what_the_game_hashes() {
        let known = [
            ("", 371_857_150),
            ("a", 372_029_373),
            ("j", 372_029_384),
            ("abc", 1_099_313_834),
            ("Abc", 1_099_314_826),
            ("abc ", -1_139_976_598),
            ("HHcLC5acQt", 298_112_588),
            ("yBvEFPKD9S", 649_688_311),
            ("MWd8eV6svz", -1_772_362_158),
            ("htsE7kJL5K", -812_712_818),
            ("StartTemple", -1_544_986_047),
            ("piece_workbench", -958_010_034),
            ("piece_chest_wood", 328_745_978),
        ];
        for (text, hash) in known {
            assert_eq!(stable_hash(text), hash, "{text:?}");
        }
    }

    #[test]
    fn a_zero_unit_ends_the_text() {
        assert_eq!(stable_hash("abc\0def"), stable_hash("abc"));
    }
}
