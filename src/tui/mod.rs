//! The browser: one loop, one state, pure `update` and `view`.
//!
//! An input thread, a watcher and workers send messages; `update` changes the state and returns effects; the runner
//! carries them out; `view` paints. Nothing is painted when nothing changed, and nothing wakes up when nothing
//! happens, but for one look a second at whether the terminal is still there.

mod cache;
mod clipboard;
mod dialog;
mod facts;
mod glyphs;
mod input;
mod layout;
mod operator;
mod prepare;
mod pump;
mod runner;
mod state;
mod style;
mod subject;
mod term;
mod text;
mod tree;
mod update;
mod view;
mod wire;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use facts::Facts;
use pump::Pump;
use runner::Runner;
use state::Model;

use crate::config::keys::Keymap;
use crate::config::theme::Role;
use crate::config::{Config, Environment};
use crate::model::shown;
use crate::ops::Setting;
use crate::scan::Request;

/// Runs the browser until the user leaves it; the exit code: 0, 129 after a hang-up, 130 and 143 after a signal.
///
/// Errors when there is no terminal that it could run on, or when that terminal cannot be set up.
pub fn run(config: Config, request: Request) -> io::Result<u8> {
    let started = Instant::now();
    let facts = Facts::new(&config, |name| std::env::var_os(name));
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || facts.dumb {
        let why = if facts.dumb { "this terminal cannot place a cursor" } else { "there is no terminal here" };
        let text = format!("the browser cannot start: {why}; \"worldkeep list\" prints the same as text");
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    let config = Arc::new(config);
    let (out, inbox) = channel();
    let setting = Setting {
        now: config.clock.now(),
        zone: config.zone.clone(),
        state: Environment::of_process().state_dir(),
        proc: "/proc".into(),
        read_only: config.read_only,
    };
    let mut runner = Runner::new(request, setting, out.clone(), Arc::clone(&config), facts.depth);
    // First of all: what it finds is wanted in the first frame.
    runner.scan(0);
    runner.recover();
    let (theme, theme_warnings) = runner.theme(&config.theme);
    let (keymap, key_warnings) = Keymap::new(&config.keys, config.read_only);
    let mut model = Model::new(facts, theme, keymap, config.zone.clone(), config.clock.now());
    let mut warnings: Vec<String> = config.warnings.iter().map(|problem| shown(&problem.to_string())).collect();
    warnings.extend(theme_warnings);
    warnings.extend(key_warnings);
    if let Some(first) = warnings.first() {
        let more = match warnings.len() - 1 {
            0 => String::new(),
            n => format!(" ({n} more: see \"worldkeep config\")"),
        };
        model.say(Role::Warn, format!("{first}{more}"));
    }
    term::install_hook();
    #[cfg(unix)]
    pump::read_signals(out.clone())?;
    model.size = term::size()?;
    let _guard = term::Guard::enter()?;
    let mut pump = Pump::new(model, inbox, runner, config.clock, started)?;
    let ended = pump.first_frame().and_then(|()| pump::read_terminal(out)).and_then(|()| pump.run());
    pump.runner.stop();
    // A write that fails means that the terminal is gone.
    let code = ended.unwrap_or(pump::GONE);
    if code == pump::GONE {
        term::Guard::forget();
    }
    Ok(code)
}
