//! Elapsed ticks of the SysTick timer, beyond its 24 bits.
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;

/// SysTick counts down from here and starts over.
const RELOAD: u32 = 0x00ff_ffff;

static WRAPS: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    // Nothing else writes it; a Cortex-M0 has no instruction that adds in one go.
    WRAPS.store(WRAPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The running timer, 25 MHz on this board.
pub struct Clock {
    /// Held so that nobody else sets it.
    _timer: SYST,
}

impl Clock {
    /// Starts the timer at zero ticks.
    pub fn start(mut timer: SYST) -> Self {
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(RELOAD);
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        Self { _timer: timer }
    }

    /// Ticks since the start.
    pub fn ticks(&self) -> u64 {
        loop {
            let wraps = WRAPS.load(Ordering::Relaxed);
            let down = SYST::get_current();
            // A wrap between the two reads would count a period twice or not at all.
            if WRAPS.load(Ordering::Relaxed) == wraps {
                return u64::from(wraps) * u64::from(RELOAD + 1) + u64::from(RELOAD - down);
            }
        }
    }
}
