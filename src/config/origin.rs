use std::collections::BTreeMap;
use std::fmt;

/// Where a value came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// It is built in.
    #[default]
    BuiltIn,
    /// The file, at a line.
    File(usize),
    /// A variable of the environment.
    Variable(&'static str),
    /// An argument.
    Argument(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(line) => write!(f, "file, line {line}"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Argument(flag) => write!(f, "argument {flag}"),
        }
    }
}

/// Where each value came from, by key; a key that is not there is built in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Remembers where the value of a key came from.
    pub fn set(&mut self, key: impl Into<String>, origin: Origin) {
        self.0.insert(key.into(), origin);
    }

    /// Where the value of a key came from.
    pub fn get(&self, key: &str) -> Origin {
        self.0.get(key).copied().unwrap_or_default()
    }
}
