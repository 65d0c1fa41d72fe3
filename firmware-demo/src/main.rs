//! A chessboard's firmware: reads FEN lines from UART0 and answers on it.
#![no_std]
#![no_main]

mod clock;
mod stack;
mod uart;

use core::panic::PanicInfo;

use cortex_m_rt::entry;
use cortex_m_semihosting::debug;
use embedded_io::{Read, Write};

#[entry]
fn main() -> ! {
    let core = cortex_m::Peripherals::take().expect("first and only call");
    let (mut line, mut diagnostics) = uart::take().expect("first and only call");
    let clock = clock::Clock::start(core.SYST);
    let mut byte = [0];
    loop {
        let Ok(_) = line.read(&mut byte);
        if byte[0] == 4 {
            break;
        }
        let Ok(()) = line.write_all(&byte);
        let _ = writeln!(diagnostics, "ticks {}", clock.ticks());
    }
    let _ = writeln!(diagnostics, "stack {}", stack::deepest());
    debug::exit(debug::EXIT_SUCCESS);
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    let _ = writeln!(uart::last_words(), "{info}");
    debug::exit(debug::EXIT_FAILURE);
    loop {
        cortex_m::asm::wfi();
    }
}
