//! Faults that belong to no single call: many operations one after the other, two programs at once, signals, full disks,
//! other mounts, other users.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it skips, and fails loudly"
)]

#[path = "../ops_kill/checker.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod checker;
mod disks;
#[path = "../support/drafts.rs"]
mod drafts;
#[path = "../ops_draft/lab.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod lab;
mod model;
mod overlay;
#[path = "../support/random.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod random;
#[path = "../ops_kill/scene.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod scene;
mod sequences;
mod signals;
#[path = "../ops_kill/trace.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod trace;
mod twice;
