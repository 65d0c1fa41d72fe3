//! The network alone on emulated boards: flash, RAM, stack and instructions of an inference, by preset
//! and core.
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::boards::{Board, M0, M4, M7, M55};
use crate::elf::Image;
use crate::emulator;
use crate::host;
use crate::setup::Setup;
use crate::shell;

/// Bytes of stack that an inference may take beyond its scratch and the answer.
const STACK_BUDGET: u64 = 4 * 1024;
/// Bytes of flash for the program without the network's file. 24 KiB are the aim.
const CODE_BUDGET: u64 = 84 * 1024;

const CORES: [&Board; 3] = [&M0, &M4, &M7];
/// Networks with weights of 8 bits or of 4, and where they are run: the presets that are made for
/// boards, and the full one, which lies in DDR memory.
const NETWORKS: [(&str, &str, &[&Board]); 5] = [
    ("pico", "8", &CORES),
    ("m4", "8", &CORES),
    ("m7", "8", &CORES),
    ("full", "8", &[&M55]),
    ("full", "4", &[&M55]),
];

/// The host's programs.
pub struct Examples {
    /// Writes an untrained network.
    pub untrained: PathBuf,
    /// Answers as the boards do.
    pub inference: PathBuf,
}

/// `cargo xtask inference`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    let [untrained, inference] = ["untrained", "inference"].map(host::build_example);
    let examples = Examples { untrained: untrained?, inference: inference? };
    for (preset, bits, cores) in NETWORKS {
        match measure(&setup, &examples, (preset, bits), cores)? {
            Some(lines) => lines.iter().for_each(|line| println!("{line}")),
            None => {
                setup.print_missing();
                bail!("nothing was measured");
            }
        }
    }
    Ok(())
}

/// Two cores and a small network, with every budget; `None` where something is missing.
pub fn check(setup: &Setup, examples: &Examples) -> Result<Option<Vec<String>>> {
    measure(setup, examples, ("demo", "8"), &[&M4, &M0])
}

/// Runs an untrained network of this preset and these bits on each core, compares its answer with the host's and
/// holds the budgets; a line for each core.
fn measure(
    setup: &Setup,
    examples: &Examples,
    (preset, bits): (&str, &str),
    cores: &[&Board],
) -> Result<Option<Vec<String>>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else { return Ok(None) };
    let folder = shell::target_dir()?.join("board");
    fs::create_dir_all(&folder)?;
    let net = folder.join(preset).with_extension("kbz");
    let out = Command::new(&examples.untrained).args([preset, bits]).output()?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    fs::write(&net, &out.stdout)?;
    let expected = shell::output(Command::new(&examples.inference).arg(&net))?;
    let line = |core: &&Board| -> Result<String> {
        let image = toolchain.image("release", core.target, "inference", |build| {
            build.args(["--features", core.features]).env("KIBITZER_NET", &net);
        })?;
        let said = emulator::listen(core, &image)?;
        ensure!(
            said.answers.trim() == expected.trim(),
            "{preset} on {}: {}, on the host {}",
            core.core,
            said.answers.trim(),
            expected.trim()
        );
        let image = Image::read(&image)?;
        image.require_integers_without_heap()?;
        let model = out.stdout.len() as u64;
        let code = image.sizes()?.flash.saturating_sub(model);
        Cost::parse(&said.diagnostics, core, model, code)?
            .line(&format!("{preset}, {bits} bits"), core.core)
    };
    cores.iter().map(line).collect::<Result<_>>().map(Some)
}

/// What an inference takes.
#[derive(Debug, PartialEq)]
struct Cost {
    model: u64,
    code: u64,
    scratch: u64,
    stack: u64,
    instructions: u64,
}

impl Cost {
    /// Reads the lines `scratch BYTES`, `stack BYTES` and `ticks COUNT`, hexadecimal.
    fn parse(diagnostics: &str, board: &Board, model: u64, code: u64) -> Result<Self> {
        let number = |what: &str| -> Result<u64> {
            let mut lines = diagnostics.lines().filter_map(|line| line.split_once(' '));
            let found = lines.find(|(name, _)| *name == what);
            let (_, number) = found.with_context(|| format!("the board told no {what}"))?;
            Ok(u64::from_str_radix(number.trim(), 16)?)
        };
        Ok(Self {
            model,
            code,
            scratch: number("scratch")?,
            stack: number("stack")?,
            instructions: board.instructions(number("ticks")?),
        })
    }

    /// The figures, if they are within the budgets.
    fn line(&self, preset: &str, core: &str) -> Result<String> {
        let Self { model, code, scratch, stack, instructions } = self;
        let within = |what: &str, used: u64, budget: u64| -> Result<()> {
            ensure!(used <= budget, "{preset} on {core}: {used} bytes of {what}, {budget} allowed");
            Ok(())
        };
        within("stack", *stack, STACK_BUDGET)?;
        within("code", *code, CODE_BUDGET)?;
        let millions = *instructions as f64 / 1e6;
        Ok(format!(
            "{core:<11} {preset:<12} model {model}, code {code} of {CODE_BUDGET}, scratch {scratch}, \
             stack {stack} of {STACK_BUDGET} bytes, {millions:.2} million instructions"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_held_to_their_budgets() {
        let cost = |stack: u64, code| {
            let said = format!("scratch 7\r\nstack {stack:x}\r\nticks c350\r\n");
            Cost::parse(&said, &M4, 9, code).expect("good")
        };
        let line = cost(STACK_BUDGET, CODE_BUDGET).line("pico", "M4").expect("within");
        assert!(line.contains("2.00 million") && line.contains("scratch 7"), "{line}");
        let error = cost(STACK_BUDGET + 1, 0).line("pico", "M4").expect_err("exceeded");
        assert!(error.to_string().contains("4097 bytes of stack"), "{error}");
        let error = cost(0, CODE_BUDGET + 1).line("pico", "M4").expect_err("exceeded");
        assert!(error.to_string().contains("bytes of code"), "{error}");
        assert!(Cost::parse("scratch 7\nticks 1\n", &M4, 0, 0).is_err());
    }
}
