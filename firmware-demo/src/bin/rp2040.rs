//! The chessboard on a Raspberry Pi Pico: 64 contacts on 74HC165s, 64 lamps WS2812, seven buttons, a
//! line to an app. `docs/wiring.md` tells how to build it.
//!
//! The second boot stage has its place in flash, an interrupt takes the line's receiver out of a cell,
//! and the chip's ROM programs the flash that the program runs from: hence the `unsafe` of this file.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use embedded_hal::digital::{InputPin, OutputPin};
use embedded_hal::spi::{MODE_0, MODE_1};
use embedded_hal_nb::serial::{Read, Write};
use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase,
    check_read, check_write,
};
use kibitzer_core::{
    chessboard::Button,
    drivers::{Hc165, Wiring, Ws2812, hc165::Closed, ws2812::Encoding},
    lamps::Frame,
    shakmaty::Bitboard,
    storage::Storage,
};
use kibitzer_firmware::{
    chip::{self, BAUD, CONTACTS_HZ, Inbox, LAMPS_HZ, Parts, SUPPLY, Solo, solo},
    entry,
};
use rp2040_flash::flash;
use rp2040_hal::{
    Clock as _, Sio, Timer, Watchdog,
    clocks::init_clocks_and_plls,
    fugit::{ExtU32 as _, RateExtU32 as _},
    gpio::{
        DynPinId, FunctionSio, FunctionSpi, FunctionUart, Pin, Pins, PullDown, PullUp, SioInput,
        SioOutput,
        bank0::{Gpio0, Gpio1, Gpio10, Gpio11, Gpio16, Gpio18, Gpio19},
    },
    pac::{self, interrupt},
    rosc::RingOscillator,
    spi::{Enabled as SpiEnabled, Spi},
    uart::{DataBits, Enabled, Reader, StopBits, UartConfig, UartPeripheral, Writer},
};

/// What sets the flash's bus up before the program starts: for the Pico's chip and most others.
#[unsafe(link_section = ".boot2")]
#[unsafe(no_mangle)]
#[used]
static BOOT2_FIRMWARE: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

/// The crystal of the board.
const CRYSTAL_HZ: u32 = 12_000_000;
/// Milliseconds without a round of the loop after which the chip starts anew.
const WATCHDOG_MS: u32 = 4_000;

/// The flash's bytes, from where the chip has it in its memory.
const FLASH_BYTES: usize = 2 * 1024 * 1024;
const FLASH_BASE: usize = 0x1000_0000;
/// Where saved games are: the memory map leaves the last 64 KiB out.
const SAVED: core::ops::Range<u32> = 0x1f_0000..0x20_0000;

type LinePins = (Pin<Gpio0, FunctionUart, PullDown>, Pin<Gpio1, FunctionUart, PullDown>);
type LineReader = Reader<pac::UART0, LinePins>;
type ContactPins = (
    Pin<Gpio19, FunctionSpi, PullDown>,
    Pin<Gpio16, FunctionSpi, PullDown>,
    Pin<Gpio18, FunctionSpi, PullDown>,
);
type LampPins = (Pin<Gpio11, FunctionSpi, PullDown>, Pin<Gpio10, FunctionSpi, PullDown>);
type Output = Pin<DynPinId, FunctionSio<SioOutput>, PullDown>;
type Input = Pin<DynPinId, FunctionSio<SioInput>, PullUp>;

static INBOX: Inbox = Inbox::new();
static READER: Mutex<RefCell<Option<LineReader>>> = Mutex::new(RefCell::new(None));

#[interrupt]
fn UART0_IRQ() {
    free(|token| {
        let mut reader = READER.borrow(token).borrow_mut();
        let Some(reader) = reader.as_mut() else { return };
        // A broken byte breaks its message, which the protocol drops.
        while let Ok(byte) = reader.read() {
            INBOX.put(byte);
        }
    });
}

/// What is soldered to the Pico.
struct Pico {
    timer: Timer,
    watchdog: Watchdog,
    contacts: Hc165<Solo<Spi<SpiEnabled, pac::SPI0, ContactPins>>, Output, Timer>,
    lamps: Ws2812<Spi<SpiEnabled, pac::SPI1, LampPins>>,
    signal: Output,
    buttons: [(Input, Button); 7],
    line: Writer<pac::UART0, LinePins>,
}

impl Parts for Pico {
    fn now(&mut self) -> u32 {
        // Wraps around as it may.
        (self.timer.get_counter().ticks() / 1_000) as u32
    }

    fn contacts(&mut self) -> Option<Bitboard> {
        self.contacts.scan().ok()
    }

    fn button(&mut self) -> Option<Button> {
        let mut buttons = self.buttons.iter_mut();
        buttons.find_map(|(pin, button)| (pin.is_low() == Ok(true)).then_some(*button))
    }

    fn show(&mut self, lamps: &Frame, signal: bool) {
        // Neither can fail.
        let _ = self.lamps.show(lamps);
        let _ = self.signal.set_state(signal.into());
    }

    fn receive(&mut self) -> Option<u8> {
        INBOX.take()
    }

    fn send(&mut self, byte: u8) -> bool {
        self.line.write(byte).is_ok()
    }

    fn feed(&mut self) {
        self.watchdog.feed();
    }
}

/// The flash, which takes as many writes to a row of 256 bytes as there are bytes.
struct Chip;

impl ErrorType for Chip {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Chip {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        let start = FLASH_BASE + offset as usize;
        for (at, byte) in (start..).zip(bytes) {
            // SAFETY: the check above leaves only bytes of the flash, which the chip has in its memory
            // and which nothing but this driver changes. Volatile, as it does so behind the
            // compiler's back.
            *byte = unsafe { core::ptr::read_volatile(at as *const u8) };
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        FLASH_BYTES
    }
}

/// Bytes that are programmed at once.
const ROW: usize = 256;

impl NorFlash for Chip {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        // SAFETY: no interrupt, no second core and no DMA reads flash meanwhile; the range is whole
        // sectors of the flash, and `SAVED` keeps it off the program.
        free(|_| unsafe { flash::flash_range_erase(from, to - from, true) });
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let mut at = offset as usize;
        let mut left = bytes;
        while !left.is_empty() {
            // The other bytes of the row stay as they are: ones change nothing.
            let place = at % ROW;
            let (now, later) = left.split_at(left.len().min(ROW - place));
            let mut row = [0xff; ROW];
            row[place..place + now.len()].copy_from_slice(now);
            // SAFETY: as above; the row is whole, and lies in RAM.
            free(|_| unsafe { flash::flash_range_program((at - place) as u32, &row, true) });
            at += now.len();
            left = later;
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for Chip {}

#[entry]
fn main() -> ! {
    let (pico, seed) = set_up().expect("the Pico's parts, which nobody took before");
    let storage = Storage::mount(Chip, SAVED).ok();
    chip::start(pico, storage, seed)
}

/// Clocks at 125 MHz, pins, buses, the line; and 32 random bits.
fn set_up() -> Option<(Pico, u32)> {
    let mut chip = pac::Peripherals::take()?;
    let mut watchdog = Watchdog::new(chip.WATCHDOG);
    let clocks = init_clocks_and_plls(
        CRYSTAL_HZ,
        chip.XOSC,
        chip.CLOCKS,
        chip.PLL_SYS,
        chip.PLL_USB,
        &mut chip.RESETS,
        &mut watchdog,
    )
    .ok()?;
    let bus = clocks.peripheral_clock.freq();
    let timer = Timer::new(chip.TIMER, &mut chip.RESETS, &clocks);
    let sio = Sio::new(chip.SIO);
    let pins = Pins::new(chip.IO_BANK0, chip.PADS_BANK0, sio.gpio_bank0, &mut chip.RESETS);

    let uart = UartConfig::new(BAUD.Hz(), DataBits::Eight, None, StopBits::One);
    let line: LinePins = (pins.gpio0.reconfigure(), pins.gpio1.reconfigure());
    let uart: UartPeripheral<Enabled, _, _> =
        UartPeripheral::new(chip.UART0, line, &mut chip.RESETS).enable(uart, bus).ok()?;
    let (mut reader, line) = uart.split();
    reader.enable_rx_interrupt();
    free(|token| READER.borrow(token).replace(Some(reader)));
    // SAFETY: the handler is there, and what it uses was set just now.
    unsafe { cortex_m::peripheral::NVIC::unmask(pac::Interrupt::UART0_IRQ) };

    let contacts: ContactPins =
        (pins.gpio19.reconfigure(), pins.gpio16.reconfigure(), pins.gpio18.reconfigure());
    let contacts =
        Spi::new(chip.SPI0, contacts).init(&mut chip.RESETS, bus, CONTACTS_HZ.Hz(), MODE_0);
    let latch: Output = pins.gpio17.into_push_pull_output().into_dyn_pin();
    let contacts = Hc165::new(solo(contacts), latch, timer, Closed::Low, Wiring::STRAIGHT);

    let lamps: LampPins = (pins.gpio11.reconfigure(), pins.gpio10.reconfigure());
    // In mode 0 this bus rests between two bytes, which the lamps would take for the end of a bit.
    let lamps = Spi::new(chip.SPI1, lamps).init(&mut chip.RESETS, bus, LAMPS_HZ.Hz(), MODE_1);
    let lamps = Ws2812::new(lamps, Encoding::Three, SUPPLY, Wiring::SERPENTINE);

    let signal: Output = pins.gpio22.into_push_pull_output().into_dyn_pin();
    let buttons: [(Input, Button); 7] = [
        (pins.gpio2.into_pull_up_input().into_dyn_pin(), Button::Hint),
        (pins.gpio3.into_pull_up_input().into_dyn_pin(), Button::TakeBack),
        (pins.gpio4.into_pull_up_input().into_dyn_pin(), Button::NewGame),
        (pins.gpio5.into_pull_up_input().into_dyn_pin(), Button::Side),
        (pins.gpio6.into_pull_up_input().into_dyn_pin(), Button::Level),
        (pins.gpio7.into_pull_up_input().into_dyn_pin(), Button::Yes),
        (pins.gpio8.into_pull_up_input().into_dyn_pin(), Button::No),
    ];

    let noise = RingOscillator::new(chip.ROSC).initialize();
    let seed = (0..32).fold(0, |seed, _| seed << 1 | u32::from(noise.get_random_bit()));
    watchdog.start(WATCHDOG_MS.millis());
    Some((Pico { timer, watchdog, contacts, lamps, signal, buttons, line }, seed))
}
