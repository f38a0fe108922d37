//! The commands: one file each, plain text or JSON.
//!
//! [`start`] reads the arguments and either runs a command to its end or hands back what the browser needs. Nothing
//! here writes to a save by itself (that is what `ops` is for), and everything that comes from a disk is escaped before it
//! is printed.

mod args;
mod compare;
mod completions;
mod config;
mod demo;
mod detail;
mod explain;
mod failure;
mod interrupt;
mod json;
mod keys;
mod later;
mod list;
mod log;
mod look;
mod man;
mod operate;
mod output;
mod safe_json;
mod session;
mod show;
mod target;
mod themes;
mod tree;
mod verify;
mod watch;

#[cfg(test)]
mod sample;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Parser as _;

use self::args::{Cli, Command};
use self::failure::Failure;
use self::session::Session;
use crate::config::{Config, Environment};
use crate::scan::Request;

pub use self::demo::{DemoSaves, UnpackDemo};
pub use self::failure::Exit;

/// What is left to do after the arguments were read.
#[derive(Debug)]
pub enum Next {
    /// Open the browser.
    Browse {
        /// The configuration in force.
        config: Box<Config>,
        /// What to look at.
        request: Box<Request>,
    },
    /// End with this status.
    End(Exit),
}

/// Reads the arguments and runs what they ask for; only the browser is left to the caller.
pub fn start(args: &[OsString], env: Environment, unpack_demo: UnpackDemo) -> Next {
    if let Some(failure) = later::refuse(args) {
        return end(&failure);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return Next::End(usage(&error)),
    };
    match run(cli, env, unpack_demo) {
        Ok(next) => next,
        Err(failure) => end(&failure),
    }
}

fn run(cli: Cli, env: Environment, unpack_demo: UnpackDemo) -> Result<Next, Failure> {
    let Cli { global, paths, demo, command } = cli;
    let Some(command) = command else { return browse(global, &paths, demo.map(|dir| (dir, unpack_demo)), env) };
    match command {
        Command::Completions { shell } => return completions::run(shell).map(Next::End),
        Command::Man => return man::run().map(Next::End),
        _ => {}
    }
    let session = Session::new(global, env)?;
    let exit = match &command {
        Command::List { paths } => list::run(&session, paths),
        Command::Show { target } => show::run(&session, target),
        Command::Verify { targets } => verify::run(&session, targets),
        Command::Compare { left, right } => compare::run(&session, left, right),
        Command::Backup { targets, agree } => operate::backup(&session, targets, agree),
        Command::Restore { target, agree } => operate::restore(&session, target, agree),
        Command::Copy { target, dest, into, with_layers, overwrite, agree } => {
            let wanted = operate::CopyTo {
                dest: dest.as_deref(),
                into: into.as_deref(),
                with_layers: *with_layers,
                overwrite: *overwrite,
            };
            operate::copy(&session, target, wanted, agree)
        }
        Command::Rename { target, name, agree } => operate::rename(&session, target, name, agree),
        Command::Delete { targets, with_layers, agree } => operate::delete(&session, targets, *with_layers, agree),
        Command::Undo { operation, agree } => operate::undo(&session, operation.as_deref(), agree),
        Command::History { paths } => operate::history(&session, paths),
        Command::Purge { operations, older, agree } => operate::purge(&session, operations, *older, agree),
        Command::Recover { paths } => operate::recover(&session, paths),
        Command::Watch { paths } => watch::run(&session, paths),
        Command::Config => config::run(&session),
        Command::Keys => keys::run(&session),
        Command::Themes => themes::run(&session),
        Command::Completions { .. } | Command::Man => Ok(Exit::Done),
    }?;
    Ok(Next::End(exit))
}

/// The browser, or the list where no browser is possible or wanted.
fn browse(
    global: args::Global,
    paths: &[PathBuf],
    demo: Option<(Option<PathBuf>, UnpackDemo)>,
    env: Environment,
) -> Result<Next, Failure> {
    if !paths.is_empty() && !paths.iter().any(|path| path.symlink_metadata().is_ok()) {
        return Err(target::no_path(paths));
    }
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal() && !env.is_dumb();
    let list = global.json || !terminal;
    if list && !global.json && demo.is_none() {
        return Err(Failure::usage("The browser needs a terminal that can move its cursor, and there is none.")
            .hint(WITHOUT_TERMINAL));
    }
    let mut session = if list { Session::new(global, env)? } else { Session::for_browser(global, env)? };
    if let Some((dir, unpack)) = demo {
        demo::prepare(&mut session, dir, unpack)?;
    }
    if list {
        return list::run(&session, paths).map(Next::End);
    }
    let request = session.request(paths);
    Ok(Next::Browse { config: Box::new(session.config), request: Box::new(request) })
}

const WITHOUT_TERMINAL: &str =
    "For scripts and pipes there are `worldkeep list`, `show`, `verify` and `compare`, each with --json.";

fn end(failure: &Failure) -> Next {
    output::complain(&failure.to_string());
    Next::End(failure.exit)
}

/// Prints what the argument parser has to say: help and version on standard output, errors on standard error.
fn usage(error: &clap::Error) -> Exit {
    if error.use_stderr() {
        // The message quotes the arguments, which may hold anything.
        let text = error.render().to_string();
        let lines: Vec<String> = text.lines().map(crate::model::shown).collect();
        output::complain(&format!("{}\n", lines.join("\n")));
        return Exit::Usage;
    }
    // A closed pipe behind `--help` is no failure.
    let _ = error.print();
    Exit::Done
}

/// Says that the browser ended because the terminal failed.
pub fn terminal_failed(error: &std::io::Error) -> Exit {
    let failure = Failure::new(Exit::Damaged, format!("The terminal failed: {error}. Nothing was changed."))
        .hint(WITHOUT_TERMINAL);
    output::complain(&failure.to_string());
    failure.exit
}
