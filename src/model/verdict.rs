use super::{Effect, Finding, Severity};

/// How far a check went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// L0: names and sizes only.
    #[default]
    Names,
    /// L1: headers and the game's own commit marker.
    Headers,
    /// L2: every byte that the format lets us check.
    Full,
}

impl Depth {
    /// The number used in JSON and in texts: 0, 1 or 2.
    pub fn level(self) -> u8 {
        match self {
            Self::Names => 0,
            Self::Headers => 1,
            Self::Full => 2,
        }
    }
}

/// Whether a save is whole, as far as it was looked at.
///
/// The order is the order of trouble: the verdict of a world or a profile is the greatest of its parts. Something
/// merely newer than we know is never called damaged, and something that we may not open is never called empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nobody looked yet.
    #[default]
    Unchecked,
    /// Whole, to the depth given beside it.
    Sound,
    /// Whole, with something that a person should know.
    Notes,
    /// Holds no finished save: never played, still being written, or interrupted.
    Unfinished,
    /// Written by a newer or an unknown version, or larger than the ceiling: not checked, not damaged.
    Unsupported,
    /// We are not allowed to read it.
    Unreadable,
    /// Something is missing or contradicts the format.
    Damaged,
}

impl Verdict {
    /// The verdict that follows from the findings of a check that looked at something.
    pub fn from_findings(findings: &[Finding]) -> Self {
        findings.iter().map(Self::of).max().unwrap_or(Self::Sound)
    }

    fn of(finding: &Finding) -> Self {
        match (finding.severity, finding.code.effect()) {
            (Severity::Note, _) => Self::Sound,
            (Severity::Warning, _) => Self::Notes,
            (Severity::Error, Effect::Damage) => Self::Damaged,
            (Severity::Error, Effect::Unsupported) => Self::Unsupported,
            (Severity::Error, Effect::Unreadable) => Self::Unreadable,
            (Severity::Error, Effect::Unfinished) => Self::Unfinished,
        }
    }

    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Sound => "sound",
            Self::Notes => "notes",
            Self::Unfinished => "unfinished",
            Self::Unsupported => "unsupported",
            Self::Unreadable => "unreadable",
            Self::Damaged => "damaged",
        }
    }

    /// The word shown to a person.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchecked => "not checked",
            Self::Sound => "whole",
            Self::Notes => "whole, with notes",
            Self::Unfinished => "no finished save",
            Self::Unsupported => "unknown version",
            Self::Unreadable => "not readable",
            Self::Damaged => "damaged",
        }
    }
}
