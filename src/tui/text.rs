//! Columns of text: how wide, cut where, wrapped where. A combining mark stays with the letter before it.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The longest start of a text that fits into so many columns, and its columns.
fn fitting(text: &str, columns: usize) -> (usize, usize) {
    let (mut end, mut used) = (0, 0);
    for (at, c) in text.char_indices() {
        let wide = c.width().unwrap_or(0);
        if used + wide > columns {
            break;
        }
        used += wide;
        end = at + c.len_utf8();
    }
    (end, used)
}

/// A text cut to so many columns, with an ellipsis where something is missing.
pub(super) fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let (end, _) = fitting(text, room);
    let mut out = text.get(..end).unwrap_or_default().to_owned();
    if columns >= width(ellipsis) {
        out.push_str(ellipsis);
    }
    out
}

/// A text cut and filled with spaces to exactly so many columns.
pub(super) fn pad(text: &str, columns: usize, ellipsis: &str) -> String {
    let mut out = cut(text, columns, ellipsis);
    out.push_str(&" ".repeat(columns.saturating_sub(width(&out))));
    out
}

/// The same, with the spaces in front.
pub(super) fn pad_left(text: &str, columns: usize, ellipsis: &str) -> String {
    let cut = cut(text, columns, ellipsis);
    format!("{}{cut}", " ".repeat(columns.saturating_sub(width(&cut))))
}

/// A text as lines of at most so many columns, broken between words, and inside a word only when no line could hold it.
/// At least one line.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let wide = width(word);
        // What has to be broken anyway begins where there is room for more than one letter.
        let fits = if wide > columns { used + 3 <= columns } else { used + 1 + wide <= columns };
        if used > 0 && !fits {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        let mut rest = word;
        while width(rest) > columns - used.min(columns - 1) {
            let (end, _) = fitting(rest, columns - used.min(columns - 1));
            let end = if end == 0 { rest.chars().next().map_or(rest.len(), char::len_utf8) } else { end };
            line.push_str(rest.get(..end).unwrap_or_default());
            lines.push(std::mem::take(&mut line));
            used = 0;
            rest = rest.get(end..).unwrap_or_default();
        }
        line.push_str(rest);
        used += width(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether `text` holds `wanted`; upper and lower case count only when `wanted` has upper case.
pub(super) fn contains_smart(text: &str, wanted: &str) -> bool {
    if wanted.chars().any(char::is_uppercase) { text.contains(wanted) } else { text.to_lowercase().contains(wanted) }
}

#[cfg(test)]
mod tests {
    use super::{contains_smart, cut, pad, pad_left, width, wrap};

    #[test]
    fn wide_and_combining_letters_are_cut_by_columns() {
        assert_eq!(cut("世界世界", 5, "…"), "世界…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2, "…"), "e\u{301}…");
        assert_eq!(cut("abc", 0, "…"), "");
        assert_eq!(width(&pad("世", 5, "…")), 5);
        assert_eq!(pad_left("7", 3, "…"), "  7");
    }

    #[test]
    fn lines_are_broken_between_words_and_long_words_inside() {
        assert_eq!(wrap("the save is whole", 9), ["the save", "is whole"]);
        assert_eq!(wrap("/srv/valheim/worlds", 6), ["/srv/v", "alheim", "/world", "s"]);
        assert_eq!(wrap("in /srv/valheim", 8), ["in /srv/", "valheim"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("世界", 1), ["世", "界", ""].map(str::to_owned)[..wrap("世界", 1).len()]);
        for columns in 0..12 {
            let joined = wrap("a bb 世界世界 dddddddddddd", columns).concat().replace(' ', "");
            assert_eq!(joined, "abb世界世界dddddddddddd", "{columns}");
        }
    }

    #[test]
    fn small_letters_match_both_cases_and_capitals_only_themselves() {
        assert!(contains_smart("Midgard", "mid") && contains_smart("Midgard", "Mid"));
        assert!(!contains_smart("Midgard", "MID"));
    }
}
