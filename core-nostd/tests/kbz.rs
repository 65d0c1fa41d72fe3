//! Reading model files: whole ones, damaged ones, and any bytes at all.
mod common;
mod configs;
mod positions;
mod random;

use std::{cell::Cell, fs};

use common::{crc32, file, file_with, mend};
use configs::configs;
use kibitzer_core::{
    net::{
        Config, Evaluation, InputBits, Model, ModelError, Precision, ReadError, Source, WeightBits,
        hash,
        kbz::{Part, Section, checksum, sections},
        scratch_bytes,
    },
    position::parse_fen,
    shakmaty::Chess,
};
use positions::positions as fixtures;
use proptest::prelude::*;
use random::Random;

/// Every kind of move: castling, en passant, promotions for both sides, mate.
const FENS: [&str; 6] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 97 1",
    "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 33 20",
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
];

fn positions() -> impl Iterator<Item = Chess> {
    FENS.iter().map(|fen| parse_fen(fen).unwrap())
}

fn evaluate_all(model: &Model<'_>) -> Vec<Evaluation> {
    let mut scratch = vec![0; model.scratch_bytes()];
    positions().map(|position| model.evaluate(&position, &mut scratch).unwrap()).collect()
}

#[test]
fn whole_files_parse_and_answer() {
    for config in configs() {
        let bytes = file(&config, false, 1);
        let model = Model::parse(&bytes).unwrap();
        assert_eq!(*model.config(), config);
        let answers = evaluate_all(&model);
        for answer in &answers[..5] {
            let moves = answer.moves();
            assert!(moves.len() > 4);
            assert!(moves.windows(2).all(|pair| pair[0].logit >= pair[1].logit));
            let sum: u32 = moves.iter().map(|m| m.probability).sum();
            assert!(sum.abs_diff(Evaluation::PROBABILITY_ONE) <= moves.len() as u32);
            assert_ne!(moves[0].logit, moves[moves.len() - 1].logit, "all logits are equal");
        }
        assert!(answers[5].moves().is_empty(), "mate has no moves");
        let other = file(&config, false, 2);
        assert_ne!(evaluate_all(&Model::parse(&other).unwrap()), answers);
    }
}

#[test]
fn the_checksum_is_the_common_one() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
}

#[test]
fn alignment_does_not_matter() {
    let [config, ..] = configs();
    let bytes = file(&config, false, 1);
    let expected = evaluate_all(&Model::parse(&bytes).unwrap());
    for shift in 1..16 {
        let mut moved = vec![0xa5; shift];
        moved.extend(&bytes);
        let model = Model::parse(&moved[shift..]).unwrap();
        assert_eq!(evaluate_all(&model), expected);
        let mut scratch = vec![0x5a; scratch_bytes(&config) + shift];
        for (position, expected) in positions().zip(&expected) {
            assert_eq!(model.evaluate(&position, &mut scratch[shift..]).as_ref(), Ok(expected));
        }
    }
}

#[test]
fn too_small_a_scratch_buffer_names_the_bytes_needed() {
    for config in configs() {
        let bytes = file(&config, false, 1);
        let model = Model::parse(&bytes).unwrap();
        let needed = scratch_bytes(&config);
        let position = positions().next().unwrap();
        for actual in [0, 1, needed / 2, needed - 1] {
            let error = model.evaluate(&position, &mut vec![0; actual]).unwrap_err();
            assert_eq!(error, ModelError::Scratch { needed, actual });
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let [_, _, config] = configs();
    let mut bytes = file(&config, false, 1);
    for byte in 0..bytes.len() {
        for bit in 0..8 {
            bytes[byte] ^= 1 << bit;
            assert!(Model::parse(&bytes).is_err(), "bit {bit} of byte {byte}");
            bytes[byte] ^= 1 << bit;
        }
    }
    assert!(Model::parse(&bytes).is_ok());
}

#[test]
fn each_fault_of_the_frame_has_its_error() {
    let [config, ..] = configs();
    let bytes = file(&config, false, 1);
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        bytes
    };
    let parse = |bytes: &[u8]| Model::parse(bytes).unwrap_err();
    let length = bytes.len();
    assert_eq!(parse(&[]), ModelError::Truncated { needed: 20, actual: 0 });
    assert_eq!(parse(&with(1, b'?')), ModelError::Magic(*b"K?Z\x1a"));
    assert_eq!(parse(&with(4, 9)), ModelError::Version(9));
    let cut = &bytes[..bytes.len() - 1];
    assert_eq!(parse(cut), ModelError::Length { stated: length, actual: length - 1 });
    let damaged = with(bytes.len() - 20, bytes[bytes.len() - 20] ^ 1);
    assert!(matches!(parse(&damaged), ModelError::Checksum { .. }));
    let mended = |at, value| {
        let mut bytes = with(at, value);
        mend(&mut bytes);
        bytes
    };
    assert!(matches!(parse(&mended(14, 0xff)), ModelError::Truncated { .. }));
    assert_eq!(parse(&mended(16, 1)), ModelError::Config(config_error(&config)));
    assert!(matches!(parse(&mended(16, 12)), ModelError::Architecture { .. }));
}

/// Bytes of a number as postcard writes it.
fn varint_bytes(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).div_ceil(7).max(1) as usize
}

#[test]
fn each_fault_of_the_sections_has_its_error() {
    let padded = |section: &Section| section.bytes().next_multiple_of(16);
    for config in configs() {
        let bytes = file(&config, false, 1);
        let table: Vec<Section> = sections(&config, WeightBits::Eight).collect();
        let total: usize = table.iter().map(padded).sum();
        let end = bytes.len() - 4;
        let start = end - total;
        let read = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
            mend(&mut bytes);
            let error = Model::parse(&bytes).unwrap_err();
            let slow = Slow { bytes: &bytes, reads_left: Cell::new(usize::MAX) };
            assert_eq!(Model::open(&slow, &mut vec![0; 100_000]).unwrap_err(), error);
            error
        };
        let header_end = 16 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let mut offset = start;
        let mut entries = 0;
        for section in &table {
            entries += varint_bytes(offset) + varint_bytes(section.bytes());
            offset += padded(section);
        }
        // The count's last byte, which is not 0; the last entry's last byte, a length of few bytes.
        let (count, last) = (header_end - entries - 1, table.len() - 1);
        let error = read(&|bytes| bytes[count] ^= 2);
        let expected = table.len() as u32;
        assert!(
            matches!(error, ModelError::SectionCount { expected: found, .. } if found == expected),
            "{error}"
        );
        let wrong = ModelError::Section { index: last as u32, part: table[last].part };
        assert_eq!(read(&|bytes| bytes[header_end - 1] ^= 1), wrong);
        // As they are cut short, and as there is more after them than they take.
        let cut = |bytes: &mut Vec<u8>| drop(bytes.drain(end - 16..end));
        let extend = |bytes: &mut Vec<u8>| drop(bytes.splice(end..end, [0; 16]));
        let longer = ModelError::Length { stated: total, actual: total + 16 };
        assert_eq!(read(&cut), wrong);
        assert_eq!(read(&extend), longer);
        // The same of sections without a file.
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            let sections = &bytes[start..bytes.len() - 4];
            Model::of_sections(config.clone(), Precision::default(), sections).map(drop)
        };
        assert_eq!(of(&|_| {}), Ok(()));
        assert_eq!(of(&cut), Err(wrong));
        assert_eq!(of(&extend), Err(longer));
        let before = table.iter().take_while(|section| section.part != Part::AuxScale);
        let shift = start + before.map(padded).sum::<usize>();
        let zero = |bytes: &mut Vec<u8>| bytes[shift] = 0;
        assert_eq!(read(&zero), ModelError::Shift(Part::AuxScale));
        assert_eq!(of(&zero), Err(ModelError::Shift(Part::AuxScale)));
        // A header with a byte too few and, where there is room, too many; a version's upper half.
        assert_eq!(read(&|bytes| bytes[12] -= 1), ModelError::Header);
        assert_eq!(read(&|bytes| bytes[6] = 1), ModelError::Header);
        if header_end < start {
            assert_eq!(read(&|bytes| bytes[12] += 1), ModelError::Header);
        }
    }
}

fn config_error(config: &Config) -> kibitzer_core::net::ConfigError {
    Config { width: 1, ..config.clone() }.validate().unwrap_err()
}

#[test]
fn another_architecture_is_refused_with_both_hashes() {
    let [a, b, _] = configs();
    let bytes = file(&a, false, 1);
    let expected = ModelError::Architecture { file: hash(&a), expected: hash(&b) };
    let error = Model::parse_as(&bytes, &b).unwrap_err();
    assert_eq!(error, expected);
    let text = error.to_string();
    assert!(text.contains(&format!("{:016x}", hash(&a))), "{text}");
    assert!(text.contains(&format!("{:016x}", hash(&b))), "{text}");
    assert!(Model::parse_as(&bytes, &a).is_ok());
    let lying = file_with(&a, 7, Precision::default(), false, 1);
    let error = ModelError::Architecture { file: 7, expected: hash(&a) };
    assert_eq!(Model::parse(&lying).unwrap_err(), error);
}

/// The mutations of [`mutated_files_never_panic`].
#[derive(Debug, Clone)]
enum Mutation {
    Set(prop::sample::Index, u8),
    Fill(prop::sample::Index, usize, u8),
    Cut(prop::sample::Index),
    Extend(Vec<u8>),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(i, b)| Mutation::Set(i, b)),
        (index(), 1..600usize, any::<u8>()).prop_map(|(i, n, b)| Mutation::Fill(i, n, b)),
        index().prop_map(Mutation::Cut),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Mutation::Extend),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    match mutation {
        Mutation::Set(i, b) => {
            let at = i.index(bytes.len());
            bytes[at] = *b;
        }
        Mutation::Fill(i, n, b) => {
            let at = i.index(bytes.len());
            let end = bytes.len().min(at + n);
            bytes[at..end].fill(*b);
        }
        Mutation::Cut(i) => bytes.truncate(20 + i.index(bytes.len() - 19)),
        Mutation::Extend(more) => bytes.extend(more),
    }
}

/// Every precision.
const PRECISIONS: [Precision; 5] = [
    Precision { weights: WeightBits::Eight, inputs: InputBits::Eight },
    Precision { weights: WeightBits::Eight, inputs: InputBits::Eleven },
    Precision { weights: WeightBits::Four, inputs: InputBits::Eight },
    Precision { weights: WeightBits::Four, inputs: InputBits::Eleven },
    Precision { weights: WeightBits::Eight, inputs: InputBits::Mixed },
];

fn precision() -> impl Strategy<Value = Precision> {
    (0..PRECISIONS.len()).prop_map(|i| PRECISIONS[i])
}

/// A file that is read in parts, and fails once it has given some.
struct Slow<'a> {
    bytes: &'a [u8],
    reads_left: Cell<usize>,
}

impl Source for Slow<'_> {
    fn read(&self, offset: u32, into: &mut [u8]) -> Result<(), ReadError> {
        let left = self.reads_left.get().checked_sub(1).ok_or(ReadError)?;
        self.reads_left.set(left);
        let bytes = self.bytes.get(offset as usize..).and_then(|bytes| bytes.get(..into.len()));
        into.copy_from_slice(bytes.ok_or(ReadError)?);
        Ok(())
    }
}

#[test]
fn a_slow_source_gives_the_same_answers() {
    for config in configs() {
        for precision in PRECISIONS {
            let bytes = file_with(&config, hash(&config), precision, false, 9);
            let expected = evaluate_all(&Model::parse(&bytes).unwrap());
            let slow = Slow { bytes: &bytes, reads_left: Cell::new(usize::MAX) };
            let mut scratch = vec![0x77; 100_000];
            let model = Model::open(&slow, &mut scratch).unwrap();
            assert!(model.sections().is_none());
            assert!(model.scratch_bytes() > scratch_bytes(&config));
            assert_eq!(evaluate_all(&model), expected, "{precision:?}");
            let needed = model.scratch_bytes();
            let error = Model::open(&slow, &mut vec![0; needed - 1]).unwrap_err();
            assert_eq!(error, ModelError::Scratch { needed, actual: needed - 1 });
            assert!(Model::open(&slow, &mut vec![0; needed]).is_ok());
        }
    }
}

#[test]
fn a_trained_network_in_a_slow_source_gives_the_same_answers() {
    let bytes = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/demo.kbz")).unwrap();
    let here = Model::parse(&bytes).unwrap();
    let slow = Slow { bytes: &bytes, reads_left: Cell::new(usize::MAX) };
    let mut scratch = vec![0x77; 1 << 17];
    let there = Model::open(&slow, &mut scratch).unwrap();
    let positions = fixtures();
    assert!(positions.len() > 250);
    for position in positions {
        let expected = here.evaluate(&position, &mut scratch).unwrap();
        assert_eq!(there.evaluate(&position, &mut scratch).as_ref(), Ok(&expected));
    }
}

#[test]
fn a_source_that_fails_is_told_wherever_it_does() {
    let [config, ..] = configs();
    let bytes = file(&config, false, 9);
    let slow = |reads| Slow { bytes: &bytes, reads_left: Cell::new(reads) };
    let mut scratch = vec![0; 100_000];
    let position = positions().next().unwrap();
    let failed = |error| matches!(error, ModelError::Read { .. });
    let mut reads = 0;
    while let Err(error) = Model::open(&slow(reads), &mut scratch) {
        assert!(failed(error), "{error}");
        reads += 1;
    }
    assert!(reads > 40, "{reads}");
    let source = slow(reads);
    let model = Model::open(&source, &mut scratch).unwrap();
    let mut reads = 0;
    loop {
        source.reads_left.set(reads);
        match model.evaluate(&position, &mut scratch) {
            Ok(_) => break,
            Err(error) => assert!(failed(error), "{error}"),
        }
        reads += 1;
    }
    assert!(reads > 200, "{reads}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_parse_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Model::parse(&bytes).is_err());
        let mut framed = b"KBZ\x1a\x03\x00\x00\x00".to_vec();
        framed.extend((bytes.len() as u32 + 12).to_le_bytes());
        framed.extend(bytes);
        if framed.len() >= 20 {
            framed[14..16].fill(0);
            mend(&mut framed);
        }
        prop_assert!(Model::parse(&framed).is_err());
    }

    /// A damaged file whose length and checksum were made to fit is refused or evaluated.
    #[test]
    fn mutated_files_never_panic(
        which in 0..3usize,
        precision in precision(),
        seed: u64,
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let config = &configs()[which];
        let mut bytes = file_with(config, hash(config), precision, false, seed);
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        if bytes.len() >= 20 {
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
            mend(&mut bytes);
        }
        if let Ok(model) = Model::parse(&bytes) {
            evaluate_all(&model);
        }
    }

    /// Sections of extreme integers, which no trainer writes, stay inside their types.
    #[test]
    fn extreme_integers_never_overflow(which in 0..3usize, precision in precision(), seed: u64) {
        let config = &configs()[which];
        let bytes = file_with(config, hash(config), precision, true, seed);
        evaluate_all(&Model::parse(&bytes).unwrap());
    }
}

#[test]
fn one_extreme_everywhere_never_overflows() {
    for config in configs() {
        for pattern in
            [[0x80, 0x80], [0x7f, 0x7f], [0xff, 0x7f], [0x00, 0x80], [0xff, 0xff], [0, 0]]
        {
            let mut bytes = file(&config, false, 3);
            let table = sections(&config, WeightBits::Eight).collect::<Vec<_>>();
            let total: usize = table.iter().map(|s| s.bytes().next_multiple_of(16)).sum();
            let mut at = bytes.len() - 4 - total;
            let mut random = Random(5);
            for section in table {
                let keep = match section.element {
                    kibitzer_core::net::kbz::Element::I32 => 4,
                    _ => 0,
                };
                for (i, byte) in bytes[at..at + section.bytes()].iter_mut().enumerate().skip(keep) {
                    *byte = pattern[i % 2];
                }
                if keep == 4 && random.next().is_multiple_of(2) {
                    bytes[at] = 1;
                }
                at += section.bytes().next_multiple_of(16);
            }
            mend(&mut bytes);
            evaluate_all(&Model::parse(&bytes).unwrap());
        }
    }
}
