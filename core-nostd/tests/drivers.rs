//! The drivers, against parts that behave as their data sheets say and against scripts of what goes
//! over a bus.
use std::{cell::RefCell, rc::Rc};

use embedded_hal::{
    delay::DelayNs,
    digital::{self, InputPin, OutputPin, PinState},
    i2c, spi,
};
use embedded_hal_mock::eh1::{
    MockError,
    delay::NoopDelay,
    digital::{Mock as Pin, State, Transaction as PinAction},
    i2c::{Mock as I2cMock, Transaction as I2cAction},
    serial::{Mock as SerialMock, Transaction as SerialAction},
    spi::{Mock as SpiMock, Transaction as SpiAction},
};
use embedded_hal_nb::{nb, serial};
use kibitzer_core::{
    drivers::{
        Hc165, Ht16k33, Matrix, Uart, Wiring, Ws2812,
        hc165::{Closed, Hc165Error},
        ht16k33::{ADDRESS, Lamps},
        matrix::MatrixError,
        uart::Faults,
        ws2812::{Encoding, Supply, milliamps},
    },
    lamps::{Colour, Frame},
    protocol::{Outbox, Sink as _},
    shakmaty::{Bitboard, Square},
};

/// Contacts at the crossings of rows and columns, with diodes, and what drives and reads them.
#[derive(Default)]
struct Contacts {
    /// Bit `8 * row + column`.
    closed: u64,
    low_rows: u8,
    /// Whether the rows have settled since the last change.
    is_settled: bool,
    /// The row or column that is broken.
    broken: Option<(char, u8)>,
}

/// A pin of the matrix: of a row `'r'` or of a column `'c'`.
struct Wire(Rc<RefCell<Contacts>>, char, u8);

/// A pin that does not obey.
#[derive(Debug, PartialEq)]
struct Broken;

impl digital::Error for Broken {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

impl digital::ErrorType for Wire {
    type Error = Broken;
}

impl OutputPin for Wire {
    fn set_low(&mut self) -> Result<(), Broken> {
        self.set_state(PinState::Low)
    }

    fn set_high(&mut self) -> Result<(), Broken> {
        self.set_state(PinState::High)
    }

    fn set_state(&mut self, state: PinState) -> Result<(), Broken> {
        let mut contacts = self.0.borrow_mut();
        let bit = 1 << self.2;
        match state {
            PinState::Low if contacts.broken == Some((self.1, self.2)) => return Err(Broken),
            PinState::Low => contacts.low_rows |= bit,
            PinState::High => contacts.low_rows &= !bit,
        }
        contacts.is_settled = false;
        Ok(())
    }
}

impl InputPin for Wire {
    fn is_high(&mut self) -> Result<bool, Broken> {
        self.is_low().map(|low| !low)
    }

    fn is_low(&mut self) -> Result<bool, Broken> {
        let contacts = self.0.borrow();
        if contacts.broken == Some((self.1, self.2)) {
            return Err(Broken);
        }
        assert!(contacts.is_settled, "a column is read after its row has settled");
        let is_pulled = |row: u32| {
            contacts.low_rows >> row & 1 == 1
                && contacts.closed >> (8 * row + u32::from(self.2)) & 1 == 1
        };
        Ok((0..8).any(is_pulled))
    }
}

/// The time that rows take.
struct Settling(Rc<RefCell<Contacts>>);

impl DelayNs for Settling {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().is_settled |= ns >= 5_000;
    }
}

fn matrix(wiring: Wiring) -> (Rc<RefCell<Contacts>>, Matrix<Wire, Wire, Settling>) {
    let contacts = Rc::new(RefCell::new(Contacts::default()));
    let wires = |kind| [0, 1, 2, 3, 4, 5, 6, 7].map(|number| Wire(contacts.clone(), kind, number));
    let settling = Settling(contacts.clone());
    let matrix = Matrix::new(wires('r'), wires('c'), settling, 5_000, wiring);
    (contacts, matrix)
}

#[test]
fn a_matrix_sees_each_square_and_all_together() {
    for wiring in [Wiring::STRAIGHT, Wiring::SERPENTINE, Wiring::STRAIGHT.transposed().turned()] {
        let (contacts, mut matrix) = matrix(wiring);
        for (number, &square) in wiring.squares().iter().enumerate() {
            contacts.borrow_mut().closed = 1 << number;
            assert_eq!(matrix.scan(), Ok(Bitboard::from(square)), "{number}");
        }
        for closed in [0, u64::MAX, 0xffff_0000_0000_ffff, 0x1234_5678_9abc_def0] {
            contacts.borrow_mut().closed = closed;
            assert_eq!(matrix.scan(), Ok(wiring.occupied(closed)));
        }
        assert_eq!(contacts.borrow().low_rows, 0, "all rows are left high");
    }
}

#[test]
fn a_pin_that_does_not_obey_is_named_and_no_row_stays_low() {
    let (contacts, mut matrix) = matrix(Wiring::STRAIGHT);
    contacts.borrow_mut().broken = Some(('r', 3));
    assert_eq!(matrix.scan(), Err(MatrixError::Row(3, Broken)));
    contacts.borrow_mut().broken = Some(('c', 5));
    assert_eq!(matrix.scan(), Err(MatrixError::Column(5, Broken)));
    assert_eq!(contacts.borrow().low_rows, 0);
    contacts.borrow_mut().broken = None;
    contacts.borrow_mut().closed = 2;
    assert_eq!(matrix.scan(), Ok(Bitboard::from(Square::B1)), "it goes on");
}

#[test]
fn a_chain_of_registers_is_loaded_then_read() {
    // Input A of the first register (a1), H of the first (h1), A of the last (a8).
    let answer = vec![0b1000_0001, 0, 0, 0, 0, 0, 0, 1];
    let squares: Bitboard = [Square::A1, Square::H1, Square::A8].into_iter().collect();
    for (closed, answer, expected) in [
        (Closed::High, answer.clone(), squares),
        (Closed::Low, answer.iter().map(|byte| !byte).collect(), squares),
        (Closed::Low, answer, !squares),
    ] {
        let bus = [
            SpiAction::transaction_start(),
            SpiAction::read_vec(answer),
            SpiAction::transaction_end(),
        ];
        let latch = [PinAction::set(State::Low), PinAction::set(State::High)];
        let (spi, latch) = (SpiMock::new(&bus), Pin::new(&latch));
        let mut chain = Hc165::new(spi, latch, NoopDelay, closed, Wiring::STRAIGHT);
        assert_eq!(chain.scan(), Ok(expected));
        let (mut spi, mut latch, _) = chain.release();
        spi.done();
        latch.done();
    }
}

/// A bus that does not answer.
struct Dead;

impl spi::Error for Dead {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::ModeFault
    }
}

impl i2c::Error for Dead {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::Bus
    }
}

impl std::fmt::Debug for Dead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dead")
    }
}

impl spi::ErrorType for Dead {
    type Error = Dead;
}

impl spi::SpiDevice for Dead {
    fn transaction(&mut self, _: &mut [spi::Operation<'_, u8>]) -> Result<(), Dead> {
        Err(Dead)
    }
}

impl spi::SpiBus for Dead {
    fn read(&mut self, _: &mut [u8]) -> Result<(), Dead> {
        Err(Dead)
    }

    fn write(&mut self, _: &[u8]) -> Result<(), Dead> {
        Err(Dead)
    }

    fn transfer(&mut self, _: &mut [u8], _: &[u8]) -> Result<(), Dead> {
        Err(Dead)
    }

    fn transfer_in_place(&mut self, _: &mut [u8]) -> Result<(), Dead> {
        Err(Dead)
    }

    fn flush(&mut self) -> Result<(), Dead> {
        Err(Dead)
    }
}

#[test]
fn errors_of_a_bus_are_handed_on() {
    let latch = [PinAction::set(State::Low), PinAction::set(State::High)];
    let mut chain = Hc165::new(Dead, Pin::new(&latch), NoopDelay, Closed::Low, Wiring::STRAIGHT);
    assert!(matches!(chain.scan(), Err(Hc165Error::Spi(Dead))));
    chain.release().1.done();

    let error = MockError::Io(std::io::ErrorKind::NotConnected);
    let latch = [PinAction::set(State::Low).with_error(error.clone())];
    let mut chain = Hc165::new(Dead, Pin::new(&latch), NoopDelay, Closed::Low, Wiring::STRAIGHT);
    assert!(matches!(chain.scan(), Err(Hc165Error::Latch(other)) if other == error));
    chain.release().1.done();

    let mut lamps = Ws2812::new(Dead, Encoding::Three, USB, Wiring::STRAIGHT);
    assert!(matches!(lamps.show(&Frame::DARK), Err(Dead)));

    let kind = i2c::ErrorKind::NoAcknowledge(i2c::NoAcknowledgeSource::Address);
    let bus = [I2cAction::write(ADDRESS, vec![0x21]).with_error(kind)];
    let mut lamps = Ht16k33::new(I2cMock::new(&bus), ADDRESS, Lamps::Plain, Wiring::STRAIGHT);
    assert_eq!(lamps.init(3), Err(kind));
    lamps.release().done();
}

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
                assert!(
                    kibitzer_core::drivers::ws2812::milliamps(&frame, dimmed) <= milliamps.max(64)
                );
            }
        }
    }
    let mut white = Frame::DARK;
    white.paint(Bitboard::FULL, Colour::White);
    assert_eq!(milliamps(&white, 255), 64 + 64 * 60);
    assert_eq!(milliamps(&Frame::DARK, 255), 64);
    // What is dimmed keeps its color and stays visible.
    assert_eq!(USB.dim(&white), 22);
    let lamps = show(&white, Encoding::Four, USB, Wiring::STRAIGHT);
    assert!(lamps.iter().all(|lamp| *lamp == [22; 3]));
    let dark = Supply { brightness: 7, ..USB };
    assert_eq!(dark.dim(&Frame::DARK), 7, "the brightness asked for is never exceeded");
}

#[test]
fn the_matrix_driver_is_switched_on_dark_and_shows_rows() {
    let mut frame = Frame::DARK;
    frame.set(Square::A1, Colour::Green);
    frame.set(Square::C1, Colour::Blue);
    frame.set(Square::H3, Colour::Red);
    frame.set(Square::B8, Colour::Orange);
    let message = |rows: [(usize, u8); 4]| {
        let mut message = vec![0; 17];
        rows.iter().for_each(|&(place, bits)| message[1 + place] |= bits);
        message
    };
    // Even places are the first eight outputs of a row, odd ones the last eight.
    for (lamps, rows) in [
        (Lamps::Plain, [(0, 1), (0, 4), (4, 128), (14, 2)]),
        (Lamps::Backpack, [(0, 128), (0, 2), (4, 64), (14, 1)]),
        (Lamps::TwoColors, [(0, 1 | 4), (1, 4), (5, 128), (15, 2)]),
    ] {
        let bus = [
            I2cAction::write(ADDRESS, vec![0x21]),
            I2cAction::write(ADDRESS, vec![0; 17]),
            I2cAction::write(ADDRESS, vec![0xef]),
            I2cAction::write(ADDRESS, vec![0x81]),
            I2cAction::write(ADDRESS, message(rows)),
            I2cAction::write(ADDRESS, vec![0xe2]),
        ];
        let mut driver = Ht16k33::new(I2cMock::new(&bus), ADDRESS, lamps, Wiring::STRAIGHT);
        driver.init(200).expect("no error");
        driver.show(&frame).expect("no error");
        driver.brightness(2).expect("no error");
        driver.release().done();
    }
}

#[test]
fn a_serial_line_never_waits_and_survives_lost_bytes() {
    use serial::ErrorKind::{FrameFormat, Noise, Other, Overrun, Parity};
    let broken = |kind| SerialAction::read_error(nb::Error::Other(kind));
    let quiet = || SerialAction::read_error(nb::Error::WouldBlock);
    let line = SerialMock::new(&[
        SerialAction::read_many(b"ab"),
        broken(Overrun),
        SerialAction::read(b'c'),
        broken(Noise),
        broken(Parity),
        broken(FrameFormat),
        quiet(),
        // The ring has room for four: the fifth byte stays on the line.
        SerialAction::read(b'd'),
        SerialAction::read_many(b"ef"),
        broken(Other),
    ]);
    let mut uart = Uart::<_, 4>::new(line);
    assert_eq!(uart.poll(), Ok(3));
    assert_eq!(uart.faults(), Faults { overruns: 1, broken: 3 });
    assert_eq!(uart.poll(), Ok(4));
    assert_eq!(uart.poll(), Ok(4));
    assert_eq!([uart.take(), uart.take()], [Some(b'a'), Some(b'b')]);
    assert_eq!(uart.poll(), Ok(4));
    let rest: Vec<u8> = std::iter::from_fn(|| uart.take()).collect();
    assert_eq!(rest, b"cdef");
    assert_eq!(uart.poll(), Err(Other), "what is no loss of a byte is handed on");
    uart.release().done();
}

#[test]
fn a_line_that_is_nothing_but_errors_is_given_up_for_now() {
    let noise = || SerialAction::<u8>::read_error(nb::Error::Other(serial::ErrorKind::Noise));
    let mut uart = Uart::<_, 4>::new(SerialMock::new(&[(); 16].map(|()| noise())));
    assert_eq!(uart.poll(), Err(serial::ErrorKind::Noise));
    assert_eq!(uart.faults().broken, 16);
    uart.release().done();
}

#[test]
fn what_a_line_does_not_take_stays_in_the_outbox() {
    let busy = SerialAction::write_error(b'k', nb::Error::WouldBlock);
    let fault = SerialAction::write_error(b'k', nb::Error::Other(serial::ErrorKind::Other));
    let line = [SerialAction::write(b'o'), busy, fault, SerialAction::write_many(b"k\n")];
    let mut uart = Uart::<_, 4>::new(SerialMock::new(&line));
    let mut outbox = Outbox::<8>::new();
    outbox.send(b"ok\n").expect("room");
    assert_eq!(uart.send(&mut outbox), Ok(false));
    assert_eq!(uart.send(&mut outbox), Err(serial::ErrorKind::Other));
    assert_eq!(uart.send(&mut outbox), Ok(true));
    assert!(outbox.is_empty());
    uart.release().done();
}
