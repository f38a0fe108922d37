use jiff::Timestamp;

/// Where the time of a layer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFrom {
    /// The name on disk, local wall time of the machine that wrote it.
    Name,
    /// The modification time of the game's commit marker (Valheim's `.ok`).
    Marker,
    /// A time stored inside the save.
    Inside,
    /// The newest modification time of the files.
    Mtime,
}

impl StampFrom {
    /// The word used in JSON; a closed list.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Marker => "marker",
            Self::Inside => "inside",
            Self::Mtime => "mtime",
        }
    }
}

/// When a layer was saved, and how we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The moment, in UTC.
    pub at: Timestamp,
    /// Where it was read.
    pub from: StampFrom,
}

/// The time of day for everything that asks; fixed in tests.
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Always this moment.
    Fixed(Timestamp),
}

impl Clock {
    /// The current moment.
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(at) => at,
        }
    }
}
