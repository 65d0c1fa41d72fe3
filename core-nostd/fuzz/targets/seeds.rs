//! Writes what fuzzing starts from into `corpus/`: `cargo run --bin seeds`, in this folder.
//!
//! Model files of each small configuration, and the fixtures' positions, some with a last move.
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/configs/mod.rs"]
mod configs;
#[path = "../../tests/random/mod.rs"]
mod random;

use std::{fs, io, path::Path};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root.join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    for (number, config) in configs::configs().iter().enumerate() {
        for (kind, wild) in [("plain", false), ("wild", true)] {
            write("kbz", &format!("{kind}-{number}"), &common::file(config, wild, 1))?;
        }
    }
    let fixtures = root.join("../../fixtures");
    for (file, step) in [("positions.fen", 40), ("crowded.fen", 20), ("explained.fen", 10)] {
        let text = fs::read_to_string(fixtures.join(file))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (number, line) in lines.step_by(step).enumerate() {
            let name = format!("{}-{number}", file.trim_end_matches(".fen"));
            write("board", &name, line.as_bytes())?;
            let fen = line.split(" last ").next().unwrap_or(line);
            write("fen", &name, fen.as_bytes())?;
        }
    }
    write("board", "several", b"\n8/8/8/8/8/8/8/8 w - - 0 1\r\n4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1 last c7d5\r\n7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
}
