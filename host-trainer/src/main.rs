//! The `kibitzer` command line.
fn main() {}
