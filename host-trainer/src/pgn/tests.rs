//! Games as they are found in the wild.
use kibitzer_core::shakmaty::{EnPassantMode, Position as _, fen::Fen};

use super::*;
use crate::records::Record;

fn read(text: &str) -> (Vec<Record>, Summary) {
    read_bytes(text.as_bytes(), &Filter::default())
}

fn read_bytes(text: &[u8], filter: &Filter) -> (Vec<Record>, Summary) {
    let mut games = Games::new(filter, false);
    let mut records = Vec::new();
    games
        .read(&PathBuf::from("t.pgn"), text, |game| {
            records.extend(game.records());
            Ok(())
        })
        .unwrap();
    (records, games.summary().clone())
}

fn result(record: &Record) -> f64 {
    record.outcomes.mean()
}

fn reason(text: &str) -> String {
    let (records, summary) = read(text);
    assert!(records.is_empty());
    assert_eq!((summary.games, summary.skipped), (0, 1), "{text}");
    summary.reasons[0].clone()
}

#[test]
fn comments_variations_and_nags_are_passed_over() {
    let plain = read("1. e4 e5 2. Nf3 Nc6 1-0\n");
    let decorated = read(
        "\u{feff}[Event \"x\"]\r\n[Result \"1-0\"]\r\n\r\n{ first } 1. e4! $14 { +0.35/12 } \
         (1. d4 d5 (1... Nf6)) 1... e5 ; to the end 2. d4\r\n 2.Nf3?! Nc6 1-0\r\n\r\n",
    );
    assert_eq!(plain, decorated);
    let results: Vec<f64> = plain.0.iter().map(result).collect();
    assert_eq!(results, [1.0, -1.0, 1.0, -1.0]);
}

#[test]
fn a_game_starts_from_its_fen() {
    let fen = "4k3/P7/8/8/8/8/8/4K3 b - - 3 40";
    let text = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n40... Kd7 41. a8=N 0-1\n");
    let (records, _) = read(&text);
    let start = records[0].position().unwrap();
    assert_eq!(Fen::from_position(&start, EnPassantMode::Legal).to_string(), fen);
    let last = records[1].position().unwrap();
    let legal = last.legal_moves();
    let played = legal[records[1].played.among(&legal).unwrap()];
    assert_eq!(played.to_string(), "a7-a8=N");
    assert_eq!((result(&records[0]), result(&records[1])), (1.0, -1.0));
}

#[test]
fn broken_games_are_skipped_whole_and_counted() {
    assert_eq!(
        reason("1. e4 e5 2. Ke4 1-0\n"),
        "t.pgn game 1: Ke4 after 2 half-moves is not legal"
    );
    let no_result = "t.pgn game 1: it ends without 1-0, 0-1 or 1/2-1/2";
    assert_eq!(reason("1. e4 e5 *\n"), no_result);
    assert_eq!(reason("[Result \"1-0\"]\n\n1. e4 e5 *\n"), no_result);
    assert_eq!(reason("1. e4 e5\n"), no_result);
    for cut in ["1. e4 e5 2. N", "1. e4 e5 2. Nf3", "1. e4 e5 {cut", "1. e4 e5 (1... c5"] {
        let cut = reason(&format!("[Result \"1-0\"]\n\n{cut}"));
        assert_eq!(cut, "t.pgn game 1: the text ends before it does");
    }
    assert_eq!(reason("1. e4 e5 {open 1-0\n"), "t.pgn game 1: a comment does not end");
    assert_eq!(reason("1. e4 e5 (1... c5 1-0\n"), "t.pgn game 1: a variation does not end");
    assert_eq!(reason("[Event \"x\"]\n\n1-0\n"), "t.pgn game 1: it has no moves");
    assert_eq!(
        reason("[Variant \"Atomic\"]\n\n1. e4 1-0\n"),
        "t.pgn game 1: the variant Atomic is not read"
    );
    assert_eq!(
        reason("[FEN \"8/8/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. Ke2 1-0\n"),
        "t.pgn game 1: its FEN tag: Black has no king; add one k to the board"
    );
}

#[test]
fn good_games_beside_broken_ones_are_read() {
    let text = "1. e4 e5 1-0\n\n1. e5 1-0\n\n1. d4 1/2-1/2\n\n1. e4 e5 0-1\n\n1. c4 *\n\n\
                1. a9 x 1-0\n\n1. Nf3 d5 2. b";
    let (records, summary) = read(text);
    assert_eq!(records.len(), 5);
    assert_eq!((summary.games, summary.skipped), (3, 4));
    assert_eq!(summary.reasons.len(), 3);
    assert!(summary.reasons[0].starts_with("t.pgn game 2: e5 after 0"));
    assert_eq!(records[0].game_hash, records[4].game_hash, "equal moves");
}

#[test]
fn a_damaged_archive_is_an_error() {
    let packed = zstd::encode_all(&b"1. e4 e5 1-0\n\n1. d4 d5 1-0\n"[..], 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pgn.zst");
    std::fs::write(&path, &packed[..packed.len() - 4]).unwrap();
    let error = Games::default().read(&path, open(&path).unwrap(), |_| Ok(())).unwrap_err();
    assert!(error.is::<UserError>(), "{error}");
    std::fs::write(&path, &packed).unwrap();
    let mut games = Games::default();
    games.read(&path, open(&path).unwrap(), |_| Ok(())).unwrap();
    assert_eq!(games.summary().games, 2);
}

#[test]
fn what_other_programs_write_is_read() {
    let plain = read("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O 1/2-1/2\n");
    for text in [
        // Zeros for castling, more squares than needed, dashes for the draw.
        "1. e2e4 e7e5 2. Ng1f3 Nb8c6 3. Bf1c4 Bf8c5 4. 0-0 1/2\u{2013}1/2\n",
        // Latin-1 in tags and comments, carriage returns, a percent line, a line comment.
        "[White \"M\u{fc}ller\"]\r\n\r\n1. e4 e5 {sch\u{f6}n} 2. Nf3 Nc6\r\n% x\r\n3. Bc4 Bc5 ; y\r\n4. O-O 1/2-1/2\r\n",
        // A tag of some thousand bytes, null moves in a variation, a Chess tag.
        &format!(
            "[Annotator \"{}\"]\n[Variant \"chess\"]\n\n1. e4 (1. -- e5 2. Z0) e5 2. Nf3 Nc6 \
             3. Bc4 Bc5 4. O-O 1/2-1/2\n",
            "x".repeat(5000)
        ),
    ] {
        let latin_1: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap_or(b'-')).collect();
        assert_eq!(read_bytes(&latin_1, &Filter::default()), plain, "{text}");
    }
    assert_eq!(plain.0.len(), 7);
}

#[test]
fn null_moves_other_variants_and_endless_games_are_skipped_with_a_reason() {
    assert_eq!(reason("1. e4 -- 2. d4 1-0\n"), "t.pgn game 1: a null move after 1 half-moves");
    for null in ["Z0", "0000", "null", "@@@@"] {
        let said = reason(&format!("1. e4 {null} 2. d4 1-0\n"));
        assert_eq!(said, "t.pgn game 1: a null move after 1 half-moves");
    }
    for variant in ["Chess960", "Fischerandom"] {
        assert_eq!(
            reason(&format!("[Variant \"{variant}\"]\n\n1. e4 1-0\n")),
            format!("t.pgn game 1: the variant {variant} is not read")
        );
    }
    let sound = read("1. e4 1-0\n");
    for variant in ["", "?", "normal", "STANDARD", "chess ", "From Position", "-"] {
        assert_eq!(read(&format!("[Variant \"{variant}\"]\n\n1. e4 1-0\n")), sound, "{variant}");
    }
    let shuffled = "[FEN \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\"]";
    assert_eq!(
        reason(&format!("{shuffled}\n\n9. O-O 1-0\n")),
        "t.pgn game 1: its FEN tag has castling rights of Chess960, which is not read"
    );
    let knights = "Nf3 Nf6 Ng1 Ng8 ".repeat(1501);
    assert_eq!(
        reason(&format!("{knights} 1/2-1/2\n")),
        "t.pgn game 1: it has more than 6000 half-moves"
    );
    let cut = reason("[Event \"x\"]\n[Site \"cut h");
    assert_eq!(cut, "t.pgn game 1: the text ends before it does");
}

/// A reader that passes over what it does not know finds games that were never played.
#[test]
fn a_word_that_is_no_move_is_never_passed_over() {
    for word in [
        "Sf6",
        "Df3",
        "Tad1",
        "x",
        "N",
        "e9",
        "{b} c}",
        "1. e4)",
        "}",
        "$",
        "<reserved>",
        "1-O",
        "O",
        "=Q",
        "Nf3=X",
        "e4e5e6",
        "12345e4",
        "K\u{f6}nig",
        "\u{2658}",
        "[%clk",
        "--e4",
        "--,",
        "e2-e4-e5",
        "0-1-0",
    ] {
        let said = reason(&format!("1. Nf3 Nf6 2. Ng1 {word} Ng8 3. Nf3 1-0\n"));
        let told = |end: &str| said.ends_with(end);
        assert!(
            told("is no move") || told("is not legal") || told("after its end"),
            "{word}: {said}"
        );
    }
    assert_eq!(reason("1. Sf3 Sf6 1-0\n"), "t.pgn game 1: Sf3 after 0 half-moves is no move");
    let long = format!("1. {} 1-0\n", "x".repeat(99));
    let shown = format!("t.pgn game 1: {}… after 0 half-moves is no move", "x".repeat(24));
    assert_eq!(reason(&long), shown);
}

#[test]
fn moves_are_read_in_any_dress() {
    let plain = read(
        "1. e4 d5 2. e5 f5 3. exf6 Nc6 4. fxg7 Kf7 5. gxh8=Q Nf6 6. Nf3 Bg7 7. Bc4 Ke6 8. O-O 1-0\n",
    );
    assert_eq!(plain.0.len(), 15);
    for text in [
        "1. e2-e4 d7-d5 2. e4-e5 f7-f5 3. e5xf6 e.p. Nb8-c6 4. f6xg7 Ke8-f7 5. g7xh8Q Ng8-f6 6. Ng1-f3 Bf8-g7 \
         7. Bf1-c4 Kf7-e6 8. 0-0 1-0\n",
        "1.e4 d5 2.e5 f5 3.exf6e.p. \u{265e}c6 4.fg7 \u{265a}f7 5.gxh8/Q +- \u{265e}f6 6.\u{2658}f3 = \u{265d}g7 \
         7.\u{2657}c4 \u{265a}e6 \u{b1} 8.O-O 1:0\n",
        "1 e2e4 d7d5 2 e4e5 f7f5 3 e5f6 b8c6 4 f6g7 e8f7 5 g7h8q g8f6 6 g1f3 f8g7 7 f1c4 f7e6 8 e1g1 1-0\n",
        "1. e4 1... d5 2. e5 2... f5 3. exf6 ep Nc6 4. fxg7 Kf7 5. gxh8(Q) (5. gxf8=Q+ Kxf8) 5... Nf6 \
         6\u{2026} Nf3 Bg7 7. Bc4 Ke6 8. 0\u{2013}0 1-0\n",
    ] {
        assert_eq!(read(text), plain, "{text}");
    }
}

#[test]
fn a_game_s_end_is_found_without_its_sign() {
    let game =
        |result: &str, moves: &str| format!("[Event \"x\"]\n[Result \"{result}\"]\n\n{moves}\n\n");
    // The tag alone tells the result; moves may be parted by empty lines.
    let text = game("0:1", "1. e4\n\n{well}\n\n1... e5")
        + &game("1/2", "1. d4 d5")
        + &game("1-0", "1. c4 1-0 {ok}");
    let (records, summary) = read(&text);
    assert_eq!((summary.games, summary.skipped), (3, 0), "{summary:?}");
    assert_eq!(records.iter().map(result).collect::<Vec<_>>(), [-1.0, 1.0, 0.0, 0.0, 1.0]);
    // No tags: the next game starts on the next line, or after an empty one.
    let (_, summary) =
        read("1. e4 e5 1-0\n1. d4 d5 0-1\n1. c4\n\n1. f4 e5 *\n\n{remark}\n\n1. g3 1-0\n");
    assert_eq!((summary.games, summary.skipped), (3, 2), "{summary:?}");
    let contrary = reason(&game("0-1", "1. e4 1-0"));
    assert_eq!(contrary, "t.pgn game 1: it ends 0-1 and 1-0");
    assert_eq!(reason("1. e4 1-0 e5 0-1\n"), "t.pgn game 1: e5 after its end");
    let late = "t.pgn game 1: it starts at move 12, without a FEN tag";
    assert_eq!(reason("12. Nf3 Nf6 1-0\n"), late);
}

/// The next game is not swallowed, nor any of a game without its end.
#[test]
fn what_does_not_end_ends_with_its_game() {
    let next = "[Event \"y\"]\n\n1. d4 d5 1/2-1/2\n\n";
    for (broken, why) in [
        ("1. e4 {good e5 1-0", "a comment does not end"),
        ("1. e4 (1. d4 e5 1-0", "a variation does not end"),
        ("1. e4 {a\n[Site \"z\"]\nb e5 1-0", "a comment does not end"),
        ("1. e4 e5", "it ends without 1-0, 0-1 or 1/2-1/2"),
        ("", "it has no moves"),
    ] {
        let text = format!("[Event \"x\"]\n\n{broken}\n\n{next}");
        let (records, summary) = read(&text);
        assert_eq!((summary.games, summary.skipped, records.len()), (1, 1, 2), "{broken}");
        assert_eq!(summary.reasons, [format!("t.pgn game 1: {why}")]);
    }
    let endless = format!("1. e4 {{{}}} e5 1-0\n\n{next}", "x".repeat(3 << 20));
    let (_, summary) = read(&endless);
    assert_eq!(summary.reasons, ["t.pgn game 1: a line of it is longer than a megabyte"]);
    assert_eq!(summary.games, 1);
}

#[test]
fn remarks_and_tags_that_are_broken_make_no_games() {
    assert_eq!(read("{a file of games}\n\n% x\n").1, Summary::default());
    assert_eq!(read("{remark}\n\n[Event \"x\"] [Site \"y\"]\n\n1. e4 1-0\n").1.games, 1);
    assert_eq!(
        reason("[FEN 8/8/8/8/8/8/8/K1k5 w - -]\n\n1. e4 1-0\n"),
        "t.pgn game 1: its FEN tag is broken"
    );
}

#[test]
fn filters_take_games_by_tags_result_and_length_and_positions_by_ply() {
    let game = |elo: u16, date: &str, rest: &str| {
        format!(
            "[WhiteElo \"{elo}\"]\n[BlackElo \"2500\"]\n[Date \"{date}\"]\n\
             [TimeControl \"180+2\"]\n\n{rest}\n\n"
        )
    };
    let text = game(2400, "2018.05.01", "1. e4 e5 2. Nf3 1-0")
        + &game(2300, "2018.05.01", "1. e4 e5 2. Nc3 1-0")
        + &game(2400, "2017.05.01", "1. e4 e5 2. d4 1-0")
        + &game(2400, "2018.05.01", "1. e4 e5 2. c4 0-1")
        + &game(2400, "2018.05.01", "1. e4 1-0");
    let filter = Filter {
        elo: "2400..".parse().ok(),
        date: "2018".parse().ok(),
        result: vec!["1-0".parse().unwrap()],
        ply: "1..9".parse().ok(),
        time: "..300".parse().ok(),
    };
    let (records, summary) = read_bytes(text.as_bytes(), &filter);
    assert_eq!(records.iter().map(|r| r.packed.ply).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((summary.games, summary.positions, summary.skipped), (1, 2, 0));
    use Unwanted::{Date, Elo, Ply, Result};
    let counts = [(Elo, 1), (Date, 1), (Result, 1), (Ply, 1)];
    assert_eq!(summary.unwanted, counts.into_iter().collect());
    let slow = Filter { time: "480..".parse().ok(), ..Filter::default() };
    assert_eq!(read_bytes(text.as_bytes(), &slow).1.unwanted[&Unwanted::Time], 5);
}

/// Bytes are changed, left out and put in at random: whatever comes, games are read or skipped,
/// and what is read is legal.
#[test]
fn damaged_text_is_read_or_skipped() {
    use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
    let text = "[Event \"x\"]\n[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. a8=Q+ {c} Kd7 (1... Kf7 $2) 2. Qb7+ 1-0\n\n\
                [Date \"2018.??.??\"]\n[WhiteElo \"2500\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O 1/2-1/2\n\n";
    let text = text.repeat(3);
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut read = 0;
    for _ in 0..2000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..random.random_range(1..6) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..3) {
                0 => bytes[at] = random.random(),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}()[]\"\n-0"[random.random_range(0..10)]),
            }
        }
        let (records, summary) = read_bytes(&bytes, &Filter::default());
        read += summary.games;
        for record in records {
            let legal = record.position().unwrap().legal_moves();
            record.played.among(&legal).unwrap();
        }
    }
    assert!(read > 5000, "most games are whole: {read}");
}
