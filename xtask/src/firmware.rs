//! The board's firmware under QEMU, compared byte for byte with the host, and its budgets.
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::boards::M4;
use crate::elf::{Image, Sizes};
use crate::emulator::{self, Costs};
use crate::host::{self, Host};
use crate::setup::Setup;
use crate::shell;
use crate::toolchain::Toolchain;

/// RAM for data and stack that boards of this class spare for the evaluator with a network, in
/// bytes. Its flash has no limit here: what exceeds the memory map does not link.
const RAM_BUDGET: u64 = 96 * 1024;
/// Flash for Viveka with the rules and without a network, in bytes.
const VIVEKA_FLASH_BUDGET: u64 = 200 * 1024;
/// Its RAM, data and stack, in bytes.
const VIVEKA_RAM_BUDGET: u64 = 16 * 1024;
/// Instructions of a whole analysis, the median over the positions.
const VIVEKA_INSTRUCTION_BUDGET: u64 = 12_000_000;
/// Instructions of the dearest of the crowded positions, which reach the analysis' bound.
const CROWDED_INSTRUCTION_BUDGET: u64 = 400_000_000;

/// What is asked of the larger networks.
const POSITION: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\n";
/// Presets whose networks take more RAM, and more flash, than the tests' network.
const LARGER: [&str; 2] = ["m4", "m7"];

/// `cargo xtask firmware`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    let host = Host::build(true)?;
    let untrained = host::build_example("untrained")?;
    let net = shell::root().join("fixtures/demo.kbz");
    match compare(&setup, &host, &net)? {
        Some(report) => report.lines().iter().for_each(|line| println!("{line}")),
        None => {
            setup.print_missing();
            bail!("the firmware was not compared");
        }
    }
    compare_larger(&setup, &host, &untrained)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// What the comparison found, all positions being equal.
pub struct Report {
    bytes: usize,
    /// The image with the network.
    whole: Part,
    /// The image of Viveka and the rules alone.
    viveka: Part,
    /// The same image on the crowded positions.
    crowded: Part,
}

/// One image, and what its run cost.
struct Part {
    sizes: Sizes,
    costs: Costs,
}

/// Builds the firmware with `net` and without a network, asks it and the host about the fixture
/// positions, the latter also about the crowded ones, and fails on the first differing byte or a
/// budget exceeded. `None` where the compiler or the emulator is missing.
pub fn compare(setup: &Setup, host: &Host, net: &Path) -> Result<Option<Report>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else {
        return Ok(None);
    };
    let [positions, crowded] = ["fixtures/positions.fen", "fixtures/crowded.fen"]
        .map(|fixture| shell::root().join(fixture));
    let expected = host.analyse_board(&positions, net)?;
    let run = |image: &Path, positions: &Path, expected: &[u8]| -> Result<Part> {
        let sizes = Image::read(image)?;
        sizes.require_integers_without_heap()?;
        let run = emulator::run(image, positions)?;
        require_equal(&run.answers, expected)?;
        Ok(Part { sizes: sizes.sizes()?, costs: run.costs })
    };
    let whole = run(&build(toolchain, Some(net))?, &positions, &expected)?;
    let small = build(toolchain, None)?;
    let viveka = run(&small, &positions, &without_network(&expected))?;
    let expected_of_crowded = without_network(&host.analyse_board(&crowded, net)?);
    let crowded = run(&small, &crowded, &expected_of_crowded)?;
    let report = Report { bytes: expected.len(), whole, viveka, crowded };
    report.require_budgets()?;
    Ok(Some(report))
}

/// Builds the firmware around untrained networks of the larger presets and asks it and the host about
/// a position; a line for each, none where the compiler or the emulator is missing. A file that is no
/// network must not build.
pub fn compare_larger(setup: &Setup, host: &Host, untrained: &Path) -> Result<Vec<String>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else { return Ok(Vec::new()) };
    require_refused(toolchain, &shell::root().join("fixtures/README.md"))?;
    let position = shell::target_dir()?.join("board/position.fen");
    let line = |preset: &&str| -> Result<String> {
        let net = host::write_untrained(untrained, preset, "8")?;
        fs::write(&position, POSITION)?;
        let expected = host.analyse_board(&position, &net)?;
        let run = emulator::run(&build(toolchain, Some(&net))?, &position)?;
        require_equal(&run.answers, &expected)?;
        Ok(format!("with preset {preset:<5} answers as the host, {} bytes", expected.len()))
    };
    LARGER.iter().map(line).collect()
}

/// Fails unless the build says that this file is no network.
fn require_refused(toolchain: &Toolchain, file: &Path) -> Result<()> {
    let mut build = toolchain.cargo("build", "release", M4.target);
    let out = build.args(["--bin", "kibitzer-firmware"]).env("KIBITZER_NET", file).output()?;
    let said = String::from_utf8_lossy(&out.stderr);
    let told = said.contains(&format!("the network {}: ", file.display()));
    ensure!(!out.status.success() && told, "{} was not refused: {said}", file.display());
    Ok(())
}

/// Builds the firmware around the network at `net`, if any, and returns the linked image.
fn build(toolchain: &Toolchain, net: Option<&Path>) -> Result<PathBuf> {
    // A network's inner loops are made fast; Viveka's code is made small.
    let profile = if net.is_some() { "release" } else { "small" };
    toolchain.image(profile, M4.target, "kibitzer-firmware", |build| {
        match net {
            Some(net) => build.env("KIBITZER_NET", net),
            None => build.arg("--no-default-features"),
        };
    })
}

/// The host's answers as a board without a network gives them.
fn without_network(answers: &[u8]) -> Vec<u8> {
    let lines = answers.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| !line.starts_with(b"net ")).flatten().copied().collect()
}

/// Fails with the first line that differs, from either side.
fn require_equal(board: &[u8], host: &[u8]) -> Result<()> {
    if board == host {
        return Ok(());
    }
    let split = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).split('\n').map(str::to_owned).collect()
    };
    let (board_lines, host_lines) = (split(board), split(host));
    let first = (0..).find(|&line| board_lines.get(line) != host_lines.get(line)).unwrap_or(0);
    let side = |lines: &[String]| lines.get(first).cloned().unwrap_or("(ended)".to_owned());
    bail!(
        "the answers differ at line {}, byte {} of {} (board) and {} (host)\n  board: {}\n  host:  {}",
        first + 1,
        board.iter().zip(host).take_while(|(b, h)| b == h).count(),
        board.len(),
        host.len(),
        side(&board_lines),
        side(&host_lines)
    )
}

impl Report {
    fn require_budgets(&self) -> Result<()> {
        let within = |what: &str, used: u64, budget: u64| -> Result<()> {
            ensure!(used <= budget, "{what}: {used}, {budget} are allowed");
            Ok(())
        };
        within("bytes of RAM with a network", self.whole.ram(), RAM_BUDGET)?;
        within("bytes of Viveka's flash", self.viveka.sizes.flash, VIVEKA_FLASH_BUDGET)?;
        within("bytes of Viveka's RAM", self.viveka.ram(), VIVEKA_RAM_BUDGET)?;
        within("bytes of Viveka's RAM, crowded", self.crowded.ram(), VIVEKA_RAM_BUDGET)?;
        let median = Summary::of(&self.viveka.costs.totals()).median;
        within("instructions of Viveka's analysis, median", median, VIVEKA_INSTRUCTION_BUDGET)?;
        let most = Summary::of(&self.crowded.costs.totals()).max;
        within("instructions of an analysis, crowded", most, CROWDED_INSTRUCTION_BUDGET)
    }

    /// The figures, one a line.
    pub fn lines(&self) -> Vec<String> {
        let positions = self.whole.costs.answers;
        let mut lines = vec![format!(
            "board and host    equal on {positions} of {positions} positions, {} bytes",
            self.bytes
        )];
        for (name, part) in [
            ("with a network", &self.whole),
            ("crowded positions", &self.crowded),
            ("Viveka alone", &self.viveka),
        ] {
            let Part { sizes, costs } = part;
            lines.push(format!(
                "{name:<17} flash {}, static RAM {}, deepest stack {} bytes",
                sizes.flash, sizes.ram, costs.stack
            ));
            lines.push(format!("  {:<15} {}", "instructions", Summary::of(&costs.totals())));
        }
        for (stage, instructions) in &self.viveka.costs.stages {
            lines.push(format!("    {stage:<13} {}", Summary::of(instructions)));
        }
        lines
    }
}

impl Part {
    fn ram(&self) -> u64 {
        self.sizes.ram + self.costs.stack
    }
}

/// Instructions of many positions.
struct Summary {
    median: u64,
    mean: u64,
    max: u64,
}

impl Summary {
    fn of(all: &[u64]) -> Self {
        let mut sorted = all.to_vec();
        sorted.sort_unstable();
        Self {
            median: sorted.get(sorted.len() / 2).copied().unwrap_or(0),
            mean: sorted.iter().sum::<u64>() / sorted.len().max(1) as u64,
            max: sorted.last().copied().unwrap_or(0),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [median, mean, max] = [self.median, self.mean, self.max].map(|n| n as f64 / 1e6);
        write!(f, "median {median:.2}, mean {mean:.2}, at most {max:.2} million a position")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_line_is_shown() {
        require_equal(b"a\nb\n", b"a\nb\n").expect("equal");
        let error = require_equal(b"a\nb\n", b"a\nc\n").expect_err("differ").to_string();
        assert!(error.contains("line 2, byte 2"), "{error}");
        let error = require_equal(b"a\n", b"a\nc\n").expect_err("differ").to_string();
        assert!(error.contains("line 2, byte 2") && error.contains("host:  c"), "{error}");
    }

    #[test]
    fn the_networks_lines_are_left_out() {
        assert_eq!(
            without_network(b"choice e2e4\nnet value 3\nposition x\n"),
            b"choice e2e4\nposition x\n"
        );
    }

    #[test]
    fn a_budget_exceeded_is_told() {
        let part = |flash, stack, instructions| Part {
            sizes: Sizes { flash, ram: 8 },
            costs: Costs {
                stages: vec![("scan".to_owned(), vec![1, instructions, 13_000_000])],
                answers: 3,
                stack,
            },
        };
        let error = |viveka, crowded| {
            let report = Report { bytes: 0, whole: part(1 << 20, 1 << 15, 0), viveka, crowded };
            report.require_budgets().err().map(|error| error.to_string())
        };
        let good = || part(200 << 10, (16 << 10) - 8, 12_000_000);
        assert_eq!(error(good(), good()), None);
        let of = |viveka| error(viveka, good()).expect("exceeded");
        let of_crowded = |crowded| error(good(), crowded).expect("exceeded");
        assert!(of_crowded(part(0, 0, 400_000_001)).contains("crowded: 400000001"));
        assert!(of_crowded(part(0, 16 << 10, 0)).contains("crowded: 16392, 16384"));
        assert!(of(part((200 << 10) + 1, 0, 0)).contains("flash: 204801, 204800"));
        assert!(of(part(0, (16 << 10) - 7, 0)).contains("RAM: 16385, 16384"));
        assert!(of(part(0, 0, 12_000_001)).contains("median: 12000001"));
    }
}
