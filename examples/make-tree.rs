//! Makes a large tree of tiny saves: `cargo run --release --example make-tree -- DIR PROFILES WORLDS LAYERS`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

#[path = "../tests/support/tree.rs"]
mod tree;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<usize>> = args.get(1..).and_then(|n| n.iter().map(|n| n.parse().ok()).collect());
    let (Some(dir), Some([profiles, worlds, layers])) = (args.first(), numbers.as_deref()) else {
        eprintln!("usage: make-tree DIR PROFILES WORLDS LAYERS");
        return ExitCode::from(2);
    };
    match tree::tree(Path::new(dir), *profiles, *worlds, *layers) {
        Ok(made) => {
            println!(
                "{} profiles, {} worlds, {} layers, {} files, {} bytes",
                made.profiles, made.worlds, made.layers, made.files, made.bytes
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{dir} could not be filled: {error}");
            ExitCode::FAILURE
        }
    }
}
