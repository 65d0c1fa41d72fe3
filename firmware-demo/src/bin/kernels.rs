//! The network's inner loops on the board: whether they give the host's sums, and what they cost.
//!
//! UART0 says the digests of the sums, line by line as the core's example of the same name says
//! them on the host. UART1 says for each product `TOKENS BITS ROWS COLUMNS RUNS TICKS`: the
//! activations have so many bits, and the ticks, of the 25 MHz SysTick, are those of all runs
//! together.
#![no_std]
#![no_main]

use core::fmt::{self, Write as _};

use kibitzer_core::net::ModelError;
use kibitzer_core::net::infer::Width;
use kibitzer_core::net::infer::self_test::{
    LENGTHS, MOST_TOKENS, PRODUCTS, Product, WIDTH, digest, digest_of,
};
use kibitzer_firmware::clock::Clock;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::entry;
use kibitzer_firmware::uart::{self, Ports, Transmitter};

/// Runs of each product that are measured together.
const RUNS: u64 = 8;

#[entry]
fn main() -> ! {
    // The runtime hands these out once, as `&'static mut`.
    static mut MEMORY: [u32; Product::words(MOST_TOKENS)] = [0; Product::words(MOST_TOKENS)];
    static mut OUTPUTS: [i8; MOST_TOKENS * WIDTH] = [0; MOST_TOKENS * WIDTH];

    let core = cortex_m::Peripherals::take().expect("nobody took them before main");
    let mut ports = uart::take().expect("nobody took them before main");
    let clock = Clock::start(core.SYST);
    let checked = check(&mut ports.output);
    let measured = PRODUCTS
        .iter()
        .try_for_each(|&product| measure(product, &clock, MEMORY, OUTPUTS, &mut ports));
    exit(checked.is_ok() && measured.is_ok())
}

/// What keeps the board from telling.
enum Failure {
    Output,
    Model,
}

impl From<fmt::Error> for Failure {
    fn from(_: fmt::Error) -> Self {
        Self::Output
    }
}

impl From<ModelError> for Failure {
    fn from(_: ModelError) -> Self {
        Self::Model
    }
}

fn check(output: &mut Transmitter) -> Result<(), Failure> {
    for columns in LENGTHS {
        writeln!(output, "columns {columns} {:016x}", digest(columns)?)?;
    }
    Ok(())
}

fn measure(
    (tokens, width): (usize, Width),
    clock: &Clock,
    memory: &mut [u32],
    outputs: &mut [i8],
    ports: &mut Ports,
) -> Result<(), Failure> {
    let Ports { output, diagnostics, .. } = ports;
    let mut product = Product::new(tokens, width, memory)?;
    let outputs = &mut outputs[..tokens * WIDTH];
    let start = clock.ticks();
    for _ in 0..RUNS {
        product.run(outputs)?;
    }
    let ticks = clock.ticks() - start;
    let (bits, digest) = (width.bits(), digest_of(outputs));
    writeln!(output, "product {tokens} {bits} {WIDTH} {WIDTH} {digest:016x}")?;
    writeln!(diagnostics, "{tokens} {bits} {WIDTH} {WIDTH} {RUNS} {ticks}")?;
    Ok(())
}
