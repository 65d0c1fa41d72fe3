//! What must hold of any bytes that come from outside: the tests try bytes near good ones, the fuzz
//! targets of `fuzz/` any.
#![allow(dead_code)] // each program uses its own part of it
pub mod protocol;

use std::cell::Cell;

use kibitzer_core::{
    board::{Board, MAX_LINE},
    legal,
    net::{
        Config, Evaluation, Model, ModelError, ReadError, Source, parameter_count, scratch_bytes,
    },
    position::{FenError, parse_fen},
    shakmaty::{EnPassantMode, Position as _, fen::Fen},
    viveka,
};

use crate::common::mend;

/// The most parameters of a network that is evaluated: a larger one only takes longer.
const MOST_PARAMETERS: usize = 100_000;
/// Positions whose moves are of every kind: castling, en passant, promotions.
const FENS: [&str; 3] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 97 1",
];

/// A model file is refused with a sentence, or evaluated: as it is, and with the length and the
/// checksum that its bytes should have; in memory, and from a source that may fail anywhere.
pub fn of_a_model_file(bytes: &[u8]) {
    answers_or_is_refused(bytes);
    answers_from_a_source(bytes);
    if bytes.len() >= 20 {
        let mut mended = bytes.to_vec();
        let length = (mended.len() as u32).to_le_bytes();
        mended[8..12].copy_from_slice(&length);
        mend(&mut mended);
        answers_or_is_refused(&mended);
        answers_from_a_source(&mended);
    }
}

fn answers_or_is_refused(bytes: &[u8]) {
    let model = match Model::parse(bytes) {
        Ok(model) => model,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(Model::parse_as(bytes, model.config()).is_ok());
    if !is_small(model.config()) {
        return;
    }
    for fen in FENS {
        let position = parse_fen(fen).expect("a legal position");
        let answer = |fill| {
            let mut scratch = vec![fill; scratch_bytes(model.config())];
            model.evaluate(&position, &mut scratch).expect("scratch enough")
        };
        let evaluation = answer(0);
        assert_eq!(evaluation, answer(0xa5), "what scratch holds does not matter");
        assert_eq!(evaluation.moves().len(), position.legal_moves().len());
        assert!(evaluation.moves().windows(2).all(|pair| pair[0].logit >= pair[1].logit));
    }
}

/// A file that is read in parts: it gives so many of them and no byte from `end` on.
struct Chip<'a> {
    bytes: &'a [u8],
    end: usize,
    reads_left: Cell<usize>,
}

impl Source for Chip<'_> {
    fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), ReadError> {
        let left = self.reads_left.get().checked_sub(1).ok_or(ReadError)?;
        self.reads_left.set(left);
        let bytes = self.bytes.get(..self.end).and_then(|bytes| bytes.get(offset as usize..));
        let bytes = bytes.and_then(|bytes| bytes.get(..into.len()));
        into.copy_from_slice(bytes.ok_or(ReadError)?);
        Ok(())
    }
}

/// What a file that lies in a source says of a position, with as much scratch as it asks for.
fn answer_of(chip: &Chip<'_>) -> Result<Evaluation, ModelError> {
    let mut scratch = vec![0; 1 << 12];
    let model = match Model::open(chip, &mut scratch) {
        Err(ModelError::Scratch { needed, .. }) if needed > scratch.len() && needed < 1 << 24 => {
            scratch.resize(needed, 0xa5);
            Model::open(chip, &mut scratch)?
        }
        outcome => outcome?,
    };
    if !is_small(model.config()) {
        return Ok(Evaluation::default());
    }
    scratch.resize(model.scratch_bytes(), 0x5a);
    model.evaluate(&parse_fen(FENS[0]).expect("a legal position"), &mut scratch)
}

/// What can be read in memory can be read from a source, with the same answer; a source that fails,
/// wherever it does, leads to an error or, where it was not asked again, to that answer.
fn answers_from_a_source(bytes: &[u8]) {
    let chip = |end, reads| Chip { bytes, end, reads_left: Cell::new(reads) };
    let whole = answer_of(&chip(bytes.len(), usize::MAX));
    if let Ok(model) = Model::parse(bytes)
        && is_small(model.config())
    {
        let mut scratch = vec![0; scratch_bytes(model.config())];
        let position = parse_fen(FENS[0]).expect("a legal position");
        assert_eq!(whole, model.evaluate(&position, &mut scratch));
    }
    // Where it fails follows from the bytes, so that a case repeats.
    let at = bytes.iter().fold(7usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    for failing in [chip(bytes.len(), at % 600), chip(at % (bytes.len() + 1), usize::MAX)] {
        match answer_of(&failing) {
            Ok(answer) => assert_eq!(Ok(answer), whole),
            Err(ModelError::Read { .. }) => {}
            Err(error) => assert_eq!(Err(error), whole, "no other error than without the failure"),
        }
    }
}

/// Whether a network is evaluated in little time and memory.
fn is_small(config: &Config) -> bool {
    parameter_count(config) <= MOST_PARAMETERS
}

/// A FEN is refused with a sentence, or is a position that its own FEN leads to again, whose legal
/// moves are those of the rules board; its reading agrees with the rules board's, too.
pub fn of_a_fen(text: &str) {
    let theirs = Fen::from_ascii(text.trim().as_bytes()).ok();
    match parse_fen(text) {
        Err(FenError::Syntax(error)) => {
            // They take other kinds of chess, and do not read a number's rest once it is too large.
            let is_only_theirs = |fen: &Fen| {
                let setup = fen.as_setup();
                let large = [setup.halfmoves, setup.fullmoves.get()].contains(&u32::MAX);
                setup.pockets.is_some() || setup.remaining_checks.is_some() || large
            };
            assert!(theirs.as_ref().is_none_or(is_only_theirs), "{text:?} {error}");
            assert!(!FenError::Syntax(error).to_string().is_empty());
        }
        Err(error) => assert!(theirs.is_some() && !error.to_string().is_empty(), "{text:?}"),
        Ok(position) => {
            let setup = theirs.expect("what we read they read").into_setup();
            let [board, turn] = [setup.board == *position.board(), setup.turn == position.turn()];
            assert!(board && turn && setup.fullmoves == position.fullmoves(), "{text:?}");
            assert_eq!(setup.halfmoves, position.halfmoves(), "{text:?}");
            let fen = Fen::from_position(&position, EnPassantMode::Always).to_string();
            assert_eq!(parse_fen(&fen).as_ref(), Ok(&position), "{text:?} {fen}");
            let moves = legal::moves(&position);
            assert_eq!(moves.as_slice(), position.legal_moves().as_slice(), "{fen}");
        }
    }
}

/// Whatever lines a chessboard sends, each is answered in whole lines, and alike each time.
pub fn of_a_conversation(bytes: &[u8], model: &Model<'_>) {
    for line in bytes.split(|&byte| byte == b'\n') {
        let answer = || {
            let mut scratch = vec![0; scratch_bytes(model.config())];
            let mut board =
                Board { weights: &viveka::FITTED, net: Some((model, &mut scratch[..])) };
            let mut out = String::new();
            board.answer(line, &mut out).expect("a string takes everything");
            out
        };
        let out = answer();
        assert_eq!(out, answer());
        assert!(out.ends_with('\n') && !out.contains('\r'), "{out}");
        let mut words = out.lines().map(|line| line.split(' ').next().unwrap_or(""));
        match words.next() {
            Some("error") => assert_eq!(words.next(), None, "{out}"),
            first => {
                assert_eq!(first, Some("position"), "{out}");
                assert!(line.len() <= MAX_LINE);
                let rest = ["candidate", "choice", "why", "critical", "partial", "net"];
                assert!(words.all(|word| rest.contains(&word)), "{out}");
                assert!(out.contains("\nchoice ") && out.contains("\ncritical "), "{out}");
            }
        }
    }
}
