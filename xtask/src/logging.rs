//! The core's errors and answers logged by defmt: linked, and run on an emulated board.
use anyhow::{Context, Result, ensure};

use crate::boards::{Board, M0, M4};
use crate::emulator;
use crate::setup::Setup;

/// The program that logs; also the name of its feature.
pub const LOGGING: &str = "logging";
/// What ends a frame.
const END: char = '\0';

/// Links the program that logs and counts the frames that it sends; a line for each kind of chip.
/// `None` where something is missing.
pub fn check(setup: &Setup) -> Result<Option<Vec<String>>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else { return Ok(None) };
    let line = |board: &Board| -> Result<String> {
        let Board { core, target, .. } = board;
        let image = toolchain.image("small", target, LOGGING, |build| {
            build.args(["--no-default-features", "--features", LOGGING]);
        })?;
        let said = emulator::listen(board, &image)?;
        let frames = count(&said.answers, &said.diagnostics).context(*core)?;
        Ok(format!("{core:<17} {frames} frames logged by defmt"))
    };
    [M4, M0].iter().map(line).collect::<Result<_>>().map(Some)
}

/// The frames that were sent, which must be as many as the program says.
fn count(answers: &str, frames: &str) -> Result<usize> {
    let said = answers.trim().strip_prefix("frames ").and_then(|count| count.parse().ok());
    let said: usize = said.with_context(|| format!("it says nothing of frames: {answers}"))?;
    let found = frames.split_terminator(END).filter(|frame| !frame.is_empty()).count();
    ensure!(said > 0 && said == found, "{said} frames were logged, {found} came");
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted() {
        assert_eq!(count("frames 2\r\n", "ab\0c\0").expect("both"), 2);
        let error = |said, frames| count(said, frames).expect_err("wrong").to_string();
        assert!(error("frames 3\n", "ab\0c\0").contains("3 frames were logged, 2 came"));
        assert!(error("frames 0\n", "").contains("0 came"));
        assert!(error("logging while logging\n", "").contains("nothing of frames"));
    }
}
