//! The linker's proof that nothing in the core can panic.
use anyhow::{Context, Result, bail};

use crate::boards::{Board, M0, M4};
use crate::elf::Image;
use crate::setup::Setup;

/// The program that links only if no panic can be reached.
const PROGRAM: &str = "total";

/// `cargo xtask proof`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    match link(&setup)? {
        Some(lines) => lines.iter().for_each(|line| println!("{line}")),
        None => {
            setup.print_missing();
            bail!("nothing was proved");
        }
    }
    Ok(())
}

/// Links the program that no panic may be reached in, which also computes with no float and has no
/// heap; a line for each kind of chip. `None` where the compiler is missing.
pub fn link(setup: &Setup) -> Result<Option<Vec<String>>> {
    let Some(toolchain) = &setup.toolchain else { return Ok(None) };
    let prove = |board: &Board| -> Result<String> {
        let image =
            toolchain.image("release", board.target, PROGRAM, |_| ()).with_context(|| {
                format!(
                    "where the linker misses a_panic_may_be_reached, one may be for all that the \
                 compiler knows, on {}; docs/proof.md tells how to find it",
                    board.target
                )
            })?;
        let image = Image::read(&image)?;
        image.require_integers_without_heap()?;
        let flash = image.sizes()?.flash;
        Ok(format!("{:<17} no panic can be reached; {flash} bytes of flash", board.core))
    };
    [M4, M0].iter().map(prove).collect::<Result<_>>().map(Some)
}
