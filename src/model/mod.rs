//! Plain data about saves, without any input or output: what was found, how whole it is, and why.
//!
//! Every other room speaks in these types. A room may fill them, sort them or show them; none of them can reach a
//! file, a terminal or a clock by itself.

mod cancel;
mod facts;
mod finding;
mod hallmarks;
pub mod human;
mod layer;
pub mod outline;
pub mod plan;
mod profile;
mod server;
mod stamp;
mod text;
mod verdict;
mod world;

pub use cancel::Cancel;
pub use facts::{Fact, Facts, Value};
pub use finding::{Code, Effect, Finding, Place, Severity};
pub use hallmarks::{Hallmarks, Went};
pub use layer::{Checked, Container, FileEntry, Layer, LayerKind, Moved, Shape, Source};
pub use profile::{Found, GameId, Looked, Outcome, Profile};
pub use server::{Heard, Server, ServerLog, ServerState};
pub use stamp::{Clock, Stamp, StampFrom};
pub use text::{shown, shown_path};
pub use verdict::{Depth, Verdict};
pub use world::{World, WorldKind};
