//! Copies a folder as operations do and prints what that took, for `benches/copy.py`.
//!
//!     copy-tree FROM TO [by-amount|singly|at-once]
//!
//! TO must not exist; it becomes a folder with a copy of FROM in it. Prints the seconds of the copy, which ends when it
//! is durable, the seconds of the proof, and whether they are equal.

#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people who measure")]
fn main() -> std::process::ExitCode {
    match linux::run() {
        Ok(line) => {
            println!("{line}");
            std::process::ExitCode::SUCCESS
        }
        Err(words) => {
            eprintln!("copy-tree: {words}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use worldkeep::model::Cancel;
    use worldkeep::ops::Root;
    use worldkeep::ops::compare::{Pair, compare};
    use worldkeep::ops::tree::{Flush, Order, copy};

    pub(super) fn run() -> Result<String, String> {
        let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
        let (from, to, flush) = match arguments.as_slice() {
            [from, to] => (from, to, Flush::ByAmount),
            [from, to, how] if how == Path::new("by-amount") => (from, to, Flush::ByAmount),
            [from, to, how] if how == Path::new("singly") => (from, to, Flush::Singly),
            [from, to, how] if how == Path::new("at-once") => (from, to, Flush::AtOnce),
            _ => return Err("usage: copy-tree FROM TO [by-amount|singly|at-once]".to_owned()),
        };
        let open = |path: &Path| Root::open(path.parent().unwrap_or(path)).map_err(|failure| failure.to_string());
        let (source, parent) = (open(from)?, open(to)?);
        let items = [from.file_name().unwrap_or_default().to_owned()];
        let stage = to.file_name().unwrap_or_default();
        let cancel = Cancel::new();
        let start = Instant::now();
        let order = Order { source: &source, items: &items, parent: &parent, stage, flush };
        let copied = copy(&order, &cancel, &mut |_| {}).map_err(|failure| failure.to_string())?;
        let copying = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let proof = compare(&Pair { source: &source, items: &items, parent: &parent, stage }, &cancel);
        let proving = start.elapsed().as_secs_f64();
        let (files, at_once, equal) = (copied.files, copied.flushed_at_once, proof.equal());
        Ok(format!("copy {copying:.3} proof {proving:.3} files {files} at_once {at_once} equal {equal}"))
    }
}
