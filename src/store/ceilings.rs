/// The most that is read or believed, in one place, with the reason for each number.
///
/// Two kinds: a *whole file* over its ceiling is not read and counts as unsupported (the configuration can raise
/// it); a *length inside a file* over its ceiling counts as damage, because nothing a game writes comes near it.
/// Every length is also held against the bytes that are really there before anything is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// One save or chunk file. 256 MB: the largest public Valheim worlds are near 100 MB.
    pub file: u64,
    /// A compressed block inside a file. 256 MB: it cannot be larger than its file.
    pub packed_block: u64,
    /// The same block inflated. 1024 MB: four times the packed ceiling, and far above any zone list.
    pub inflated_block: u64,
    /// One byte array of an object. 128 MB: the largest real one is a cartography table of about 4 MB.
    pub byte_array: u64,
    /// One text. 64 MB: signs and item lists stay under 100 KB.
    pub text: u64,
    /// Objects in one file. 50 million: at four bytes each they would fill the file ceiling.
    pub objects: u64,
    /// Entries of one folder or one archive. 1 million: a worlds folder holds some thousands.
    pub entries: u64,
    /// One file inside an archive, inflated. Equal to `file`, since the same readers get it.
    pub archived_file: u64,
    /// Everything inside one archive together, inflated. 16 GiB: a whole server's backup with many worlds.
    pub archive_total: u64,
    /// Inflated bytes per packed byte of one archived file. 1100: DEFLATE itself cannot pass 1032.
    pub archive_ratio: u64,
    /// Bytes of one path inside an archive. 1024: the longest real one is under 200.
    pub path_bytes: usize,
    /// Folders of one path inside an archive. 32: real ones have at most six.
    pub path_depth: usize,
    /// What a compressed tar may hold in memory at once while it is looked at. 512 MiB: two of the largest worlds.
    pub archive_memory: u64,
}

impl Default for Ceilings {
    fn default() -> Self {
        const MB: u64 = 1024 * 1024;
        Self {
            file: 256 * MB,
            packed_block: 256 * MB,
            inflated_block: 1024 * MB,
            byte_array: 128 * MB,
            text: 64 * MB,
            objects: 50_000_000,
            entries: 1_000_000,
            archived_file: 256 * MB,
            archive_total: 16 * 1024 * MB,
            archive_ratio: 1100,
            path_bytes: 1024,
            path_depth: 32,
            archive_memory: 512 * MB,
        }
    }
}
