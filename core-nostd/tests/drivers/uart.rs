//! The serial line, by what comes and goes on it.
use embedded_hal_mock::eh1::serial::{Mock as SerialMock, Transaction as SerialAction};
use embedded_hal_nb::{nb, serial};
use kibitzer_core::{
    drivers::{Uart, uart::Faults},
    protocol::{Outbox, Sink as _},
};

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
