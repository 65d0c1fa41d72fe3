//! Lamps in a row, against what their data sheet makes of the line.
use embedded_hal::spi;
use kibitzer_core::{
    drivers::{
        Wiring, Ws2812,
        ws2812::{self, Encoding, Supply},
    },
    lamps::{Colour, Frame},
    shakmaty::{Bitboard, Square},
};

/// What USB gives, the chip's share taken off, at any brightness.
const USB: Supply = Supply { milliamps: 400, brightness: 255 };

/// Keeps what is written, in one piece.
#[derive(Default)]
struct Recorder(Vec<Vec<u8>>, bool);

impl spi::ErrorType for Recorder {
    type Error = core::convert::Infallible;
}

impl spi::SpiBus for Recorder {
    fn read(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        unreachable!("nothing is read from lamps")
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.push(bytes.to_vec());
        Ok(())
    }

    fn transfer(&mut self, _: &mut [u8], _: &[u8]) -> Result<(), Self::Error> {
        unreachable!("nothing is read from lamps")
    }

    fn transfer_in_place(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        unreachable!("nothing is read from lamps")
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.1 = true;
        Ok(())
    }
}

/// What the lamps on a line make of it: green, red, blue of each, told apart by how long the line is
/// high at `ns` nanoseconds a bit, as their data sheet says.
fn shown(bytes: &[u8], ns: u32) -> Vec<[u8; 3]> {
    let line: Vec<bool> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    let runs: Vec<(bool, u32)> =
        line.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32 * ns)).collect();
    let (&(is_high, pause), pulses) = runs.split_last().expect("a line");
    assert!(!is_high && pause >= 280_000, "the pause after a frame: {pause} ns");
    let bits: Vec<u8> = pulses[1..]
        .chunks(2)
        .map(|pulse| {
            let high = pulse[0].1;
            let low = pulse.get(1).map_or(pause, |pulse| pulse.1);
            let bit = match high {
                220..=420 => 0,
                580..=1_000 => 1,
                _ => panic!("{high} ns"),
            };
            assert!((1_100..=1_400).contains(&(high + low.min(1_250 - high))) && low >= 220);
            bit
        })
        .collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    let colors: Vec<u8> = bits.chunks(8).map(byte).collect();
    colors.chunks(3).map(|lamp| [lamp[0], lamp[1], lamp[2]]).collect()
}

fn show(frame: &Frame, encoding: Encoding, supply: Supply, wiring: Wiring) -> Vec<[u8; 3]> {
    let mut lamps = Ws2812::new(Recorder::default(), encoding, supply, wiring);
    lamps.show(frame).expect("no error");
    let Recorder(writes, is_flushed) = lamps.release();
    assert!(writes.len() == 1 && is_flushed, "a frame is one write");
    shown(&writes[0], if encoding == Encoding::Three { 417 } else { 312 })
}

#[test]
fn lamps_in_a_row_show_a_frame_in_their_order() {
    let mut frame = Frame::DARK;
    frame.set(Square::A1, Colour::Green);
    frame.set(Square::H2, Colour::Blue);
    frame.set(Square::A8, Colour::Yellow);
    for encoding in [Encoding::Three, Encoding::Four] {
        let straight = show(&frame, encoding, USB, Wiring::STRAIGHT);
        assert_eq!(straight.len(), 64);
        assert_eq!(
            [straight[0], straight[15], straight[56]],
            [[255, 0, 0], [0, 0, 255], [200, 255, 0]]
        );
        assert_eq!(straight.iter().filter(|lamp| **lamp != [0; 3]).count(), 3);
        let serpentine = show(&frame, encoding, USB, Wiring::SERPENTINE);
        assert_eq!(
            [serpentine[0], serpentine[8], serpentine[63]],
            [[255, 0, 0], [0, 0, 255], [200, 255, 0]]
        );
    }
}

#[test]
fn a_frame_never_takes_more_than_the_supply_gives() {
    for colour in Colour::ALL {
        for count in [0, 1, 8, 16, 32, 64] {
            let mut frame = Frame::DARK;
            Square::ALL.into_iter().take(count).for_each(|square| frame.set(square, colour));
            for milliamps in [0, 64, 65, 100, 400, 500, 4_000, u32::MAX] {
                let supply = Supply { milliamps, brightness: 255 };
                let lamps = show(&frame, Encoding::Three, supply, Wiring::STRAIGHT);
                // 20 mA a color at its brightest, 1 mA a lamp in any case.
                let micro: u32 = lamps.iter().flatten().map(|&c| u32::from(c) * 20_000 / 255).sum();
                assert!(
                    micro + 64_000 <= milliamps.max(64).saturating_mul(1_000),
                    "{micro} {supply:?}"
                );
                let dimmed = supply.dim(&frame);
                assert!(ws2812::milliamps(&frame, dimmed) <= milliamps.max(64));
            }
        }
    }
    let mut white = Frame::DARK;
    white.paint(Bitboard::FULL, Colour::White);
    assert_eq!(ws2812::milliamps(&white, 255), 64 + 64 * 60);
    assert_eq!(ws2812::milliamps(&Frame::DARK, 255), 64);
    // What is dimmed keeps its color and stays visible.
    assert_eq!(USB.dim(&white), 22);
    let lamps = show(&white, Encoding::Four, USB, Wiring::STRAIGHT);
    assert!(lamps.iter().all(|lamp| *lamp == [22; 3]));
    let dark = Supply { brightness: 7, ..USB };
    assert_eq!(dark.dim(&Frame::DARK), 7, "the brightness asked for is never exceeded");
}
