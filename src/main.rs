//! The binary: arguments, hooks, hand-over to the command line or the browser.

use std::process::ExitCode;

use worldkeep::cli::{self, Next};
use worldkeep::config::Environment;

fn main() -> ExitCode {
    // Before everything else, so that the terminal's own hook wraps it. A second hook in one process cannot happen.
    let _ = color_eyre::install();
    let args: Vec<_> = std::env::args_os().collect();
    match cli::start(&args, Environment::of_process()) {
        Next::End(exit) => ExitCode::from(exit.code()),
        Next::Browse { config, request } => match worldkeep::tui::run(*config, *request) {
            Ok(code) => ExitCode::from(code),
            Err(error) => ExitCode::from(cli::terminal_failed(&error).code()),
        },
    }
}
