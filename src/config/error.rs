use std::fmt;
use std::path::PathBuf;

use crate::model::{shown, shown_path};

/// One thing that is wrong with the configuration, with its place and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, or none when it is in the environment or the arguments.
    pub file: Option<PathBuf>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The key, such as `ceilings.file`, or the variable.
    pub key: Option<String>,
    /// What is wrong, as the rest of a sentence without its full stop.
    pub reason: String,
    /// What to do, as whole sentences.
    pub next: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", shown_path(file))?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "`{}` ", shown(key))?;
        }
        write!(f, "{}.", shown(&self.reason))?;
        if !self.next.is_empty() {
            write!(f, " {}", shown(&self.next))?;
        }
        Ok(())
    }
}

/// Why a configuration was not taken over; nothing of its file is in force then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<Problem>,
    /// The file was named by an argument or a variable and is not there: no fall-back makes sense.
    pub missing: bool,
}

impl ConfigError {
    /// An error of one problem.
    pub fn one(problem: Problem) -> Self {
        Self { problems: vec![problem], missing: false }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
