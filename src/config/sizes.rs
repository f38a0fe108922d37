/// Bytes from a person's text: `512 MB`, `512MiB`, `1.5 G`, `4096`.
///
/// `MB` and `MiB` both mean 1024 times 1024 bytes, as everywhere in this program. None: it is no such text, or
/// more than 64 bits hold.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = factor_of(unit.trim())?;
    let number: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let bytes = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    if number.contains('.') {
        if fraction.is_empty() || fraction.len() > 6 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(factor) / u128::from(scale);
        return bytes.checked_add(u64::try_from(part).ok()?);
    }
    Some(bytes)
}

fn factor_of(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    // `ib` alone would have passed as an empty unit.
    if power == 0 && !matches!(unit.as_str(), "" | "b") {
        return None;
    }
    1024_u64.checked_pow(power)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        const MB: u64 = 1024 * 1024;
        for (text, bytes) in [
            ("4096", 4096),
            ("0", 0),
            ("512 MB", 512 * MB),
            ("512MiB", 512 * MB),
            ("512m", 512 * MB),
            ("1.5 G", 1536 * MB),
            ("1_000 B", 1000),
            (" 2 TiB ", 2 * 1024 * 1024 * MB),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "MB", "-1", "12 parsecs", "1.2.3 MB", "1. MB", ".5 MB", "99999999 TB", "5 ib", "5 bb", "1e3"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
