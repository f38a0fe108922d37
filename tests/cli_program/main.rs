//! The whole program from outside: the real binary, with an environment of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails loudly")]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

mod commands;
mod config;
mod docs;
mod help;
mod house;
mod json;
mod names;
mod samples;
