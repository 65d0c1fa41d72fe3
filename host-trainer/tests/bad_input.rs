//! Every mistake of the user gives one line on standard error, exit status 2 and no output.
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Runs the binary in `folder`.
fn kibitzer(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kibitzer"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the binary starts")
}

/// The one line that the command must fail with, after the program's name.
fn mistake(folder: &Path, arguments: &[&str]) -> String {
    let output = kibitzer(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
    let line = stderr.strip_suffix('\n').expect("a whole line");
    assert!(!line.contains('\n'), "more than one line: {stderr}");
    line.strip_prefix("kibitzer: ").expect("the program's name").to_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The files in `folder`, hidden ones too.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_wrong_flag_is_named() {
    let folder = folder();
    assert_eq!(
        mistake(folder.path(), &["pack", "games.pgn", "-o", "out", "--fast"]),
        "unexpected argument '--fast' found, the command line: see kibitzer --help"
    );
    assert_eq!(mistake(folder.path(), &[]), "no command, the command line: see kibitzer --help");
}

#[test]
fn an_empty_pgn_has_no_games() {
    let folder = folder();
    fs::write(folder.path().join("empty.pgn"), "").unwrap();
    assert_eq!(
        mistake(folder.path(), &["pack", "empty.pgn", "-o", "records"]),
        "no games, empty.pgn: give a PGN file with finished games"
    );
    fs::write(folder.path().join("cut.pgn"), "1. e4 e5 2. Nf").unwrap();
    assert_eq!(
        mistake(folder.path(), &["pack", "cut.pgn", "-o", "records"]),
        "no whole game (1 skipped; cut.pgn game 1: it ends without 1-0, 0-1 or 1/2-1/2), \
         cut.pgn: give a PGN file with finished games"
    );
    assert_eq!(files(folder.path()), ["cut.pgn", "empty.pgn"]);
}

#[test]
fn a_missing_file_is_named() {
    let folder = folder();
    assert_eq!(
        mistake(folder.path(), &["pack", "none.pgn", "-o", "records"]),
        "cannot read the file (no such file or directory), none.pgn: \
         check the path and its permissions"
    );
    assert!(files(folder.path()).is_empty());
}

#[test]
fn an_unwritable_output_is_found_out_before_the_work() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    // The games are missing too, but the output is looked at first.
    assert_eq!(
        mistake(folder.path(), &["pack", "none.pgn", "-o", "file/records"]),
        "cannot write there (not a directory), file: \
         choose a folder that exists, can be written and has room"
    );
    fs::create_dir(folder.path().join("folder")).unwrap();
    assert_eq!(
        mistake(folder.path(), &["pack", "none.pgn", "-o", "folder"]),
        "the output is a folder, folder: name a file in it"
    );
}
