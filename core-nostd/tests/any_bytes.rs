//! What must hold of any bytes, of bytes near good ones and of those that fuzzing found worth
//! keeping (`docs/fuzzing.md`). Model files near good ones: `kbz.rs`.
mod common;
mod configs;
mod properties;
mod random;

use std::{fs, path::Path};

use common::file;
use configs::configs;
use kibitzer_core::net::Model;
use proptest::{prelude::*, sample::Index};

/// Lines as a board is sent them.
const LINES: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 97 1",
    "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1 last e2e4",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1 last f1h2",
    "4k2r/8/8/3n4/8/8/3R4/R3K3 w Qk - 4294967295 4294967295 last c7d5",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
];

/// A line with some of its characters replaced, by those that a FEN has more often than by others.
fn line_nearby() -> impl Strategy<Value = String> {
    let other = prop_oneof![
        9 => prop::sample::select("pnbrqkPNBRQK12345678/-wb abcdefghAH~_0x".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    let edits = prop::collection::vec((any::<Index>(), other), 0..4);
    (0..LINES.len(), edits).prop_map(|(line, edits)| {
        let mut line: Vec<char> = LINES[line].chars().collect();
        for (place, other) in edits {
            let place = place.index(line.len());
            line[place] = other;
        }
        line.into_iter().collect()
    })
}

/// Messages as an app sends them, in each protocol.
const MESSAGES: [&[u8]; 16] = [
    b"begin rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n",
    b"feature undo\n",
    b"feature draw_offer\nfeature state_stream\n",
    b"feature get_state\nget_state\n",
    b"move e7e5\n",
    b"ok\n",
    b"nok\r\n",
    b"promote a7a8n\n",
    b"undo 4k3/8/8/8/8/8/8/4K3 w\nundo e2e4\n",
    b"draw_offer\nend resign\n",
    b"set_variant atomic\n",
    b"@BDEGHLMUYZ",
    &[0x60, 2, 0, 0],
    &[0x60, 7, 5, 4, 0, 2, 12, 28, 0],
    &[0x63, 7, 1, 2, 3, 4, 5, 6, 0],
    &[0, 16, 0, 16, 0, 0, 0, 0],
];

/// What an app might send to a board, whole messages and broken ones, and what happens there.
fn talk() -> impl Strategy<Value = Vec<u8>> {
    let message = || prop::sample::select(&MESSAGES[..]);
    let part = prop_oneof![
        6 => message().prop_map(<[u8]>::to_vec),
        2 => (message(), any::<Index>()).prop_map(|(m, end)| m[..end.index(m.len())].to_vec()),
        4 => any::<u8>().prop_map(|event| vec![0xf7, event]),
        1 => prop::collection::vec(any::<u8>(), 1..20),
        1 => Just(vec![b'x'; 400]),
    ];
    (any::<u8>(), prop::collection::vec(part, 0..30)).prop_map(|(choice, parts)| {
        // Where a link has packets, their ends part the messages.
        let end = |byte| if choice % 4 == 1 && byte == b'\n' { vec![0xf7, 13] } else { vec![byte] };
        [choice].into_iter().chain(parts.concat().into_iter().flat_map(end)).collect()
    })
}

/// The contents of the files that are committed for a fuzz target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = files.map(|file| file.expect("readable").path());
    let contents: Vec<_> = paths.map(|path| fs::read(path).expect("readable")).collect();
    assert!(!contents.is_empty(), "{}", folder.display());
    contents
}

/// Calls `check` with a small network.
fn with_network(check: impl Fn(&Model<'_>)) {
    let bytes = file(&configs()[0], false, 1);
    check(&Model::parse(&bytes).expect("whole"));
}

#[test]
fn what_fuzzing_kept_holds() {
    corpus("kbz").iter().for_each(|bytes| properties::of_a_model_file(bytes));
    for bytes in corpus("fen") {
        properties::of_a_fen(&String::from_utf8_lossy(&bytes));
    }
    corpus("protocols").iter().for_each(|case| properties::protocol::of_a_protocol(case));
    with_network(|model| {
        corpus("board").iter().for_each(|bytes| properties::of_a_conversation(bytes, model));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_is_a_fen_or_refused(text: String) {
        properties::of_a_fen(&text);
    }

    #[test]
    fn a_protocol_bears_whatever_it_is_sent(case in talk()) {
        properties::protocol::of_a_protocol(&case);
    }

    #[test]
    fn a_protocol_bears_any_bytes(case: Vec<u8>) {
        properties::protocol::of_a_protocol(&case);
    }

    #[test]
    fn texts_near_a_fen_are_read_or_refused(line in line_nearby()) {
        properties::of_a_fen(line.split(" last ").next().unwrap_or(&line));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_board_answers_whatever_it_is_sent(
        lines in prop::collection::vec(line_nearby(), 1..3),
        noise: Vec<u8>,
    ) {
        let sent = [lines.join("\n").into_bytes(), noise].join(&b'\n');
        with_network(|model| properties::of_a_conversation(&sent, model));
    }
}
