/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know; changes no verdict.
    Note,
    /// A person should read it before acting; a whole save becomes whole with notes.
    Warning,
    /// The save is not whole, or could not be looked at.
    Error,
}

impl Severity {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding of severity error says about the save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is damaged.
    Damage,
    /// It is newer, unknown or too large: not checked.
    Unsupported,
    /// We may not or cannot read it.
    Unreadable,
    /// It holds no finished save.
    Unfinished,
}

macro_rules! codes {
    ($($name:ident $text:literal $effect:ident $meaning:literal;)*) => {
        /// What was found, as a word for scripts. The list is closed and stands in `docs/json.md`, which a test
        /// compares with this one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $name,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word used in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            /// What an error of this code says about the save.
            pub fn effect(self) -> Effect {
                match self { $(Self::$name => Effect::$effect,)* }
            }
        }
    };
}

codes! {
    // What the bytes say.
    MissingFile "missing-file" Damage "A file that the save needs is not there.";
    EmptyFile "empty-file" Damage "A file that the save needs holds no bytes.";
    Truncated "truncated" Damage "A file or a block ends before its content does.";
    BadLength "bad-length" Damage "A length or a count cannot be right: negative, or more than the bytes that are left.";
    OverCeiling "over-ceiling" Damage "A length or a count inside a file is over its ceiling.";
    BadValue "bad-value" Damage "A value is none that the format allows.";
    BadText "bad-text" Damage "A text inside a file is not UTF-8.";
    TrailingBytes "trailing-bytes" Damage "Bytes are left over after the end of the content.";
    LengthMismatch "length-mismatch" Damage "A file says another length than it has.";
    CountMismatch "count-mismatch" Damage "Two places of one save give different counts.";
    VersionMismatch "version-mismatch" Damage "Files of one save give different versions.";
    BadChecksum "bad-checksum" Damage "A checksum in the file does not match its bytes.";
    BadCompression "bad-compression" Damage "A compressed block cannot be inflated.";
    SectorMismatch "sector-mismatch" Damage "An object's stored sector is not where its position lies.";
    PositionRange "position-range" Damage "An object lies where no world reaches, or at no number.";
    WrongChunk "wrong-chunk" Damage "An object lies outside the area of its chunk file.";
    OverlappingChunks "overlapping-chunks" Damage "The index covers one area twice, so its objects come twice.";
    NotReached "not-reached" Damage "A part could not be reached because of damage before it.";
    NewestIncomplete "newest-incomplete" Damage "The newest generation has its commit marker but lacks another part.";
    Vanished "vanished" Damage "A file went away while it was read, and no newer save replaces it.";
    BadArchive "bad-archive" Damage "An archive is broken.";
    // What could not be checked.
    NewerVersion "newer-version" Unsupported "Written by a newer version than is known here.";
    OlderVersion "older-version" Unsupported "Written by an older version than is known here.";
    FileTooLarge "file-too-large" Unsupported "A whole file is over its ceiling; the configuration can raise it.";
    HostileArchive "hostile-archive" Unsupported "An archive holds an entry that no save needs and that could do harm; the archive is refused.";
    UnsupportedArchive "unsupported-archive" Unsupported "An archive uses encryption or a compression that is not known here.";
    NoPermission "no-permission" Unreadable "We are not allowed to read it.";
    ReadFailed "read-failed" Unreadable "The system could not read it.";
    SpecialFile "special-file" Unreadable "It is a pipe, a socket or a device, or a link that leads nowhere, and was not opened.";
    // What is not finished.
    NoFinishedSave "no-finished-save" Unfinished "It holds no finished save.";
    NeverPlayed "never-played" Unfinished "A new world that was never saved.";
    SaveInProgress "save-in-progress" Unfinished "A save is being written now.";
    SaveInterrupted "save-interrupted" Unfinished "A save was begun and never finished.";
    // What a person should know.
    MetadataMissing "metadata-missing" Damage "The world data is there without its metadata file.";
    DataMissing "data-missing" Damage "The metadata file is there without its world data.";
    SeedRecovered "seed-recovered" Damage "The seed was worked out from the objects, since no metadata gives it.";
    OrphanChunk "orphan-chunk" Damage "A chunk file that the index does not name; the game deletes it at its next load.";
    ExtraFile "extra-file" Damage "A file that the game does not expect there, with what it would do about it.";
    HiddenPair "hidden-pair" Damage "An older pair of files is hidden by the folder of the same name.";
    NameDiffers "name-differs" Damage "The name inside differs from the name on disk.";
    CaseTwin "case-twin" Damage "Two names differ only in upper and lower case.";
    DatedCopy "dated-copy" Damage "The name looks like a dated copy of another world.";
    ConvertsOnSave "converts-on-save" Damage "A 1.0 server converts this world at its next save, one way.";
    OtherWorld "other-world" Damage "A layer is of another world: its seed or its id differs from the live one.";
    LiveSmaller "live-smaller" Damage "The live state is much smaller or much younger than one of its layers.";
    NeverVisited "never-visited" Damage "Only a server's idle point was ever loaded: no player was there.";
    OldFolder "old-folder" Damage "The world lies in the folder that current servers do not read.";
    NestedWorld "nested-world" Damage "A world lies deeper than where the game expects one.";
    MapCacheOnly "map-cache-only" Damage "A folder with only the map cache of a world that is stored elsewhere.";
    JunkFolder "junk-folder" Damage "A folder that is no world lies where the game scans for worlds.";
    OrphanLayers "orphan-layers" Damage "Layers of a world that has no live state here.";
    PruneRisk "prune-risk" Damage "The game prunes this kind of layer.";
    OddName "odd-name" Damage "A name that is no text, or that a game or a system cannot hold.";
    NotWritable "not-writable" Unreadable "We may read the save and not write where it lies, so operations on it would be refused.";
    TooMany "too-many" Unsupported "More entries than the ceiling; the rest was not looked at.";
}

/// Where a finding is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as text for eyes, relative to the layer's store.
    pub file: Option<String>,
    /// Bytes from the start of the file, or of the inflated block where the text says so.
    pub offset: Option<u64>,
    /// The number of the object in its file, from 0.
    pub object: Option<u64>,
    /// The chunk or region, as the game names it.
    pub chunk: Option<String>,
    /// A map square, in the game's own grid.
    pub square: Option<(i32, i32)>,
}

/// One thing that was found, with its place and the next step for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub severity: Severity,
    /// What it is, for scripts.
    pub code: Code,
    /// Where it is.
    pub place: Place,
    /// What it is, for people: whole sentences, safe to print.
    pub text: String,
    /// What to do next; empty when nothing needs doing.
    pub next: String,
}

impl Finding {
    /// A finding without a place yet.
    pub fn new(severity: Severity, code: Code, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self { severity, code, place: Place::default(), text: text.into(), next: next.into() }
    }

    /// An error.
    pub fn error(code: Code, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, text, next)
    }

    /// A warning.
    pub fn warning(code: Code, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, text, next)
    }

    /// A note.
    pub fn note(code: Code, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, text, next)
    }

    /// The same, in a file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.place.file = Some(file.into());
        self
    }

    /// The same, at a byte.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.place.offset = Some(offset);
        self
    }

    /// The same, at an object.
    #[must_use]
    pub fn object(mut self, number: u64) -> Self {
        self.place.object = Some(number);
        self
    }

    /// The same, in a chunk.
    #[must_use]
    pub fn chunk(mut self, chunk: impl Into<String>) -> Self {
        self.place.chunk = Some(chunk.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Code;

    #[test]
    fn codes_are_distinct_words() {
        let words: HashSet<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        for word in words {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{word}");
        }
    }
}
