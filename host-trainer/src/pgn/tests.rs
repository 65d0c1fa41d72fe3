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
    assert_eq!(reason("[Result \"1-0\"]\n\n1. e4 e5 2. N"), no_result);
    assert_eq!(reason("1. e4 e5 *\n"), no_result);
    assert_eq!(reason("1. e4 e5 {cut"), "t.pgn game 1: unterminated comment");
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
    assert_eq!(reason("1. e4 Z0 2. d4 1-0\n"), "t.pgn game 1: a null move after 1 half-moves");
    for variant in ["Chess960", "Fischerandom"] {
        assert_eq!(
            reason(&format!("[Variant \"{variant}\"]\n\n1. e4 1-0\n")),
            format!("t.pgn game 1: the variant {variant} is not read")
        );
    }
    let shuffled = "[FEN \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\"]";
    assert_eq!(
        reason(&format!("{shuffled}\n\n9. O-O 1-0\n")),
        "t.pgn game 1: O-O after 0 half-moves is not legal"
    );
    let knights = "Nf3 Nf6 Ng1 Ng8 ".repeat(1501);
    assert_eq!(
        reason(&format!("{knights} 1/2-1/2\n")),
        "t.pgn game 1: it has more than 6000 half-moves"
    );
    let cut = reason("[Event \"x\"]\n[Site \"cut h");
    assert_eq!(cut, "t.pgn game 1: unterminated tag");
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
