//! The chessboard's program for real chips: linked into their memory, within budgets; and what the
//! chips share run on an emulated board of their core.
use anyhow::{Result, bail, ensure};

use crate::boards::{Board, M0, M4};
use crate::elf::{Image, Sizes};
use crate::emulator;
use crate::setup::Setup;
use crate::toolchain::Toolchain;

/// Flash for the whole board without a network, in bytes.
const FLASH_BUDGET: u64 = 384 * 1024;
/// Its RAM, data and stack, in bytes.
const RAM_BUDGET: u64 = 64 * 1024;
/// Bytes of stack in which a chip's own parts are set up and handed on, beyond the rehearsal's.
const STACK_OF_PARTS: u64 = 12 * 1024;

/// What chips share, on an emulated board; also the name of its feature.
pub const REHEARSAL: &str = "rehearsal";
/// What the rehearsal says: all was loaded, lamps were lit, and these moves are in flash.
const PLAYED: &str = "Ok(Whole) 1 e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 f3g5 d7d5 e4d5 c6d4 e1g1 h7h6";
/// Viveka's code is made small.
const PROFILE: &str = "small";

/// A chip, by the name of its program and of its feature.
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// The emulated board of its core.
    pub board: Board,
}

/// All of them.
pub const CHIPS: [Chip; 2] =
    [Chip { name: "rp2040", board: M0 }, Chip { name: "stm32f405", board: M4 }];

/// `cargo xtask chips`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    match check(&setup)? {
        Some(lines) => lines.iter().for_each(|line| println!("{line}")),
        None => {
            setup.print_missing();
            bail!("no chip's program was built");
        }
    }
    Ok(())
}

/// Builds each chip's program and holds it to the budgets, with the stack of the rehearsal; a line for
/// each. `None` where something is missing.
pub fn check(setup: &Setup) -> Result<Option<Vec<String>>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else { return Ok(None) };
    let line = |chip: &Chip| {
        let sizes = build(toolchain, chip)?;
        let stack = rehearse(toolchain, &chip.board)?;
        require_budgets(chip.name, &sizes, stack)?;
        let &Sizes { flash, ram } = &sizes;
        Ok(format!(
            "{:<17} flash {flash} of {FLASH_BUDGET}, RAM {} of {RAM_BUDGET} bytes: static {ram}, \
             rehearsal's stack {stack}, its own parts {STACK_OF_PARTS} at most",
            chip.name,
            all_ram(&sizes, stack)
        ))
    };
    CHIPS.iter().map(line).collect::<Result<_>>().map(Some)
}

/// Links a chip's program, which computes with no float and has no heap.
fn build(toolchain: &Toolchain, chip: &Chip) -> Result<Sizes> {
    let image = toolchain.image(PROFILE, chip.board.target, chip.name, |build| {
        build.args(["--no-default-features", "--features", chip.name]);
    })?;
    let image = Image::read(&image)?;
    image.require_integers_without_heap()?;
    image.sizes()
}

/// Plays the rehearsal on an emulated board; the bytes of its deepest stack.
fn rehearse(toolchain: &Toolchain, board: &Board) -> Result<u64> {
    let image = toolchain.image(PROFILE, board.target, REHEARSAL, |build| {
        build.args(["--no-default-features", "--features", REHEARSAL]);
    })?;
    let said = emulator::listen(board, &image)?;
    ensure!(
        said.answers.trim() == PLAYED,
        "the rehearsal on {} says {}, not {PLAYED}",
        board.core,
        said.answers.trim()
    );
    let stack = said.diagnostics.trim().strip_prefix("stack ").and_then(|n| n.parse().ok());
    stack.ok_or_else(|| anyhow::anyhow!("the rehearsal tells no stack: {}", said.diagnostics))
}

/// Bytes of RAM, data and stack.
const fn all_ram(sizes: &Sizes, stack: u64) -> u64 {
    sizes.ram + stack + STACK_OF_PARTS
}

fn require_budgets(name: &str, sizes: &Sizes, stack: u64) -> Result<()> {
    let flash = sizes.flash;
    ensure!(flash <= FLASH_BUDGET, "{name}: {flash} bytes of flash, {FLASH_BUDGET} are allowed");
    let ram = all_ram(sizes, stack);
    ensure!(ram <= RAM_BUDGET, "{name}: {ram} bytes of RAM, {RAM_BUDGET} are allowed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use crate::shell;

    #[test]
    fn budgets_are_held() {
        let error = |flash, ram, stack| {
            let error = require_budgets("x", &Sizes { flash, ram }, stack).err();
            error.map(|error| error.to_string())
        };
        assert_eq!(error(384 << 10, 20 << 10, 32 << 10), None);
        assert!(error((384 << 10) + 1, 0, 0).expect("exceeded").contains("393217 bytes of flash"));
        assert!(
            error(0, 20 << 10, (32 << 10) + 1).expect("exceeded").contains("65537 bytes of RAM")
        );
    }

    /// What a text says of pins: the number in `before`NUMBER, wherever it stands.
    fn pins(text: &str, before: &str) -> std::collections::BTreeSet<u32> {
        let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        text.split(before).skip(1).filter_map(|rest| digits(rest).parse().ok()).collect()
    }

    #[test]
    fn the_wiring_page_names_the_pins_of_the_program() {
        let root = shell::root();
        let read = |path| fs::read_to_string(root.join(path)).expect(path);
        let program = read("firmware-demo/src/bin/rp2040.rs");
        let page = read("docs/wiring.md");
        assert_eq!(pins(&page, "| GP"), pins(&program, "pins.gpio"));
    }
}
