//! What one look costs. Run by hand: `cargo test --release --test ops_liveness cost -- --ignored --nocapture`.

use std::fs;
use std::process::{Command, Stdio};

use worldkeep::model::ServerState;
use worldkeep::ops::liveness;

use crate::lab::{Running, save, setting};

/// Processor time of this thread, in nanoseconds.
fn spent() -> u64 {
    let line = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "starts 2,000 processes and measures"]
fn one_look_among_2000_processes() {
    let save = save();
    let start = || Command::new("sleep").arg("600").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let _crowd: Vec<Running> = (0..2000).map(|_| Running(start())).collect();
    let running = fs::read_dir("/proc").unwrap().flatten().filter(|e| e.path().join("fd").exists()).count();
    let mut looks: Vec<u64> = (0..21)
        .map(|_| {
            let before = spent();
            assert_eq!(liveness::look(&save.traces, &setting()).state, ServerState::Stopped);
            spent() - before
        })
        .collect();
    looks.sort_unstable();
    let milliseconds = |at: usize| looks[at] as f64 / 1e6;
    eprintln!(
        "{running} processes: median {:.1} ms of processor time, fastest {:.1}, slowest {:.1}",
        milliseconds(10),
        milliseconds(0),
        milliseconds(20)
    );
}
