use std::fmt;

/// How many colours a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// None: bold, dim, underline and reverse only.
    Mono,
    /// The sixteen that every terminal names.
    Sixteen,
    /// The palette of 256.
    Palette,
    /// Red, green and blue, eight bits each.
    Rgb,
}

/// A colour as a theme means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// Whatever the terminal has.
    Default,
    /// One of the sixteen, as the terminal's owner set them.
    Named(u8),
    /// One of the 256.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

/// The usual look of the sixteen, used only to find the nearest one.
const USUAL: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Color {
    /// Reads `default`, a name of the sixteen, `#rrggbb` or 0 to 255; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("default") {
            return Some(Self::Default);
        }
        if let Some(digits) = text.strip_prefix('#') {
            if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            let [_, r, g, b] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
            return Some(Self::Rgb(r, g, b));
        }
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().map(Self::Indexed);
        }
        let lower = text.to_ascii_lowercase().replace('_', "-");
        let lower = if lower == "gray" || lower == "grey" { "bright-black".to_owned() } else { lower };
        (0u8..).zip(NAMES).find(|(_, name)| *name == lower).map(|(n, _)| Self::Named(n))
    }

    /// The same colour on a terminal of that depth, as near as it gets.
    #[must_use]
    pub fn at(self, depth: Depth) -> Self {
        match (self, depth) {
            (_, Depth::Mono) => Self::Default,
            (Self::Indexed(n), Depth::Sixteen) if n < 16 => Self::Named(n),
            (Self::Indexed(n), Depth::Sixteen) => Self::Named(nearest(seen(n), 0..16)),
            (Self::Rgb(r, g, b), Depth::Sixteen) => Self::Named(nearest((r, g, b), 0..16)),
            (Self::Rgb(r, g, b), Depth::Palette) => Self::Indexed(nearest((r, g, b), 16..=255)),
            (other, _) => other,
        }
    }

    /// Red, green and blue as they usually look; none for the terminal's own default.
    pub fn rgb(self) -> Option<(u8, u8, u8)> {
        match self {
            Self::Default => None,
            Self::Named(n) | Self::Indexed(n) => Some(seen(n)),
            Self::Rgb(r, g, b) => Some((r, g, b)),
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Named(n) => f.write_str(NAMES.get(usize::from(*n)).copied().unwrap_or("default")),
            Self::Indexed(n) => write!(f, "{n}"),
            Self::Rgb(r, g, b) => write!(f, "#{r:02x}{g:02x}{b:02x}"),
        }
    }
}

/// What an entry of the 256 looks like.
fn seen(n: u8) -> (u8, u8, u8) {
    if let Some(usual) = USUAL.get(usize::from(n)) {
        return *usual;
    }
    if n >= 232 {
        let grey = 8 + 10 * (n - 232);
        return (grey, grey, grey);
    }
    let step = |i: u8| STEPS.get(usize::from(i)).copied().unwrap_or(255);
    let cube = n - 16;
    (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
}

fn nearest(wanted: (u8, u8, u8), among: impl Iterator<Item = u8>) -> u8 {
    let apart = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    among
        .min_by_key(|n| {
            let (r, g, b) = seen(*n);
            2 * apart(r, wanted.0) + 4 * apart(g, wanted.1) + 3 * apart(b, wanted.2)
        })
        .unwrap_or(7)
}

#[cfg(test)]
mod tests {
    use super::{Color, Depth};

    #[test]
    fn colours_read_back_as_they_are_shown() {
        for text in ["default", "red", "bright-black", "#a0b1c2", "17"] {
            assert_eq!(Color::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Color::parse("grey"), Some(Color::Named(8)));
    }

    #[test]
    fn what_is_no_colour_is_refused_without_a_panic() {
        for text in ["", "#", "#12345", "#1234567", "#ééé", "256", "-1", "reddish", "#+12345", "é"] {
            assert_eq!(Color::parse(text), None, "{text}");
        }
    }

    #[test]
    fn lower_depths_take_the_nearest_colour() {
        let red = Color::Rgb(250, 10, 10);
        assert_eq!(red.at(Depth::Rgb), red);
        assert_eq!(red.at(Depth::Palette), Color::Indexed(196));
        assert_eq!(red.at(Depth::Sixteen), Color::Named(9));
        assert_eq!(red.at(Depth::Mono), Color::Default);
        assert_eq!(Color::Indexed(16).at(Depth::Sixteen), Color::Named(0));
        assert_eq!(Color::Indexed(255).at(Depth::Sixteen), Color::Named(7));
    }
}
