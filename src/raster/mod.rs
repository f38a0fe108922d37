//! Pictures without a terminal: what a map shows, and how it becomes pixels.

mod chart;
mod picture;

pub use chart::{Chart, Ink, Mark, Square};
pub use picture::{Dot, Picture, View};
