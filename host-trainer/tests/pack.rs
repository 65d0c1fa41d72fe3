//! `kibitzer pack`: what the user sees of filters, splits, shards and bad input.
mod common;

use std::{fs, io::Write as _, path::Path, process::Stdio};

use common::{command, fixture, kibitzer, mistake, names, succeed};

/// Runs `pack` with these words and returns what it says, line by line.
fn said(folder: &Path, words: &str) -> Vec<String> {
    let words: Vec<&str> = words.split(' ').collect();
    let output = kibitzer(folder, &words);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words:?}: {text}");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn what_is_left_out_is_counted_with_the_first_three_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
        [WhiteElo \"2500\"]\n[BlackElo \"2300\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
        [WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
        [Variant \"Chess960\"]\n\n1. e4 1-0\n\n\
        [WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n\n1. e4 -- 1-0\n\n\
        [WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n\n1. Qh5 1-0\n\n\
        [WhiteElo \"2500\"]\n[BlackElo \"2400\"]\n\n1. e4 e5 2. N";
    fs::write(folder.path().join("games.pgn"), text).unwrap();
    assert_eq!(
        said(folder.path(), "pack games.pgn -o records --elo 2400.. --held-out 0"),
        [
            "INFO 6 positions of 2 games; 1 repeated games left out, 4 skipped",
            "INFO not asked for: 1 by rating",
            "WARN skipped games.pgn game 4: the variant Chess960 is not read",
            "WARN skipped games.pgn game 5: a null move after 1 half-moves",
            "WARN skipped games.pgn game 6: Qh5 after 0 half-moves is not legal",
            "INFO 3 different positions stand for 3 moves of 1 games; 0 held out",
        ]
    );
    assert_eq!(names(folder.path()), ["games.pgn", "records"]);
    assert_eq!(
        mistake(folder.path(), &["pack", "games.pgn", "-o", "out", "--elo", "2600.."]),
        "no game is asked for (7 by rating left out), games.pgn: widen the filter's ranges"
            .replace("7 by", "6 by")
    );
}

/// Each of these was once read as another game than was played, or swallowed the next.
#[test]
fn words_that_are_no_moves_and_what_does_not_end_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let game = |moves: &str| format!("[Event \"x\"]\n\n{moves}\n\n");
    let text = game("1. Sf3 Nf6 2. Ng1 1-0")
        + &game("1. e2-e4 e7-e5 2. Ng1-f3 Nb8xc6 1-0")
        + &game("1. e4 {best 1-0")
        + &game("1. e4 e5 0000 2. Nf3 1-0")
        + &game("1. e2-e4 d7-d5 2. e4xd5 1:0");
    fs::write(folder.path().join("games.pgn"), text).unwrap();
    let shuffled = "[FEN \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w KQkq - 2 9\"]";
    let more = format!("[Result \"1/2\"]\n\n1. e4 e5\n\n{shuffled}\n\n9. h3 1-0\n");
    fs::write(folder.path().join("more.pgn"), more).unwrap();
    let pack = |game: &str| said(folder.path(), &format!("pack {game} -o records --held-out 0"));
    assert_eq!(
        pack("games.pgn"),
        [
            "INFO 3 positions of 1 games; 0 repeated games left out, 4 skipped",
            "WARN skipped games.pgn game 1: Sf3 after 0 half-moves is no move",
            "WARN skipped games.pgn game 2: Nb8xc6 after 3 half-moves is not legal",
            "WARN skipped games.pgn game 3: a comment does not end",
            "INFO 3 different positions stand for 3 moves of 1 games; 0 held out",
        ]
    );
    assert_eq!(
        pack("more.pgn"),
        [
            "INFO 2 positions of 1 games; 0 repeated games left out, 1 skipped",
            "WARN skipped more.pgn game 2: its FEN tag has castling rights of Chess960, which is not read",
            "INFO 2 different positions stand for 2 moves of 1 games; 0 held out",
        ]
    );
}

#[test]
fn wrong_ranges_shards_and_shares_are_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), "1. e4 1-0\n").unwrap();
    let line = |flags: &str| {
        let words = format!("pack games.pgn -o out {flags}");
        mistake(folder.path(), &words.split(' ').collect::<Vec<_>>())
    };
    let end = ", the command line: see kibitzer --help";
    assert_eq!(
        line("--elo 9..5"),
        format!(
            "invalid value '9..5' for '--elo <FROM..TO>': the range ends before it starts{end}"
        )
    );
    assert_eq!(
        line("--shard 9/8"),
        format!(
            "invalid value '9/8' for '--shard <I/N>': give I/N, from 1/N to N/N, as in 3/8{end}"
        )
    );
    assert_eq!(
        line("--result win"),
        format!("invalid value 'win' for '--result <RESULT>': give 1-0, 0-1 or 1/2-1/2{end}")
    );
    assert_eq!(line("--held-out 1"), "a share out of range, --held-out: give 0 or more, below 1");
    assert_eq!(names(folder.path()), ["games.pgn"]);
}

#[test]
fn standard_input_and_several_files_are_read_and_shards_join() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let games = fixture("selfplay.pgn.zst");
    let games = games.to_str().unwrap();
    fs::write(folder.join("more.pgn"), "1. h4 h5 2. g4 g5 3. f4 1-0\n").unwrap();
    succeed(folder, &["-q", "pack", games, "more.pgn", "-o", "whole"]);
    let mut piped = command(folder, &["-q", "pack", "more.pgn", "-", "-o", "piped"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    piped.stdin.take().unwrap().write_all(&fs::read(games).unwrap()).unwrap();
    assert!(piped.wait().unwrap().success());
    let whole = fs::read(folder.join("whole")).unwrap();
    assert!(fs::read(folder.join("piped")).unwrap() == whole);
    for i in ["1", "2"] {
        let shard = format!("{i}/2");
        succeed(folder, &["-q", "pack", games, "more.pgn", "-o", i, "--shard", &shard]);
    }
    succeed(folder, &["-q", "pack", "1", "2", "-o", "joined"]);
    assert!(fs::read(folder.join("joined")).unwrap() == whole);
    assert_eq!(
        mistake(folder, &["pack", "1", "more.pgn", "-o", "out"]),
        "games among files of records, more.pgn: pack the games first, then join the records"
    );
    succeed(folder, &["-q", "pack", "more.pgn", "-o", "other", "--held-out", "0.5"]);
    assert_eq!(
        mistake(folder, &["pack", "1", "other", "-o", "out"]),
        "another split than 1 has, other: pack both with the same --held-out or --held-out-from"
    );
    assert_eq!(
        mistake(folder, &["pack", "1", "2", "-o", "out", "--elo", "2000.."]),
        "files of records are joined as they are, 1: \
         give filter, split and shard where the games are packed"
    );
    assert!(!folder.join("out").exists());
}

#[test]
fn another_share_than_that_of_the_records_is_refused() {
    let folder = common::folder_with_records();
    let train = |flags: &[&str]| {
        let words = ["train", "bc", "records", "-o", "run", "--config", "tiny.json"];
        mistake(folder.path(), &[&words, flags].concat())
    };
    assert_eq!(
        train(&["--held-out", "0.2"]),
        "a share of 0.2 where 0.05 was held out in packing, records: \
         leave the share out, or pack the games again with --held-out"
    );
}
