//! The whole program from outside: the real binary, with an environment of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails loudly")]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

mod commands;
mod config;
#[cfg(target_os = "linux")]
mod demo_saves;
mod docs;
mod help;
mod house;
mod json;
mod names;
mod operate;
#[cfg(target_os = "linux")]
mod past;
#[cfg(target_os = "linux")]
mod reports;
mod samples;
#[cfg(target_os = "linux")]
mod saves;
#[cfg(target_os = "linux")]
mod small_reports;
#[cfg(target_os = "linux")]
mod watch;
