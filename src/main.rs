//! The binary: arguments, hooks, hand-over to the command line or the browser.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use worldkeep::cli::{self, DemoSaves, Next};
use worldkeep::config::Environment;
use worldkeep::demo;
use worldkeep::tui;

fn main() -> ExitCode {
    // Before everything else, so that the terminal's own hook wraps it. A second hook in one process cannot happen.
    let _ = color_eyre::install();
    let args: Vec<_> = std::env::args_os().collect();
    match cli::start(&args, Environment::of_process(), unpack_demo) {
        Next::End(exit) => ExitCode::from(exit.code()),
        Next::Browse { config, request } => match tui::run(*config, *request) {
            Ok(code) => ExitCode::from(code),
            Err(error) => ExitCode::from(cli::terminal_failed(&error).code()),
        },
    }
}

fn unpack_demo(dir: Option<&Path>, now: Timestamp, zone: &TimeZone) -> io::Result<DemoSaves> {
    let made = match dir {
        Some(dir) => demo::unpack(dir, now, zone)?,
        None => demo::temporary(now, zone)?,
    };
    Ok(DemoSaves { root: made.root, fresh: made.fresh })
}
