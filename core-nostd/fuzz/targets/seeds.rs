//! Writes what fuzzing starts from into `corpus/`: `cargo run --bin seeds`, in this folder.
//!
//! Model files of each small configuration, the fixtures' positions, some with a last move, and the
//! conversations of the tests.
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/configs/mod.rs"]
mod configs;
#[path = "../../tests/random/mod.rs"]
mod random;
#[path = "../../tests/transcript/mod.rs"]
#[allow(dead_code)] // conversations are only read here
mod transcript;

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
    for (number, name) in ["cpp-game", "cpp-state", "cpp-faults"].iter().enumerate() {
        write("protocols", name, &conversation(root, name, number as u8 % 2, text)?)?;
    }
    for (number, name) in ["pegasus-game", "pegasus-faults", "certabo-game"].iter().enumerate() {
        write(
            "protocols",
            name,
            &conversation(root, name, 2 + number as u8 / 2, transcript::bytes)?,
        )?;
    }
    write("board", "several", b"\n8/8/8/8/8/8/8/8 w - - 0 1\r\n4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1 last c7d5\r\n7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
}

/// What the app says in a conversation, as a case of the property: the protocol's choice first, and
/// what happens at the board as an event.
fn conversation(
    root: &Path,
    name: &str,
    choice: u8,
    bytes: impl Fn(&str) -> Vec<u8>,
) -> io::Result<Vec<u8>> {
    let path = root.join("../tests/transcripts").join(name).with_extension("txt");
    let mut case = vec![choice];
    for (number, line) in fs::read_to_string(path)?.lines().enumerate() {
        match line.split_once(' ').unwrap_or((line, "")) {
            (">", what) => case.extend(bytes(what)),
            ("*", _) => case.extend([0xf7, number as u8]),
            _ => {}
        }
    }
    Ok(case)
}

fn text(line: &str) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}
