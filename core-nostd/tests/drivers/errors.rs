//! Errors of buses and pins, handed on as they are.
use embedded_hal::{i2c, spi};
use embedded_hal_mock::eh1::{
    MockError,
    delay::NoopDelay,
    digital::{Mock as Pin, State, Transaction as PinAction},
    i2c::{Mock as I2cMock, Transaction as I2cAction},
};
use kibitzer_core::{
    drivers::{
        Hc165, Ht16k33, Wiring, Ws2812,
        hc165::{Closed, Hc165Error},
        ht16k33::{ADDRESS, Lamps},
        ws2812::{Encoding, Supply},
    },
    lamps::Frame,
};

/// A bus that does not answer.
struct Dead;

impl spi::Error for Dead {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::ModeFault
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

    let supply = Supply { milliamps: 400, brightness: 255 };
    let mut lamps = Ws2812::new(Dead, Encoding::Three, supply, Wiring::STRAIGHT);
    assert!(matches!(lamps.show(&Frame::DARK), Err(Dead)));

    let kind = i2c::ErrorKind::NoAcknowledge(i2c::NoAcknowledgeSource::Address);
    let bus = [I2cAction::write(ADDRESS, vec![0x21]).with_error(kind)];
    let mut lamps = Ht16k33::new(I2cMock::new(&bus), ADDRESS, Lamps::Plain, Wiring::STRAIGHT);
    assert_eq!(lamps.init(3), Err(kind));
    lamps.release().done();
}
