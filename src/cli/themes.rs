//! `worldkeep themes`: the themes that the browser can use.

use serde_json::json;

use super::failure::{Exit, Failure};
use super::look::Meaning;
use super::session::Session;
use super::{output, safe_json};
use crate::config::theme::Theme;
use crate::model::{shown, shown_path};

/// Lists the themes by name, the one in force marked.
pub(super) fn run(session: &Session) -> Result<Exit, Failure> {
    let config = &session.config;
    let names = Theme::names(&config.theme_dirs);
    if !names.contains(&config.theme) && !session.quiet {
        let theme = shown(&config.theme);
        output::complain(&format!("worldkeep: There is no theme \"{theme}\"; the browser uses \"default\".\n"));
    }
    output::print(|out| {
        if session.json {
            let dirs: Vec<_> = config.theme_dirs.iter().map(|dir| dir.to_string_lossy()).collect();
            let themes = json!({ "schema": 1, "theme": config.theme, "themes": names, "folders": dirs });
            return safe_json::write(out, &themes);
        }
        for name in &names {
            let mark = if *name == config.theme { "*" } else { " " };
            writeln!(out, "{mark} {}", shown(name))?;
        }
        for dir in &config.theme_dirs {
            let line = format!("Your own themes go into {}.", shown_path(dir));
            writeln!(out, "{}", session.look.paint(Meaning::Muted, &line))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
