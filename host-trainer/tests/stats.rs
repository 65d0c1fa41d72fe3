//! `kibitzer stats`: every kind of file, a leak, a picture; and evaluations from outside as targets.
mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
};

use common::{TINY, fixture, folder_with_records, mistake, succeed};
use serde_json::Value;

#[test]
fn a_leak_between_files_is_found_and_drawn() {
    let folder = folder_with_records();
    let folder = folder.path();
    let text = succeed(folder, &["-q", "stats", "records", "--against", "games.pgn"]);
    assert!(text.starts_with("training records\n"), "{text}");
    assert!(text.contains("| different positions "), "{text}");
    assert!(text.contains("(100.00 %) are in games.pgn, too (100.00 % of it)"), "{text}");
    let library = fixture("library.jsonl.zst");
    let library = library.to_str().unwrap();
    let words = ["-q", "stats", library, "--against", "records", "--plot", "out.svg", "--json"];
    let found: Value = serde_json::from_str(&succeed(folder, &words)).unwrap();
    assert_eq!((&found["kind"], &found["positions"]), (&"labelled library".into(), &2701.into()));
    assert_eq!(found["depths"]["12/18"], 2701);
    assert!(found["shared"]["share"].as_f64().unwrap() < 0.05);
    let svg = fs::read_to_string(folder.join("out.svg")).unwrap();
    assert!(
        svg.starts_with("<svg") && svg.contains("legal moves, from") && svg.contains("records")
    );
    let suite = fixture("suite.epd");
    let text = succeed(folder, &["-q", "stats", suite.to_str().unwrap()]);
    assert!(text.starts_with("positions\n") && text.contains("| openings "), "{text}");
    assert_eq!(
        mistake(folder, &["stats", "none"]),
        "cannot read the file (no such file or directory), none: check the path and its permissions"
    );
    let bytes = fs::read(folder.join("records")).unwrap();
    fs::write(folder.join("cut"), &bytes[..500]).unwrap();
    let line = mistake(folder, &["stats", "cut"]);
    assert!(line.ends_with(", cut: make it again with kibitzer pack"), "{line}");
}

#[test]
fn evaluations_of_lichess_and_of_engines_in_their_games_are_learned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("tiny.json"), TINY).unwrap();
    let line = |fen: &str, pvs: &str| {
        format!("{{\"fen\":\"{fen}\",\"evals\":[{{\"pvs\":[{pvs}],\"knodes\":9,\"depth\":30}}]}}\n")
    };
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let text = line(start, "{\"cp\":35,\"line\":\"e2e4 e7e5\"},{\"cp\":-80,\"line\":\"g2g4\"}")
        + "not json\n"
        + &line("8/8/8/8/8/8/P6k/K7 b - -", "{\"mate\":12,\"line\":\"h2g3\"}")
        + &line(start, "{\"cp\":35,\"line\":\"e2e5\"}");
    fs::write(folder.join("evals.jsonl"), text).unwrap();
    let games = fixture("selfplay.pgn.zst");
    let games = games.to_str().unwrap();
    let train = |source: &str, run: &str| {
        let words = format!(
            "train distill {source} -o {run} --config tiny.json --steps 2 --batch 4 --device cpu \
             --held-out 0"
        );
        let words: Vec<&str> = words.split(' ').collect();
        let output = common::kibitzer(folder, &words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        stderr
    };
    let said = train("evals.jsonl", "a");
    assert!(said.contains("2 labelled positions"), "{said}");
    assert!(said.contains("skipped evals.jsonl line 2: expected ident"), "{said}");
    assert!(said.contains("skipped evals.jsonl line 4: the move e2e5 is not legal"), "{said}");
    let said = train(games, "b");
    let found: u64 = said
        .split(" labelled positions")
        .next()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(found > 20_000, "{said}");
    fs::write(folder.join("none.jsonl"), "{\"fen\": \"8/8\", \"evals\": []}\n").unwrap();
    let words = ["train", "distill", "none.jsonl", "-o", "c", "--config", "tiny.json"];
    let line = mistake(folder, &words);
    assert!(line.starts_with("no evaluation (none.jsonl line 1: "), "{line}");
}

/// Runs the command with `input` on its standard input.
fn piped(folder: &Path, words: &[&str], input: &[u8]) -> Output {
    let mut command = common::command(folder, words);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// What is read twice comes but once from a pipe.
#[test]
fn what_comes_through_a_pipe_is_what_the_file_holds() {
    let folder = folder_with_records();
    let folder = folder.path();
    fs::write(folder.join("tiny.json"), TINY).unwrap();
    let suite = fs::read(fixture("suite.epd")).unwrap();
    for (name, input) in [
        ("games.pgn", fs::read(folder.join("games.pgn")).unwrap()),
        ("records", fs::read(folder.join("records")).unwrap()),
        (
            fixture("selfplay.pgn.zst").to_str().unwrap(),
            fs::read(fixture("selfplay.pgn.zst")).unwrap(),
        ),
        (fixture("suite.epd").to_str().unwrap(), suite),
    ] {
        let expected = succeed(folder, &["-q", "stats", name]);
        let output = piped(folder, &["-q", "stats", "-"], &input);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{name}");
    }
    let games = fs::read(fixture("selfplay.pgn.zst")).unwrap();
    let words = "train distill - -o run --config tiny.json --steps 1 --batch 4 --device cpu";
    let output = piped(folder, &words.split(' ').collect::<Vec<_>>(), &games);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("evaluations, White's view, as "), "{said}");
    assert!(said.contains(" labelled positions in "), "{said}");
    assert!(said.contains("one move in each position, which is wanted with certainty"), "{said}");
}

#[test]
fn whose_view_evaluations_are_is_shown_said_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("tiny.json"), TINY).unwrap();
    let unclear = "1. e4 {+0.15/9} e5 {+0.15/9} 2. Nf3 {+0.10/9} Nc6 {0.00/9} 1/2-1/2\n";
    fs::write(folder.join("games.pgn"), unclear).unwrap();
    let words = "train distill games.pgn -o run --config tiny.json --steps 1 --batch 1 --device cpu \
                 --held-out 0 --allow-flat";
    let words: Vec<&str> = words.split_whitespace().collect();
    assert_eq!(
        mistake(folder, &words),
        "4 evaluations, of which none shows whose view it is, games.pgn: \
         give games of one kind at a time, or say it with --view white or --view mover"
    );
    succeed(folder, &[&["-q"], &words[..], &["--view", "mover"]].concat());
    let output = common::kibitzer(folder, &["stats", "games.pgn"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("of which none shows whose view it is; they are not counted"), "{said}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("best score"), "no scores");
}
