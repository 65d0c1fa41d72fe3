//! Running the binary, and the small things that it is run on.
#![allow(dead_code, reason = "each test file uses its own part")]
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A network that trains in no time.
pub const TINY: &str = r#"{"width": 16, "heads": 2, "encoder_blocks": 1, "trunk": "S", "ffn_mult": 1,
    "ssm_state": 2, "ssm_rank": 2, "ssm_ffn_mult": 1, "perspective": "mover",
    "policy_head": "from_to", "policy_dim": 8, "attention_bias": true}"#;

/// Four short games: two results, a promotion, castling on both sides.
const GAMES: &str = "\
1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 1-0

1. d4 d5 2. c4 dxc4 3. e3 b5 4. a4 c6 5. axb5 cxb5 6. Qf3 1-0

1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 g6 6. Be3 Bg7 7. f3 O-O 0-1

1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O 5. d3 d6 1/2-1/2
";

/// The command `kibitzer` in `folder`.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kibitzer"));
    command.current_dir(folder).args(arguments);
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs `kibitzer` in `folder`.
pub fn kibitzer(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the binary starts")
}

/// Runs `kibitzer`, which must succeed, and returns its standard output.
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = kibitzer(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).expect("standard output is UTF-8")
}

/// A folder with `games.pgn`, `records` made of it, and `tiny.json`.
pub fn folder_with_records() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    fs::write(folder.path().join("tiny.json"), TINY).unwrap();
    succeed(folder.path(), &["--quiet", "pack", "games.pgn", "-o", "records"]);
    folder
}

/// A committed data file.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

/// The names in `folder`, hidden ones too, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The one line that the command must fail with, after the program's name.
pub fn mistake(folder: &Path, arguments: &[&str]) -> String {
    let output = kibitzer(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
    let line = stderr.strip_suffix('\n').expect("a whole line");
    assert!(!line.contains('\n'), "more than one line: {stderr}");
    line.strip_prefix("kibitzer: ").expect("the program's name").to_owned()
}
