/// The candidate that a mistyped word most likely means: at most two letters away, and nearer than half the word.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, _)| *distance <= 2 && *distance * 2 < word.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out or changed.
fn distance(word: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, there) in candidate.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, here) in row.iter_mut().skip(1).zip(word) {
            let change = diagonal + usize::from(*here != there);
            diagonal = *cell;
            left = change.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_single_letter_edits() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!([d("list", "list"), d("lst", "list"), d("kitten", "sitting"), d("", "abc")], [0, 1, 3, 3]);
    }

    #[test]
    fn a_mistyped_word_finds_its_neighbour_and_a_stranger_finds_none() {
        let words = ["list", "show", "verify", "read_only"];
        assert_eq!(nearest("lsit", words), None, "two of four letters are not near enough");
        assert_eq!(nearest("lst", words), Some("list"));
        assert_eq!(nearest("readonly", words), Some("read_only"));
        assert_eq!(nearest("Midgard", words), None);
    }
}
