//! How far an operation is, on a terminal and at most four times a second.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use super::super::output;
use super::super::session::Session;
use crate::model::human::size;
use crate::model::plan::Draft;
use crate::model::shown_path;
use crate::ops::tree::Progress;

const BETWEEN: Duration = Duration::from_millis(250);

/// One line on standard error that is written over again and again.
pub(super) struct Line {
    wanted: bool,
    total: u64,
    width: usize,
    ascii: bool,
    said: Option<Instant>,
}

impl Line {
    pub(super) fn new(session: &Session, draft: &Draft) -> Self {
        let wanted = !session.quiet && io::stderr().is_terminal() && !session.env.is_dumb();
        let width = session.look.width.unwrap_or(80).saturating_sub(1);
        Self { wanted, total: draft.bytes, width, ascii: session.look.ascii, said: None }
    }

    pub(super) fn say(&mut self, at: Progress<'_>) {
        if !self.wanted || self.said.is_some_and(|said| said.elapsed() < BETWEEN) {
            return;
        }
        self.said = Some(Instant::now());
        let text = format!("{} of {}: {}", size(at.bytes), size(self.total), shown_path(at.path));
        let look = super::super::look::Look { ascii: self.ascii, ..Default::default() };
        output::complain(&format!("\r\x1b[K{}", look.cut(&text, self.width)));
    }

    pub(super) fn end(&self) {
        if self.said.is_some() {
            output::complain("\r\x1b[K");
        }
    }
}
