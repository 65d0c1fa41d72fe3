//! A bus that a single device is on, which needs no select line.
use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use embedded_hal_bus::spi::{ExclusiveDevice, NoDelay};

/// The device that has a bus to itself.
pub type Solo<B> = ExclusiveDevice<B, NoPin, NoDelay>;

/// The only device on `bus`.
pub fn solo<B>(bus: B) -> Solo<B> {
    match ExclusiveDevice::new_no_delay(bus, NoPin) {
        Ok(device) => device,
    }
}

/// A pin that is not there.
pub struct NoPin;

impl ErrorType for NoPin {
    type Error = Infallible;
}

impl OutputPin for NoPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
