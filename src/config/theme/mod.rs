//! Themes: meanings and their look, read from TOML, fitted to what the terminal can show.

mod color;
mod file;
mod role;

use std::path::PathBuf;

pub use color::{Color, Depth};
pub use role::Role;

use file::{Look, Sheet};

/// The themes that are compiled in, by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("../../../themes/default.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("contrast", include_str!("../../../themes/contrast.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
];

/// How many themes may inherit from each other.
const MOST_PARENTS: usize = 8;

/// The most that is read of a theme file.
const MOST_BYTES: u64 = 256 * 1024;

/// The look of one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the five attributes of a terminal are independent switches")]
pub struct Style {
    /// The colour of the text; none: leave it.
    pub fg: Option<Color>,
    /// The colour behind the text; none: leave it.
    pub bg: Option<Color>,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Both colours exchanged.
    pub reverse: bool,
}

/// A look for every meaning, fitted to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// What it was fitted to.
    pub depth: Depth,
    styles: Vec<Style>,
}

impl Theme {
    /// Loads a theme by its name: the first of `dirs` that has `NAME.toml`, else the built-in one. Whatever is wrong
    /// with it becomes a sentence, and the rest still counts; an unknown name gives the default theme.
    pub fn load(name: &str, dirs: &[PathBuf], depth: Depth) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut sheets: Vec<Sheet> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next.take() {
            if seen.contains(&name) || seen.len() >= MOST_PARENTS {
                warnings.push(format!("Theme \"{}\" inherits from itself; the chain is cut there.", shown(&name)));
                break;
            }
            match find(&name, dirs) {
                Ok(Some((place, text))) => {
                    let sheet = Sheet::read(&place, &text, &mut warnings);
                    next.clone_from(&sheet.inherits);
                    sheets.push(sheet);
                }
                Ok(None) => {
                    warnings.push(format!(
                        "There is no theme \"{}\"; there are: {}.",
                        shown(&name),
                        Self::names(dirs).join(", ")
                    ));
                    if sheets.is_empty() && name != "default" {
                        next = Some("default".to_owned());
                    }
                }
                Err(error) => warnings.push(error),
            }
            seen.push(name);
        }
        let styles = Role::ALL.iter().map(|role| resolve(*role, &sheets).fitted(depth)).collect();
        (Self { name: name.to_owned(), depth, styles }, warnings)
    }

    /// The names of all themes, built-in ones first.
    pub fn names(dirs: &[PathBuf]) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        for dir in dirs {
            let Ok(entries) = std::fs::read_dir(dir) else { continue };
            let mut own: Vec<String> = entries
                .flatten()
                .map(|entry| PathBuf::from(entry.file_name()))
                .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
                .filter_map(|path| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned))
                .filter(|name| plain(name) && !names.contains(name))
                .collect();
            own.sort();
            names.append(&mut own);
        }
        names
    }

    /// The look of a meaning.
    pub fn style(&self, role: Role) -> Style {
        Role::ALL.iter().position(|r| *r == role).and_then(|at| self.styles.get(at)).copied().unwrap_or_default()
    }
}

impl Style {
    /// The same look on a terminal of that depth. Without colours a background becomes a reversal, so that a
    /// selection never disappears.
    #[must_use]
    pub fn fitted(self, depth: Depth) -> Self {
        if depth == Depth::Mono {
            let reverse = self.reverse || self.bg.is_some_and(|bg| bg != Color::Default);
            return Self { fg: None, bg: None, reverse, ..self };
        }
        Self { fg: self.fg.map(|c| c.at(depth)), bg: self.bg.map(|c| c.at(depth)), ..self }
    }
}

/// The look of a role: the nearest theme in the chain that names it, else the look of its fallback.
fn resolve(role: Role, sheets: &[Sheet]) -> Look {
    let mut at = Some(role);
    while let Some(role) = at {
        if let Some(look) = sheets.iter().find_map(|sheet| sheet.look(role)) {
            return look;
        }
        at = role.fallback();
    }
    Look::default()
}

/// A name that can be a file without leaving its folder.
fn plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// The place and the text of a theme.
fn find(name: &str, dirs: &[PathBuf]) -> Result<Option<(String, String)>, String> {
    if plain(name) {
        for dir in dirs {
            let path = dir.join(format!("{name}.toml"));
            match std::fs::metadata(&path) {
                Ok(meta) if !meta.is_file() || meta.len() > MOST_BYTES => {
                    return Err(format!(
                        "{} is too large for a theme, or no regular file.",
                        crate::model::shown_path(&path)
                    ));
                }
                Ok(_) => {}
                Err(_) => continue,
            }
            return match std::fs::read_to_string(&path) {
                Ok(text) => Ok(Some((crate::model::shown_path(&path), text))),
                Err(error) => Err(format!("{} could not be read: {error}.", crate::model::shown_path(&path))),
            };
        }
    }
    Ok(BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| (format!("theme {name}"), (*text).to_owned())))
}

fn shown(text: &str) -> String {
    crate::model::shown(text)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{BUILT_IN, Color, Depth, Role, Style, Theme};

    const DEPTHS: [Depth; 4] = [Depth::Mono, Depth::Sixteen, Depth::Palette, Depth::Rgb];

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let dirs = vec![dir.path().to_owned()];
        (dir, dirs)
    }

    #[test]
    fn built_in_themes_load_without_a_warning_and_stay_within_each_depth() {
        for (name, _) in BUILT_IN {
            for depth in DEPTHS {
                let (theme, warnings) = Theme::load(name, &[], depth);
                assert_eq!(warnings, Vec::<String>::new(), "{name}");
                for role in Role::ALL {
                    let style = theme.style(*role);
                    for color in [style.fg, style.bg].into_iter().flatten() {
                        let fits = match depth {
                            Depth::Mono => false,
                            Depth::Sixteen => matches!(color, Color::Default | Color::Named(_)),
                            Depth::Palette => !matches!(color, Color::Rgb(..)),
                            Depth::Rgb => true,
                        };
                        assert!(fits, "{name} {} {depth:?} {color}", role.id());
                    }
                }
            }
        }
    }

    #[test]
    fn a_selection_differs_from_plain_text_at_every_depth() {
        for (name, _) in BUILT_IN {
            for depth in DEPTHS {
                let (theme, _) = Theme::load(name, &[], depth);
                assert_ne!(theme.style(Role::Selection), theme.style(Role::Text), "{name} {depth:?}");
                assert_ne!(theme.style(Role::BorderFocus), theme.style(Role::Border), "{name} {depth:?}");
            }
        }
    }

    #[test]
    fn no_built_in_theme_paints_a_background_behind_plain_text() {
        for (name, _) in BUILT_IN {
            let (theme, _) = Theme::load(name, &[], Depth::Rgb);
            assert_eq!(theme.style(Role::Text).bg, None, "{name}");
        }
    }

    #[test]
    fn good_and_bad_look_different_where_there_is_colour() {
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "mono") {
            for depth in [Depth::Sixteen, Depth::Palette, Depth::Rgb] {
                let (theme, _) = Theme::load(name, &[], depth);
                let looks = [Role::Ok, Role::Warn, Role::Danger].map(|role| theme.style(role));
                assert!(looks[0] != looks[1] && looks[1] != looks[2] && looks[0] != looks[2], "{name} {depth:?}");
            }
        }
    }

    #[test]
    fn what_a_theme_leaves_out_comes_from_its_parent_and_then_from_the_fallback() {
        let (_dir, dirs) = folder(&[
            ("mine.toml", "inherits = \"base\"\n[roles]\nok = \"blue\"\n"),
            ("base.toml", "[palette]\nsea = \"#102030\"\n[roles]\nok = \"red\"\nwarn = \"sea\"\ntext = \"white\"\n"),
        ]);
        let (theme, warnings) = Theme::load("mine", &dirs, Depth::Rgb);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(theme.style(Role::Ok).fg, Some(Color::Named(4)));
        assert_eq!(theme.style(Role::Danger).fg, Some(Color::Rgb(0x10, 0x20, 0x30)));
        assert_eq!(theme.style(Role::Title).fg, Some(Color::Named(7)));
    }

    #[test]
    fn bad_entries_are_told_with_their_line_and_the_rest_counts() {
        let text = "[roles]\nok = \"reddish\"\nglow = \"red\"\nwarn = { fg = \"red\", blink = true }\ndanger = 7\n\
                    title = { bold = \"yes\" }\nmuted = \"é\"\n[extra]\nx = 1\n";
        let (_dir, dirs) = folder(&[("odd.toml", text)]);
        let (theme, warnings) = Theme::load("odd", &dirs, Depth::Rgb);
        assert_eq!(theme.style(Role::Warn).fg, Some(Color::Named(1)));
        assert_eq!(theme.style(Role::Danger).fg, Some(Color::Indexed(7)));
        for line in [2, 3, 4, 6, 7, 8] {
            assert!(warnings.iter().any(|w| w.contains(&format!("line {line}:"))), "line {line} in {warnings:?}");
        }
        assert_eq!(warnings.len(), 6, "{warnings:?}");
    }

    #[test]
    fn a_file_that_is_no_toml_gives_a_warning_and_a_usable_theme() {
        let (_dir, dirs) = folder(&[("odd.toml", "[roles\nok=")]);
        let (theme, warnings) = Theme::load("odd", &dirs, Depth::Rgb);
        assert!(warnings.len() == 1 && warnings[0].contains("line 1"), "{warnings:?}");
        assert_eq!(theme.style(Role::Text), Style::default());
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let (_dir, dirs) = folder(&[("a.toml", "inherits = \"b\""), ("b.toml", "inherits = \"a\"")]);
        let (_, warnings) = Theme::load("a", &dirs, Depth::Rgb);
        assert_eq!(warnings, ["Theme \"a\" inherits from itself; the chain is cut there."]);
    }

    #[test]
    fn an_unknown_name_or_one_that_is_a_path_gives_the_default_theme() {
        for name in ["nosuch", "../../etc/passwd", ""] {
            let (theme, warnings) = Theme::load(name, &[], Depth::Rgb);
            assert!(warnings.len() == 1 && warnings[0].contains("there are: default, light"), "{warnings:?}");
            assert_eq!(theme.style(Role::Ok), Theme::load("default", &[], Depth::Rgb).0.style(Role::Ok));
        }
    }

    #[test]
    fn own_themes_come_first_and_are_listed_after_the_built_in_ones() {
        let (_dir, dirs) = folder(&[("default.toml", "[roles]\nok = \"blue\"\n"), ("zen.toml", ""), ("a b.toml", "")]);
        assert_eq!(Theme::names(&dirs), ["default", "light", "contrast", "mono", "zen"]);
        assert_eq!(Theme::load("default", &dirs, Depth::Rgb).0.style(Role::Ok).fg, Some(Color::Named(4)));
    }
}
