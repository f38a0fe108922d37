use std::ffi::OsString;

use crate::config::theme::Depth;
use crate::config::{ColorChoice, Config};

/// A terminal multiplexer between us and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mux {
    None,
    Tmux,
    Screen,
}

/// What the environment says about the terminal. Nothing is asked of the terminal itself, so nothing stalls and
/// nothing is left behind on a slow line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) depth: Depth,
    pub(super) unicode: bool,
    pub(super) ssh: bool,
    pub(super) mux: Mux,
    /// `TERM` names a terminal that cannot place a cursor.
    pub(super) dumb: bool,
}

impl Facts {
    /// Reads the environment through `var`.
    pub(super) fn new(config: &Config, var: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| var(name).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty());
        let term = text("TERM").unwrap_or_default();
        let mux = if text("TMUX").is_some() {
            Mux::Tmux
        } else if text("STY").is_some() {
            Mux::Screen
        } else {
            Mux::None
        };
        Self {
            depth: depth(config, &term, text("COLORTERM").as_deref(), text("NO_COLOR").is_some()),
            // The fonts of the Linux console lack most of our signs, whatever its locale says.
            unicode: !config.ascii.unwrap_or_else(|| term == "linux" || !utf8(&text)),
            ssh: text("SSH_CONNECTION").or_else(|| text("SSH_TTY")).is_some(),
            mux,
            dumb: cfg!(unix) && (term.is_empty() || term == "dumb"),
        }
    }
}

fn depth(config: &Config, term: &str, colorterm: Option<&str>, no_color: bool) -> Depth {
    let mono = match config.color {
        ColorChoice::Never => true,
        ColorChoice::Always => false,
        ColorChoice::Auto => no_color,
    };
    if mono || (config.color == ColorChoice::Auto && term.contains("mono")) || term.starts_with("vt") {
        return Depth::Mono;
    }
    let rgb = matches!(colorterm, Some("truecolor" | "24bit")) || term.ends_with("-direct") || cfg!(windows);
    if rgb {
        Depth::Rgb
    } else if term.contains("256") {
        Depth::Palette
    } else {
        Depth::Sixteen
    }
}

fn utf8(text: &impl Fn(&str) -> Option<String>) -> bool {
    let locale = text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")).unwrap_or_default();
    let upper = locale.to_ascii_uppercase();
    cfg!(windows) || upper.contains("UTF-8") || upper.contains("UTF8")
}

#[cfg(test)]
mod tests {
    use super::{Facts, Mux};
    use crate::config::theme::Depth;
    use crate::config::{ColorChoice, Config};

    fn facts(config: &Config, vars: &[(&str, &str)]) -> Facts {
        Facts::new(config, |name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into()))
    }

    #[cfg(unix)]
    #[test]
    fn the_environment_decides_the_colours() {
        let auto = Config::default();
        let depth = |config: &Config, vars: &[(&str, &str)]| facts(config, vars).depth;
        assert_eq!(depth(&auto, &[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(depth(&auto, &[("TERM", "xterm-256color")]), Depth::Palette);
        assert_eq!(depth(&auto, &[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Depth::Rgb);
        assert_eq!(depth(&auto, &[("TERM", "xterm"), ("NO_COLOR", "1")]), Depth::Mono);
        assert_eq!(depth(&auto, &[("TERM", "xterm"), ("NO_COLOR", "")]), Depth::Sixteen);
        assert_eq!(depth(&auto, &[("TERM", "vt100")]), Depth::Mono);
        let always = Config { color: ColorChoice::Always, ..Config::default() };
        assert_eq!(depth(&always, &[("TERM", "xterm"), ("NO_COLOR", "1")]), Depth::Sixteen);
        let never = Config { color: ColorChoice::Never, ..Config::default() };
        assert_eq!(depth(&never, &[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Depth::Mono);
    }

    #[cfg(unix)]
    #[test]
    fn the_first_locale_that_is_set_decides_the_charset() {
        let auto = Config::default();
        let unicode = |vars: &[(&str, &str)]| facts(&auto, vars).unicode;
        assert!(unicode(&[("LANG", "de_DE.UTF-8")]));
        assert!(unicode(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]));
        assert!(!unicode(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(!unicode(&[("TERM", "linux"), ("LANG", "C.UTF-8")]));
        assert!(!unicode(&[]));
        let forced = Config { ascii: Some(true), ..Config::default() };
        assert!(!facts(&forced, &[("LANG", "C.UTF-8")]).unicode);
    }

    #[cfg(unix)]
    #[test]
    fn a_multiplexer_an_ssh_line_and_a_dumb_terminal_are_seen() {
        let auto = Config::default();
        assert_eq!(facts(&auto, &[("TMUX", "/tmp/x")]).mux, Mux::Tmux);
        assert_eq!(facts(&auto, &[("STY", "1.x")]).mux, Mux::Screen);
        assert!(facts(&auto, &[("SSH_CONNECTION", "a b")]).ssh);
        assert!(facts(&auto, &[("TERM", "dumb")]).dumb && facts(&auto, &[]).dumb);
        assert!(!facts(&auto, &[("TERM", "linux")]).dumb);
    }
}
