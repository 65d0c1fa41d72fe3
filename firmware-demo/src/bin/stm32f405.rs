//! The chessboard on an STM32F405: 64 contacts on 74HC165s, 64 lamps WS2812, seven buttons, a line to an
//! app, as `docs/wiring.md` tells it for another chip; the pins are those below.
//!
//! An interrupt that is let through is `unsafe`, hence that of this file.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use embedded_hal::spi::MODE_0;
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
    clock::Clock,
    entry,
};
use stm32f4xx_hal::{
    flash::{FlashExt as _, LockedFlash, UnlockedFlash},
    gpio::{Input, Output, Pin, Speed},
    pac::{self, SPI1, SPI2, USART1, interrupt},
    prelude::*,
    rcc,
    serial::{self, Rx, Tx},
    spi::Spi,
    timer::Delay,
    watchdog::IndependentWatchdog,
};

/// The crystal of the board, and the core's clock.
const CRYSTAL_MHZ: u32 = 8;
const CORE_MHZ: u32 = 168;
/// Milliseconds without a round of the loop after which the chip starts anew: to erase a sector takes
/// up to four seconds.
const WATCHDOG_MS: u32 = 10_000;
/// Where saved games are: the last two sectors of 128 KiB, which the memory map leaves out.
const SAVED: core::ops::Range<u32> = 0xc_0000..0x10_0000;

static INBOX: Inbox = Inbox::new();
static READER: Mutex<RefCell<Option<Rx<USART1>>>> = Mutex::new(RefCell::new(None));

#[interrupt]
fn USART1() {
    free(|token| {
        let mut reader = READER.borrow(token).borrow_mut();
        let Some(reader) = reader.as_mut() else { return };
        // A broken byte breaks its message, which the protocol drops.
        if let Ok(byte) = reader.read() {
            INBOX.put(byte);
        }
    });
}

/// What is soldered to the chip.
struct Wired {
    clock: Clock,
    watchdog: IndependentWatchdog,
    contacts: Hc165<Solo<Spi<SPI1>>, Pin<'A', 4, Output>, Delay<pac::TIM2, 1_000_000>>,
    lamps: Ws2812<Spi<SPI2>>,
    signal: Pin<'C', 13, Output>,
    buttons: Buttons,
    line: Tx<USART1>,
}

/// Each to ground, with the chip's pull-up.
struct Buttons {
    hint: Pin<'C', 0, Input>,
    take_back: Pin<'C', 1, Input>,
    new_game: Pin<'C', 2, Input>,
    side: Pin<'C', 3, Input>,
    level: Pin<'C', 4, Input>,
    yes: Pin<'C', 5, Input>,
    no: Pin<'C', 6, Input>,
}

impl Parts for Wired {
    fn now(&mut self) -> u32 {
        // Wraps around as it may.
        (self.clock.ticks() / u64::from(CORE_MHZ * 1_000)) as u32
    }

    fn contacts(&mut self) -> Option<Bitboard> {
        self.contacts.scan().ok()
    }

    fn button(&mut self) -> Option<Button> {
        let Buttons { hint, take_back, new_game, side, level, yes, no } = &self.buttons;
        let buttons = [
            (hint.is_low(), Button::Hint),
            (take_back.is_low(), Button::TakeBack),
            (new_game.is_low(), Button::NewGame),
            (side.is_low(), Button::Side),
            (level.is_low(), Button::Level),
            (yes.is_low(), Button::Yes),
            (no.is_low(), Button::No),
        ];
        buttons.into_iter().find_map(|(is_down, button)| is_down.then_some(button))
    }

    fn show(&mut self, lamps: &Frame, signal: bool) {
        // A bus without a partner that answers has nothing to fail by.
        let _ = self.lamps.show(lamps);
        self.signal.set_state(signal.into());
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

/// The flash, locked but while it is written.
struct Chip(LockedFlash);

impl ErrorType for Chip {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Chip {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        ReadNorFlash::read(&mut self.0, offset, bytes).map_err(|_| NorFlashErrorKind::Other)
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Chip {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = UnlockedFlash::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        NorFlash::erase(&mut self.0.unlocked(), from, to).map_err(|_| NorFlashErrorKind::Other)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        self.0.unlocked().write(offset, bytes).map_err(|_| NorFlashErrorKind::Other)
    }
}

impl MultiwriteNorFlash for Chip {}

#[entry]
fn main() -> ! {
    let (wired, storage, seed) = set_up().expect("the chip's parts, which nobody took before");
    chip::start(wired, storage, seed)
}

/// Clocks at 168 MHz, pins, buses, the line, the flash; and 32 random bits.
fn set_up() -> Option<(Wired, Option<Storage<Chip>>, u32)> {
    let chip = pac::Peripherals::take()?;
    let core = cortex_m::Peripherals::take()?;
    let config = rcc::Config::hse(CRYSTAL_MHZ.MHz()).sysclk(CORE_MHZ.MHz()).require_pll48clk();
    let mut rcc = chip.RCC.freeze(config.pclk1(42.MHz()).pclk2(84.MHz()));
    let a = chip.GPIOA.split(&mut rcc);
    let b = chip.GPIOB.split(&mut rcc);
    let c = chip.GPIOC.split(&mut rcc);

    let uart = serial::Config::default().baudrate(BAUD.bps());
    let (line, mut reader) = chip.USART1.serial((a.pa9, a.pa10), uart, &mut rcc).ok()?.split();
    reader.listen();
    free(|token| READER.borrow(token).replace(Some(reader)));
    // SAFETY: the handler is there, and what it uses was set just now.
    unsafe { cortex_m::peripheral::NVIC::unmask(pac::Interrupt::USART1) };

    let delay = chip.TIM2.delay_us(&mut rcc);
    let contacts = (Some(a.pa5), Some(a.pa6), SPI1::NoMosi);
    let contacts = Spi::new(chip.SPI1, contacts, MODE_0, CONTACTS_HZ.Hz(), &mut rcc);
    let latch = a.pa4.into_push_pull_output();
    let contacts = Hc165::new(solo(contacts), latch, delay, Closed::Low, Wiring::STRAIGHT);

    let data = b.pb15.into_alternate().speed(Speed::High);
    let lamps = (SPI2::NoSck, SPI2::NoMiso, Some(data));
    // The nearest clock that there is, 42 MHz / 16, is within what lamps allow.
    let lamps = Spi::new(chip.SPI2, lamps, MODE_0, LAMPS_HZ.Hz(), &mut rcc);
    let lamps = Ws2812::new(lamps, Encoding::Three, SUPPLY, Wiring::SERPENTINE);

    let buttons = Buttons {
        hint: c.pc0.into_pull_up_input(),
        take_back: c.pc1.into_pull_up_input(),
        new_game: c.pc2.into_pull_up_input(),
        side: c.pc3.into_pull_up_input(),
        level: c.pc4.into_pull_up_input(),
        yes: c.pc5.into_pull_up_input(),
        no: c.pc6.into_pull_up_input(),
    };
    let signal = c.pc13.into_push_pull_output();

    let seed = noise(&chip.RNG.constrain(&mut rcc).release());
    let storage = Storage::mount(Chip(LockedFlash::new(chip.FLASH)), SAVED).ok();
    let clock = Clock::start(core.SYST);
    let mut watchdog = IndependentWatchdog::new(chip.IWDG);
    watchdog.start(WATCHDOG_MS.millis());
    Some((Wired { clock, watchdog, contacts, lamps, signal, buttons, line }, storage, seed))
}

/// A number of the chip's noise, or 0 where it finds its own noise wanting.
fn noise(generator: &pac::RNG) -> u32 {
    loop {
        let status = generator.sr().read();
        if status.secs().bit() || status.cecs().bit() {
            return 0;
        }
        if status.drdy().bit() {
            return generator.dr().read().rndata().bits();
        }
    }
}
