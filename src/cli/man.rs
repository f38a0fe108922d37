//! `worldkeep man`: the manual page, with every command on it.

use std::io;

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::args::Cli;
use super::failure::{Exit, Failure};
use super::output;

/// Prints the page in the form that `man -l -` reads.
pub(super) fn run() -> Result<Exit, Failure> {
    let mut page = Vec::new();
    render(&mut page)
        .map_err(|error| Failure::new(Exit::Damaged, format!("The manual page could not be made: {error}.")))?;
    output::print(|out| out.write_all(&page))?;
    Ok(Exit::Done)
}

fn render(out: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let man = Man::new(command.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    out.extend_from_slice(b".SH COMMANDS\n");
    for sub in command.get_subcommands() {
        // The flags of every command stand once above; here only what is the command's own.
        let own = sub.clone().mut_args(|arg| {
            let known = arg.is_global_set() || arg.get_id() == "help";
            arg.hide(known)
        });
        let heading = format!(".SS \"worldkeep {}\"\n", sub.get_name());
        out.extend_from_slice(heading.as_bytes());
        let mut section = Vec::new();
        let man = Man::new(own);
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        out.extend(demoted(&section));
    }
    out.extend_from_slice(TAIL.as_bytes());
    Ok(())
}

/// The same page without its section headings, to stand under a heading of its own.
fn demoted(section: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(section);
    let lines =
        text.lines().filter(|line| !line.starts_with(".SH") && !line.starts_with(".ie") && !line.starts_with(".el"));
    lines.flat_map(|line| [line, "\n"]).flat_map(str::bytes).collect()
}

const TAIL: &str = r#".SH "EXIT STATUS"
.TP
0
Done, or everything that was checked is whole. list, show and compare end with 0 whatever the saves are like.
.TP
1
Something is damaged, an operation failed and the save is what it was, or the output could not be written.
.TP
2
Wrong usage or configuration.
.TP
3
Nothing matched.
.TP
4
An operation was refused: a server runs, nobody agreed, changes are switched off, or another reason that is told.
.TP
5
An operation is done, and something is left to clear away.
.TP
6
Nothing is damaged, but not everything could be checked: unreadable, newer than this version, or unfinished.
.TP
130
Interrupted.
.SH ENVIRONMENT
.TP
WORLDKEEP_CONFIG
The configuration file, instead of the usual one.
.TP
WORLDKEEP_THEME
The theme of the browser.
.TP
WORLDKEEP_LOG
A file for the log; without it none is written.
.TP
WORLDKEEP_READ_ONLY
1 takes away everything that could change a save.
.TP
XDG_STATE_HOME
Where it is remembered which saves had operations; ~/.local/state without it.
.TP
NO_COLOR
Any value: no colour.
.TP
COLUMNS
How wide plain text may be.
.TP
LC_ALL, LC_CTYPE, LANG
Whether signs are drawn in Unicode or in ASCII.
.TP
TZ
The zone of times on screen and in names of backups.
.TP
WORLDKEEP_NOW
The moment that counts as now, in RFC 3339, for tests.
.TP
WORLDKEEP_SYSTEM_ROOT
A folder that stands before absolute usual places, for tests.
.SH FILES
.TP
~/.config/worldkeep/config.toml
The configuration; see docs/config.md. It is read, never written.
.TP
~/.local/state/worldkeep
Where it is remembered which saves had operations.
.TP
.worldkeep
Beside the folder of the worlds: what operations have put aside, and the history.
"#;
