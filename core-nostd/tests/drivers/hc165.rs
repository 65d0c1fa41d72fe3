//! The chain of shift registers, by what goes over its bus and its pin.
use embedded_hal_mock::eh1::{
    delay::NoopDelay,
    digital::{Mock as Pin, State, Transaction as PinAction},
    spi::{Mock as SpiMock, Transaction as SpiAction},
};
use kibitzer_core::{
    drivers::{Hc165, Wiring, hc165::Closed},
    shakmaty::{Bitboard, Square},
};

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
