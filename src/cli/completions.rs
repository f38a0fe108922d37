//! `worldkeep completions`: scripts that complete commands and flags.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;
use super::failure::{Exit, Failure};
use super::output;

/// Prints the script for one shell.
pub(super) fn run(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "worldkeep", &mut script);
    output::print(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}
