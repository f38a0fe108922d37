use std::fmt;

use crate::model::shown;

/// How a run ended, as the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or everything checked is whole.
    Done,
    /// Something is damaged, the output could not be written, or an operation failed.
    Damaged,
    /// The arguments or the configuration are wrong.
    Usage,
    /// Nothing matched.
    NothingMatched,
    /// An operation was not begun: nobody agreed, a server runs, or another reason of the closed list.
    Refused,
    /// An operation is done; something that is no longer needed could not be cleared away.
    CleanUpPending,
    /// Nothing is damaged, but not everything could be checked.
    Unchecked,
    /// Interrupted by the user.
    Interrupted,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Damaged => 1,
            Self::Usage => 2,
            Self::NothingMatched => 3,
            Self::Refused => 4,
            Self::CleanUpPending => 5,
            Self::Unchecked => 6,
            Self::Interrupted => 130,
        }
    }

    /// The one of two that a caller should learn about: damage first, then what was refused, what did not match, what
    /// is left to clear away, and what was not checked.
    #[must_use]
    pub(super) fn worse(self, other: Self) -> Self {
        let weight = |exit| match exit {
            Self::Done => 0,
            Self::Unchecked => 1,
            Self::CleanUpPending => 2,
            Self::NothingMatched => 3,
            Self::Refused => 4,
            Self::Damaged => 5,
            Self::Usage => 6,
            Self::Interrupted => 7,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

/// Why a command did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    /// What happened: whole sentences, one a line.
    pub(super) text: String,
    /// What to do next, one hint a line.
    pub(super) hints: Vec<String>,
}

impl Failure {
    pub(super) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self { exit, text: text.into(), hints: Vec::new() }
    }

    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, text)
    }

    pub(super) fn nothing(text: impl Into<String>) -> Self {
        Self::new(Exit::NothingMatched, text)
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    /// Line by line, with everything that could steer a terminal escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, line) in self.text.lines().enumerate() {
            writeln!(f, "{}{}", if i == 0 { "worldkeep: " } else { "  " }, shown(line))?;
        }
        for hint in &self.hints {
            writeln!(f, "  {}", shown(hint))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn damage_outranks_what_was_not_checked() {
        assert_eq!(Exit::Unchecked.worse(Exit::Damaged), Exit::Damaged);
        assert_eq!(Exit::Damaged.worse(Exit::Unchecked), Exit::Damaged);
        assert_eq!(Exit::Done.worse(Exit::Unchecked), Exit::Unchecked);
        assert_eq!(Exit::NothingMatched.worse(Exit::Unchecked), Exit::NothingMatched);
        assert_eq!(Exit::Done.worse(Exit::Done), Exit::Done);
        assert_eq!(Exit::CleanUpPending.worse(Exit::Refused), Exit::Refused);
        assert_eq!(Exit::Damaged.worse(Exit::Refused), Exit::Damaged);
    }
}
