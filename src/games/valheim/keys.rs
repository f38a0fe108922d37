//! The keys of the facts that the rules of this game read again.

/// The name stored inside.
pub(super) const INNER_NAME: &str = "name";
/// The world's seed as a number.
pub(super) const SEED_NUMBER: &str = "seed_number";
/// The version of the world's generator.
pub(super) const WORLD_GEN: &str = "world_gen";
/// The world's own id, as text.
pub(super) const UID: &str = "uid";
/// Objects in the save.
pub(super) const OBJECTS: &str = "objects";
/// Pieces that players built.
pub(super) const PIECES: &str = "pieces";
/// The time of day in the game, as `HH:MM`.
pub(super) const TIME_OF_DAY: &str = "time_of_day";
/// The day in the game.
pub(super) const DAY: &str = "day";
/// Which builds open it.
pub(super) const OPENS_WITH: &str = "opens_with";
