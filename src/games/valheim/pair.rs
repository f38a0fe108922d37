//! The names of a world before 1.0: two files of one stem, and what a save leaves beside them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::model::FileEntry;

/// Which file of a pair a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suffix {
    /// Metadata.
    Fwl,
    /// World data.
    Db,
    /// Metadata of the save before.
    FwlOld,
    /// World data of the save before.
    DbOld,
    /// Metadata being written.
    FwlNew,
    /// World data being written.
    DbNew,
}

/// Whether a pair is the save itself, the one before it, or a write that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Age {
    Current,
    Old,
    New,
}

impl Suffix {
    /// The stem of a name and which file it is.
    pub(super) fn split(name: &OsStr) -> Option<(OsString, Self)> {
        let path = Path::new(name);
        let (inner, age) = match path.extension()?.to_str()? {
            "old" => (Path::new(path.file_stem()?), Age::Old),
            "new" => (Path::new(path.file_stem()?), Age::New),
            _ => (path, Age::Current),
        };
        let suffix = match (inner.extension()?.to_str()?, age) {
            ("fwl", Age::Current) => Self::Fwl,
            ("db", Age::Current) => Self::Db,
            ("fwl", Age::Old) => Self::FwlOld,
            ("db", Age::Old) => Self::DbOld,
            ("fwl", Age::New) => Self::FwlNew,
            ("db", Age::New) => Self::DbNew,
            _ => return None,
        };
        Some((inner.file_stem()?.to_owned(), suffix))
    }

    /// Which file a name is.
    pub(super) fn of(name: &OsStr) -> Option<Self> {
        Self::split(name).map(|(_, suffix)| suffix)
    }

    /// The metadata, not the world data.
    pub(super) fn is_metadata(self) -> bool {
        matches!(self, Self::Fwl | Self::FwlOld | Self::FwlNew)
    }

    /// Which save of the world it belongs to.
    pub(super) fn age(self) -> Age {
        match self {
            Self::Fwl | Self::Db => Age::Current,
            Self::FwlOld | Self::DbOld => Age::Old,
            Self::FwlNew | Self::DbNew => Age::New,
        }
    }
}

/// The metadata file and the world data file among the files of a layer.
pub(super) fn halves(files: &[FileEntry]) -> (Option<PathBuf>, Option<PathBuf>) {
    let find = |metadata: bool| {
        files
            .iter()
            .find(|f| f.path.file_name().and_then(Suffix::of).is_some_and(|s| s.is_metadata() == metadata))
            .map(|f| f.path.clone())
    };
    (find(true), find(false))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::Suffix;

    #[test]
    fn splits_the_names_of_a_pair() {
        let split = |name: &str| Suffix::split(OsStr::new(name)).map(|(stem, s)| (stem.into_string().unwrap(), s));
        assert_eq!(split("Mid.gard.fwl"), Some(("Mid.gard".into(), Suffix::Fwl)));
        assert_eq!(split("W.db.old"), Some(("W".into(), Suffix::DbOld)));
        assert_eq!(split("W.fwl.new"), Some(("W".into(), Suffix::FwlNew)));
        for other in ["W.db.backup", "_Dedicated.db.new_", ".fwl", "W.old", "W", "W.db.backup_auto_20240115"] {
            assert_eq!(split(other), None, "{other}");
        }
    }
}
