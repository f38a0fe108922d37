//! worldkeep: a terminal browser for the saves of game servers.
//!
//! The map of the crate; arrows point one way only, and a room never imports from a room to its left:
//!
//! ```text
//! main -> cli, tui -> config -> scan -> games -> raster, store -> model
//! main -> demo -> games
//! ops -> model
//! ```
//!
//! - [`model`]: plain data about saves, no input or output.
//! - [`store`]: read-only access to a save in a folder, a zip or a tar, with ceilings.
//! - [`raster`]: pictures without a terminal.
//! - [`games`]: what each game does with its files, behind one trait.
//! - [`scan`]: finds profiles, walks and watches them.
//! - [`ops`]: copies saves faithfully and proves it; runs plans that a person confirmed, as far as it is built.
//! - [`config`]: file, environment and arguments merged; actions, keys and themes.
//! - [`cli`]: the commands, as text or JSON.
//! - [`tui`]: the browser.
//! - [`demo`]: saves that were made up, to look around in.
//! - [`sys`]: the few system calls that no library wraps.

pub mod cli;
pub mod config;
pub mod demo;
pub mod games;
pub mod model;
pub mod ops;
pub mod raster;
pub mod scan;
pub mod store;
pub mod sys;
pub mod tui;
