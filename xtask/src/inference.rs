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

/// What of the program's image is not inference: the measuring program, the firmware's ports and
/// clock, the core's module of the measured task; names as the compiler mangles them.
const MEASURING: [&str; 3] = ["9inference", "17kibitzer_firmware", "9self_test"];
/// The network's file, which is one of the firmware's symbols.
const NETWORK: &str = "17kibitzer_firmware3net3NET";
/// And the runtime: vectors, start, handlers.
const RUNTIME: [&str; 9] = [
    "__EXCEPTIONS",
    "__INTERRUPTS",
    "__RESET_VECTOR",
    "DefaultHandler_",
    "DefaultPreInit",
    "HardFault_",
    "Reset",
    "SysTick",
    "main",
];

/// A core that a network is run on.
struct Core {
    board: &'static Board,
    /// How its program is compiled. With the DSP extension all that is repeated is in assembly, so
    /// that the smaller program is as fast.
    profile: &'static str,
    /// Bytes of flash for the program without the network's file.
    code: u64,
    /// Bytes of it for inference with all that it needs: what reads and checks the file, constants,
    /// the compiler's memory functions, and whatever else is neither [`MEASURING`] nor [`RUNTIME`].
    inference: u64,
}

const DSP: Core = Core { board: &M4, profile: "smallest", code: 27 * 1024, inference: 24 * 1024 };
const ARMV6M: Core = Core { board: &M0, profile: "release", code: 63 * 1024, inference: 61 * 1024 };
const CORES: [Core; 3] = [ARMV6M, DSP, Core { board: &M7, ..DSP }];

/// A network, and where it is run: the presets that are made for boards, and the full one, which
/// lies in DDR memory.
struct Network {
    preset: &'static str,
    /// Bits of its weights.
    bits: &'static str,
    /// The most instructions that a multiply-add may cost on each core, all else included.
    cores: &'static [(Core, f64)],
}

const NETWORKS: [Network; 5] = [
    Network { preset: "pico", bits: "8", cores: &on([5.35, 1.43, 1.43]) },
    Network { preset: "m4", bits: "8", cores: &on([4.78, 1.24, 1.24]) },
    Network { preset: "m7", bits: "8", cores: &on([4.28, 1.08, 1.08]) },
    Network { preset: "full", bits: "8", cores: &[(IN_DDR, 0.95)] },
    Network { preset: "full", bits: "4", cores: &[(IN_DDR, 1.33)] },
];
const IN_DDR: Core = Core { board: &M55, code: 28 * 1024, ..DSP };
/// The network of the tests.
const SMALL: Network = Network { preset: "demo", bits: "8", cores: &on([5.45, 1.47, 1.47]) };

/// The usual cores, each with the most instructions a multiply-add.
const fn on([m0, m4, m7]: [f64; 3]) -> [(Core, f64); 3] {
    let [a, b, c] = CORES;
    [(a, m0), (b, m4), (c, m7)]
}

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
    for network in &NETWORKS {
        match measure(&setup, &examples, network)? {
            Some(lines) => lines.iter().for_each(|line| println!("{line}")),
            None => {
                setup.print_missing();
                bail!("nothing was measured");
            }
        }
    }
    Ok(())
}

/// A small network, with every budget; `None` where something is missing.
pub fn check(setup: &Setup, examples: &Examples) -> Result<Option<Vec<String>>> {
    measure(setup, examples, &SMALL)
}

/// Runs an untrained network on each of its cores, compares its answer with the host's and holds
/// the budgets; a line for each core.
fn measure(setup: &Setup, examples: &Examples, network: &Network) -> Result<Option<Vec<String>>> {
    let Network { preset, bits, .. } = network;
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else { return Ok(None) };
    let net = host::write_untrained(&examples.untrained, preset, bits)?;
    let model = fs::metadata(&net)?.len();
    let told = shell::output(Command::new(&examples.inference).arg(&net))?;
    let (expected, multiply_adds) =
        told.trim().split_once("\nmultiply-adds ").context("of the host")?;
    let multiply_adds: u64 = multiply_adds.parse()?;
    let line = |(core, most): &(Core, f64)| -> Result<String> {
        let board = core.board;
        let image = toolchain.image(core.profile, board.target, "inference", |build| {
            build.args(["--features", board.features]).env("KIBITZER_NET", &net);
        })?;
        let said = emulator::listen(board, &image)?;
        ensure!(
            said.answers.trim() == expected.trim(),
            "{preset} on {}: {}, on the host {}",
            board.core,
            said.answers.trim(),
            expected.trim()
        );
        let image = Image::read(&image)?;
        image.require_integers_without_heap()?;
        let code = image.sizes()?.flash.saturating_sub(model);
        let beside = image.bytes_of(|name| {
            let measures = MEASURING.iter().any(|part| name.contains(part));
            RUNTIME.contains(&name) || measures && !name.contains(NETWORK)
        })?;
        let inference = code.saturating_sub(beside);
        let cost = Cost::parse(&said.diagnostics, board, [model, code, inference])?;
        cost.line(network, multiply_adds, core, *most)
    };
    network.cores.iter().map(line).collect::<Result<_>>().map(Some)
}

/// What an inference takes.
#[derive(Debug, PartialEq)]
struct Cost {
    model: u64,
    code: u64,
    inference: u64,
    scratch: u64,
    stack: u64,
    instructions: u64,
}

impl Cost {
    /// Reads the lines `scratch BYTES`, `stack BYTES` and `ticks COUNT`, hexadecimal.
    fn parse(diagnostics: &str, board: &Board, [model, code, inference]: [u64; 3]) -> Result<Self> {
        let number = |what: &str| -> Result<u64> {
            let mut lines = diagnostics.lines().filter_map(|line| line.split_once(' '));
            let found = lines.find(|(name, _)| *name == what);
            let (_, number) = found.with_context(|| format!("the board told no {what}"))?;
            Ok(u64::from_str_radix(number.trim(), 16)?)
        };
        Ok(Self {
            model,
            code,
            inference,
            scratch: number("scratch")?,
            stack: number("stack")?,
            instructions: board.instructions(number("ticks")?),
        })
    }

    /// The figures, if they are within the budgets: of `core`, and of the most instructions that a
    /// multiply-add, of which there are so many, may cost.
    fn line(
        &self,
        network: &Network,
        multiply_adds: u64,
        core: &Core,
        most: f64,
    ) -> Result<String> {
        let Self { model, code, inference, scratch, stack, instructions } = self;
        let preset = format!("{}, {} bits", network.preset, network.bits);
        let (budget, most_inference, core) = (core.code, core.inference, core.board.core);
        let within = |what: &str, used: u64, budget: u64| -> Result<()> {
            ensure!(used <= budget, "{preset} on {core}: {used} bytes of {what}, {budget} allowed");
            Ok(())
        };
        within("stack", *stack, STACK_BUDGET)?;
        within("code", *code, budget)?;
        within("inference", *inference, most_inference)?;
        let millions = *instructions as f64 / 1e6;
        let each = *instructions as f64 / multiply_adds as f64;
        ensure!(
            each <= most,
            "{preset} on {core}: {each:.3} instructions a multiply-add, {most:.2} allowed"
        );
        Ok(format!(
            "{core:<11} {preset:<12} model {model}, code {code} of {budget}, inference {inference} of \
             {most_inference} of it, scratch {scratch}, \
             stack {stack} of {STACK_BUDGET} bytes, {millions:.2} million instructions, {each:.3} of \
             {most:.2} a multiply-add"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of what the presets cost in a page.
    fn table(page: &str) -> Vec<String> {
        let text = fs::read_to_string(shell::root().join(page)).expect(page);
        let lines = text.lines().skip_while(|line| !line.starts_with("| preset | core |"));
        lines.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
    }

    #[test]
    fn the_firmware_authors_page_has_the_figures_of_the_results() {
        let results = table("docs/results.md");
        assert!(results.len() > NETWORKS.len());
        assert_eq!(table("core-nostd/src/guide.md"), results);
    }

    #[test]
    fn figures_are_read_and_held_to_their_budgets() {
        let cost = |stack: u64, code| {
            let said = format!("scratch 7\r\nstack {stack:x}\r\nticks c350\r\n");
            Cost::parse(&said, &M4, [9, code, 5]).expect("good")
        };
        let line = |cost: Cost, most| cost.line(&SMALL, 6_414_000, &DSP, most);
        let good = line(cost(STACK_BUDGET, DSP.code), 0.32).expect("within");
        assert!(good.contains("2.00 million") && good.contains("scratch 7"), "{good}");
        let error = |cost, most| line(cost, most).expect_err("exceeded").to_string();
        assert!(error(cost(STACK_BUDGET + 1, 0), 1.0).contains("4097 bytes of stack"));
        assert!(error(cost(0, DSP.code + 1), 1.0).contains("bytes of code"));
        assert!(error(cost(0, 0), 0.31).contains("0.312 instructions a multiply-add"));
        assert!(Cost::parse("scratch 7\nticks 1\n", &M4, [0; 3]).is_err());
        let large = Cost { inference: DSP.inference + 1, ..cost(0, 0) };
        assert!(error(large, 1.0).contains("bytes of inference"));
    }
}
