//! Every mistake of the user gives one line on standard error, exit status 2 and no output.
mod common;

use std::{fs, path::Path};

use common::{TINY, fixture, folder_with_records, mistake, names, succeed};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A folder with records and a run of two steps in `run`.
fn folder_with_run() -> tempfile::TempDir {
    let folder = folder_with_records();
    let train = "-q train bc records -o run --config tiny.json --steps 2 --batch 4 --device cpu";
    succeed(folder.path(), &words(train));
    folder
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn a_wrong_flag_is_named() {
    let folder = folder();
    assert_eq!(
        mistake(folder.path(), &words("pack games.pgn -o out --fast")),
        "unexpected argument '--fast' found, the command line: see kibitzer --help"
    );
    assert_eq!(mistake(folder.path(), &[]), "no command, the command line: see kibitzer --help");
}

#[test]
fn a_broken_fen_is_named() {
    let folder = folder();
    assert_eq!(
        mistake(folder.path(), &["analyse", "8/8/8 w - - 0 1"]),
        "the board field is broken, the FEN \"8/8/8 w - - 0 1\": \
         it needs eight ranks of eight squares, as in 8/8/8/8/8/8/8/8"
    );
    assert_eq!(
        mistake(folder.path(), &["analyze", "8/8/8/8/8/8/8/4K3 w - - 0 1"]),
        "Black has no king, the FEN \"8/8/8/8/8/8/8/4K3 w - - 0 1\": add one k to the board"
    );
}

#[test]
fn a_board_s_model_must_be_a_model_file() {
    let model = fixture("reference_tiny.safetensors");
    let arguments = ["analyse", "8/8/8/8/8/8/8/K1k5 w - - 0 1", "--board", "--model"];
    let line = mistake(Path::new("."), &[&arguments[..], &[model.to_str().unwrap()]].concat());
    let mend = ": a board's answer needs a .kbz; make it with kibitzer quantize";
    assert!(line.ends_with(mend), "{line}");
}

#[test]
fn an_empty_pgn_has_no_games() {
    let folder = folder();
    fs::write(folder.path().join("empty.pgn"), "").unwrap();
    assert_eq!(
        mistake(folder.path(), &words("pack empty.pgn -o records")),
        "no games, empty.pgn: give a PGN file with finished games"
    );
    fs::write(folder.path().join("cut.pgn"), "1. e4 e5 2. Nf").unwrap();
    assert_eq!(
        mistake(folder.path(), &words("pack cut.pgn -o records")),
        "no whole game (1 skipped; cut.pgn game 1: the text ends before it does), \
         cut.pgn: give a PGN file with finished games"
    );
    assert_eq!(names(folder.path()), ["cut.pgn", "empty.pgn"]);
}

#[test]
fn a_missing_file_is_named() {
    let folder = folder();
    let mend = "check the path and its permissions";
    assert_eq!(
        mistake(folder.path(), &words("pack none.pgn -o records")),
        format!("cannot read the file (no such file or directory), none.pgn: {mend}")
    );
    assert_eq!(
        mistake(folder.path(), &words("train bc none -o run")),
        format!("cannot read the file (no such file or directory), none: {mend}")
    );
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_unwritable_output_is_found_out_before_the_work() {
    let folder = folder_with_records();
    fs::write(folder.path().join("file"), "").unwrap();
    let mend = "choose a folder that exists, can be written and has room";
    // The games are missing too, but the output is looked at first.
    assert_eq!(
        mistake(folder.path(), &words("pack none.pgn -o file/records")),
        format!("cannot write there (not a directory), file: {mend}")
    );
    assert_eq!(
        mistake(folder.path(), &words("pack none.pgn -o .")),
        "the output is a folder, .: name a file in it"
    );
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o file/run")),
        format!("cannot write there (not a directory), file/run: {mend}")
    );
}

#[test]
fn records_cut_short_are_refused() {
    let folder = folder_with_records();
    let path = folder.path().join("records");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let line = format!(
        "{} bytes where the header promises {}, records: make it again with kibitzer pack",
        whole.len() - 20,
        whole.len()
    );
    assert_eq!(mistake(folder.path(), &words("train bc records -o run")), line);
    let model = fixture("reference_tiny.safetensors");
    assert_eq!(mistake(folder.path(), &["eval", model.to_str().unwrap(), "records"]), line);
    assert!(!folder.path().join("run").exists());
}

#[test]
fn a_damaged_record_is_blamed_on_its_file() {
    let folder = folder_with_records();
    let path = folder.path().join("records");
    let mut bytes = fs::read(&path).unwrap();
    bytes[64..72].fill(0);
    fs::write(&path, bytes).unwrap();
    let model = fixture("reference_tiny.safetensors");
    let model = model.to_str().unwrap();
    assert_eq!(
        mistake(folder.path(), &["-q", "eval", model, "records", "--device", "cpu"]),
        "a record holds no legal position, records: make it again with kibitzer pack"
    );
}

#[test]
fn a_wrong_model_is_refused() {
    let folder = folder_with_records();
    let mend = "name a file that kibitzer or the reference's save has written";
    fs::write(folder.path().join("net.safetensors"), "PK").unwrap();
    let line = mistake(folder.path(), &words("eval net.safetensors records"));
    assert!(line.starts_with("not a whole safetensors file ("), "{line}");
    assert!(line.ends_with(&format!("), net.safetensors: {mend}")), "{line}");
    assert_eq!(
        mistake(folder.path(), &words("eval . records")),
        "no model.safetensors in the folder, .: \
         name a model.safetensors, a checkpoint or a run's folder"
    );
    let golden = fixture("golden_mover.safetensors");
    let golden = golden.to_str().unwrap();
    let line = mistake(folder.path(), &["eval", golden, "records"]);
    assert!(line.contains(" tensors where its configuration asks for "), "{line}");
}

#[test]
fn a_model_of_another_architecture_is_refused_with_both_hashes() {
    let folder = folder_with_run();
    let path = folder.path().join("run/step-00000002/model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let key = b"\"hash\":\"";
    let at = bytes.windows(key.len()).position(|w| w == key).unwrap() + key.len();
    let own = String::from_utf8(bytes[at..at + 16].to_vec()).unwrap();
    bytes[at..at + 16].copy_from_slice(b"0000000000000000");
    fs::write(&path, bytes).unwrap();
    assert_eq!(
        mistake(folder.path(), &words("eval run records")),
        format!(
            "architecture hash 0000000000000000 where this program's tables give {own}, \
             run/step-00000002/model.safetensors: \
             name a file that kibitzer or the reference's save has written"
        )
    );
}

#[test]
fn a_model_file_must_be_whole_and_of_the_same_architecture() {
    let folder = folder_with_run();
    let folder = folder.path();
    let quantize = "-q quantize run games.pgn --held-out 1 -o net.kbz --device cpu";
    succeed(folder, &words(quantize));
    let whole = fs::read(folder.join("net.kbz")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(folder.join("flipped.kbz"), flipped).unwrap();
    let line = mistake(folder, &words("eval flipped.kbz records"));
    assert!(line.contains(", flipped.kbz: make it again with kibitzer quantize"), "{line}");
    let model = fixture("reference_tiny.safetensors");
    let model = model.to_str().unwrap();
    let against = "records --device cpu --limit 4 --against net.kbz";
    let line = mistake(folder, &[&["-q", "eval", model], &words(against)[..]].concat());
    assert!(line.starts_with("architecture hash "), "{line}");
    let end = ", net.kbz: quantize this very network and compare with that";
    assert!(line.contains(" where the other network has ") && line.ends_with(end), "{line}");
}

#[test]
fn a_run_resumes_with_its_own_settings_only() {
    let folder = folder_with_run();
    let resume = |flags: &str| {
        let line = format!("train bc records -o run --resume --device cpu {flags}");
        mistake(folder.path(), &words(&line))
    };
    fs::write(folder.path().join("wide.json"), TINY.replace("16", "32")).unwrap();
    let line = resume("--config wide.json");
    assert!(line.starts_with("architecture hash "), "{line}");
    let end =
        ", run/step-00000002: resume with the run's own configuration or choose another folder";
    assert!(line.contains(" where the run has ") && line.ends_with(end), "{line}");
    assert_eq!(
        resume("--batch 8"),
        "batch is 8 where the run has 4, run/step-00000002: \
         leave the flag out or choose another folder"
    );
    let games = fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    fs::write(folder.path().join("games.pgn"), games.replacen("7. Bb3 d6 ", "", 1)).unwrap();
    succeed(folder.path(), &words("-q pack games.pgn -o records"));
    assert_eq!(
        resume("--steps 4"),
        "other positions or targets than the run has learned from, records: \
         name the run's own or choose another folder"
    );
}

#[test]
fn a_run_is_neither_overwritten_nor_made_up() {
    let folder = folder_with_run();
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o run")),
        "there is a run already, run: go on with --resume or choose another folder"
    );
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o new --resume")),
        "no checkpoint to resume from, new: start the run without --resume"
    );
}

#[test]
fn wrong_settings_are_named() {
    let folder = folder_with_records();
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o run --preset huge")),
        "no such preset, --preset huge: use one of full, m7, m4, pico, demo"
    );
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o run --steps 0")),
        "a value out of range, --steps: give at least 1"
    );
    fs::write(folder.path().join("odd.json"), r#"{"width": 30, "heads": 4}"#).unwrap();
    assert_eq!(
        mistake(folder.path(), &words("train bc records -o run --config odd.json")),
        "configuration field heads must divide width, odd.json: \
         write a JSON object with the fields of a checkpoint's configuration"
    );
    assert!(!folder.path().join("run").exists());
}
