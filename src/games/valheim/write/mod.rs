//! Makes the bytes of Valheim saves: for demo saves, for tests, and for nothing that a game made.
//!
//! Everything here is a pure function from a [`WorldPlan`] to bytes. It was written from the description of the format
//! alone, apart from the readers in this crate, so that the two check each other. What real files prove is said in
//! `docs/formats/valheim.md`; the tests hold the writer against the real bytes that are public.

mod bytes;
mod folder;
mod object;
mod pair;
mod plan;

pub use folder::{Chunk, IndexEntry, brotli, gzip, index, marker};
pub use plan::{Location, Object, Player, RandomEvent, Rotation, WorldPlan, zone_of};

impl WorldPlan {
    /// The metadata file of a version: `.fwl` for 26 to 39, `.fwl2` for 40 and 41. A newer version gets the newest shape.
    pub fn metadata(&self, version: i32) -> Vec<u8> {
        pair::metadata(self, version)
    }

    /// The world data of a version from 26 to 39: `.db`.
    ///
    /// Versions 31 and 32 count properties in one byte and lose the rest of a larger count, as the game did.
    pub fn data(&self, version: i32) -> Vec<u8> {
        pair::data(self, version)
    }

    /// Both files of a world before 1.0, for a version from 26 to 39: `.fwl`, then `.db`.
    pub fn to_pair(&self, version: i32) -> (Vec<u8>, Vec<u8>) {
        (self.metadata(version), self.data(version))
    }

    /// The files of one generation of a 1.0 folder by name, for version 40 or 41, in the order in which the game writes
    /// them: `.ok` comes last. `chunk_version` is asked once for each chunk, in the order of the index.
    pub fn to_folder(
        &self,
        version: i32,
        generation: u32,
        chunk_version: impl FnMut(Chunk) -> u32,
    ) -> Vec<(String, Vec<u8>)> {
        folder::files(self, version, generation, chunk_version)
    }

    /// The world data of version 40 or 41 alone: `.db2`.
    pub fn folder_data(&self, version: i32) -> Vec<u8> {
        folder::data(self, version)
    }
}
