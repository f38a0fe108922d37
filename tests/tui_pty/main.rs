//! The real program in a pseudo-terminal: what a person at the other end would see.
//!
//! Nothing here measures time. Each wait is for a condition of the screen or the process, with a generous limit.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test fails loudly")]

mod operations;
mod terminal;

use std::process::{Command, Stdio};
use std::time::Duration;

use terminal::{Look, Start, Terminal};

#[test]
fn the_first_screen_shows_a_world_with_its_verdict() {
    let mut term = Terminal::demo();
    term.wait("a whole world", |screen| screen.text().lines().any(|line| line.contains('✓') && line.contains("whole")));
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn the_terminal_is_given_back_as_it_was() {
    let mut term = Terminal::demo();
    term.wait("the alternate screen", |screen| screen.alternate_screen() && screen.hide_cursor());
    term.keys("q");
    assert_eq!(term.ended(), 0);
    term.wait("the first screen again", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
    });
}

#[test]
fn a_terminate_signal_gives_the_terminal_back() {
    let mut term = Terminal::demo();
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    term.signal(rustix::process::Signal::TERM);
    assert_eq!(term.ended(), 143);
    term.wait("the first screen again", |screen| !screen.alternate_screen() && !screen.hide_cursor());
}

#[test]
fn no_question_is_asked_of_the_terminal() {
    let mut term = Terminal::demo();
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    term.keys("jjq");
    assert_eq!(term.ended(), 0);
    let written = term.written();
    for question in ["\x1b[c", "\x1b[0c", "\x1b[6n", "\x1b[5n", "\x1b]11;?", "\x1b[>c", "\x1b[?u", "\x1b[14t"] {
        assert!(!written.contains(question), "{question:?}");
    }
}

#[test]
fn an_arrow_key_in_two_pieces_moves_the_selection_and_does_nothing_else() {
    let mut term = Terminal::demo();
    term.wait("a selection", |screen| screen.selected().is_some());
    term.settle();
    term.keys("g");
    term.wait("the first line", |screen| screen.selected() == Some(2));
    for pause in [1, 5, 20] {
        let before = term.look(Look::selected).unwrap();
        term.keys("\x1b");
        std::thread::sleep(Duration::from_millis(pause));
        term.keys("[B");
        term.wait("one line down", |screen| screen.selected() == Some(before + 1));
    }
    term.settle();
    let last = term.look(|screen| screen.text().lines().last().unwrap_or_default().to_owned());
    assert!(last.contains("? help") && !last.contains("not in this version"), "{last}");
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn a_storm_of_sizes_leaves_a_whole_screen() {
    let mut term = Terminal::demo();
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    for (columns, rows) in [(80, 24), (40, 10), (20, 5), (10, 3), (5, 2), (2, 1), (1, 1), (200, 60), (120, 40)] {
        term.resize(columns, rows);
    }
    term.wait("a screen of the last size", |screen| {
        let text = screen.text();
        text.lines().count() == 40 && text.contains("╭[Saves]") && text.contains("╭ Map") && text.contains("? help")
    });
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_continuing_paints_everything_again() {
    let mut term = Terminal::demo();
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    term.keys("\x1a");
    term.wait("the first screen", |screen| !screen.alternate_screen());
    if !term.stopped() {
        eprintln!("skipped: /proc does not tell here whether a process is stopped");
        term.signal(rustix::process::Signal::KILL);
        return;
    }
    term.signal(rustix::process::Signal::CONT);
    term.wait("everything again", |screen| screen.alternate_screen() && screen.text().contains("╭[Saves]"));
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn keys_that_come_at_once_are_all_taken() {
    let mut term = Terminal::demo();
    term.wait("a selection", |screen| screen.selected().is_some());
    term.settle();
    term.keys(&"k".repeat(200));
    term.wait("the first line", |screen| screen.selected() == Some(2));
    term.keys("jjjkk/zz\x7f\x7f\r");
    term.wait("the second line", |screen| screen.selected() == Some(3));
    term.keys("q");
    assert_eq!(term.ended(), 0);
}

#[test]
fn it_ends_when_the_terminal_goes_away() {
    let mut term = Terminal::demo();
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    term.hang_up();
    assert_ne!(term.ended(), 0);
}

#[test]
fn it_ends_when_the_terminal_goes_away_and_no_signal_says_so() {
    let there = Command::new("setsid").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no setsid here");
        return;
    }
    let mut term = Terminal::start(&Start { wrapper: &["setsid", "--wait"], ..Start::default() });
    term.wait("a first screen", |screen| screen.text().contains("╭[Saves]"));
    term.hang_up();
    // The wrapper ends by the hang-up; whether the program ended is seen by its own process.
    term.gone();
}

#[test]
fn no_color_and_ascii_are_kept() {
    let start = Start { env: &[("NO_COLOR", "1"), ("LANG", "C")], ..Start::default() };
    let mut term = Terminal::start(&start);
    term.wait("a frame of ASCII", |screen| screen.text().contains("+[Saves]") && screen.text().contains("whole"));
    term.settle();
    term.keys("q");
    assert_eq!(term.ended(), 0);
    let written = term.written();
    assert!(written.is_ascii());
    for color in ["\x1b[3", "\x1b[4"] {
        let colored = written.match_indices(color).any(|(at, _)| {
            written[at..].split_once('m').is_some_and(|(code, _)| code.len() > 3 && !code.contains(['H', 'C', 'J']))
        });
        assert!(!colored, "{color:?}");
    }
}

#[test]
fn without_a_terminal_there_is_a_clear_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_worldkeep")).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains("worldkeep list"), "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_dumb_terminal_is_refused_with_a_hint() {
    let start = Start { env: &[("TERM", "dumb")], demo: false, ..Start::default() };
    let mut term = Terminal::start(&start);
    assert_ne!(term.ended(), 0);
    term.wait("the hint", |screen| screen.text().contains("worldkeep list"));
}
