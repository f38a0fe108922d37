//! Pictures without a terminal: what a map shows, and how it becomes pixels.

mod chart;

pub use chart::{Chart, Ink, Mark, Square};
