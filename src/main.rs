//! The binary: arguments, hooks, hand-over to the command line or the browser.

fn main() {}
