//! What went wrong with a name, in words.

use std::fmt;
use std::path::Path;

use rustix::io::Errno;

use super::failure::next_after;
use crate::model::plan::{Outcome, Reason, Refusal};
use crate::model::shown_path;

/// Something that could not be done.
#[derive(Debug)]
pub(super) struct Trouble {
    /// What, as the words after "Could not".
    pub(super) doing: String,
    pub(super) why: Why,
}

/// Why not.
#[derive(Debug)]
pub(super) enum Why {
    System(Errno),
    /// In words of our own, as the end of a sentence.
    Words(String),
}

/// For `map_err`: what the system said about an act on a path.
pub(super) fn at(act: &'static str, path: &Path) -> impl Fn(Errno) -> Trouble + Clone + use<> {
    let path = path.to_path_buf();
    move |error| Trouble { doing: format!("{act} '{}'", shown_path(&path)), why: Why::System(error) }
}

/// The same with words of our own.
pub(super) fn odd(act: &str, path: &Path, words: impl Into<String>) -> Trouble {
    Trouble { doing: format!("{act} '{}'", shown_path(path)), why: Why::Words(words.into()) }
}

impl Trouble {
    /// True when there was no room.
    pub(super) fn is_no_space(&self) -> bool {
        matches!(self.why, Why::System(Errno::NOSPC | Errno::DQUOT))
    }

    /// How an operation ends of which nothing was done yet.
    pub(super) fn before_anything(&self) -> Outcome {
        let reason = match self.why {
            Why::System(Errno::NOSPC | Errno::DQUOT) => Reason::NoSpace,
            Why::System(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Reason::NotPermitted,
            Why::System(Errno::LOOP | Errno::NOTDIR | Errno::XDEV) | Why::Words(_) => Reason::NoStage,
            Why::System(_) => return Outcome::Unchanged { why: self.to_string() },
        };
        let next = match self.why {
            Why::System(error) => next_after(&error.into()),
            Why::Words(_) => "",
        };
        Outcome::Refused(Refusal::new(reason, format!("{self} The save was not touched. {next}").trim_end()))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Could not {}: ", self.doing)?;
        match &self.why {
            Why::System(Errno::LOOP) => f.write_str("a link is part of the path."),
            Why::System(error) => write!(f, "{}.", std::io::Error::from(*error)),
            Why::Words(words) => write!(f, "{words}."),
        }
    }
}
