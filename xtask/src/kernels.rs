//! The network's inner loops on emulated boards: the host's sums, and what a multiply-add costs.
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::boards::{self, Board};
use crate::emulator;
use crate::host::{self, first_difference};
use crate::setup::Setup;
use crate::shell;

/// A core, and the most instructions that a multiply-add may cost on it, rescaling included: of
/// products with so many tokens, of activations with so many bits.
struct Core {
    board: Board,
    bars: [(u64, u64, f64); 4],
}

const CORES: [Core; 4] = [
    Core { board: boards::M4, bars: DSP_BARS },
    Core {
        board: boards::M0,
        bars: [(64, 8, 3.55), (64, 11, 3.55), (16, 11, 3.03), (1, 16, 4.20)],
    },
    Core { board: boards::M33, bars: DSP_BARS },
    Core { board: boards::M55, bars: DSP_BARS },
];
const DSP_BARS: [(u64, u64, f64); 4] =
    [(64, 8, 0.78), (64, 11, 0.78), (16, 11, 0.86), (1, 16, 1.34)];

/// `cargo xtask kernels`
pub fn command() -> Result<()> {
    let setup = Setup::prepare();
    let host = host::build_example("kernels")?;
    match compare(&setup, &host)? {
        Some(lines) => lines.iter().for_each(|line| println!("{line}")),
        None => {
            setup.print_missing();
            bail!("the kernels were not compared");
        }
    }
    Ok(())
}

/// Runs the inner loops on each core, compares their digests with those that `host` prints, and
/// fails on a difference or a bar exceeded; the figures, one a line. `None` where the compiler or
/// the emulator is missing.
pub fn compare(setup: &Setup, host: &Path) -> Result<Option<Vec<String>>> {
    let (Some(toolchain), true) = (&setup.toolchain, setup.emulator) else {
        return Ok(None);
    };
    let expected = shell::output(&mut Command::new(host))?;
    let mut lines = Vec::new();
    for core in &CORES {
        let Board { core: name, target, features, .. } = core.board;
        let Some(toolchain) = toolchain.reaching(target) else {
            lines.push(format!("{name:<17} skipped: no compiler for {target}"));
            continue;
        };
        let image = toolchain.image("release", target, "kernels", |build| {
            build.args(["--features", features]);
        })?;
        let said = emulator::listen(&core.board, &image)?;
        require_equal(core, &said.answers, &expected)?;
        let sums = said.answers.lines().count();
        lines.push(format!("{name:<17} {sums} digests of sums and steps as on the host"));
        lines.extend(core.within_bars(&said.diagnostics)?);
    }
    Ok(Some(lines))
}

/// Fails with the first line that differs.
fn require_equal(core: &Core, board: &str, host: &str) -> Result<()> {
    match first_difference(core.board.core, board, host) {
        None => Ok(()),
        Some((_, both)) => bail!("the kernels differ: {both}"),
    }
}

impl Core {
    /// A line for each product of `costs`, which must be those of the bars.
    fn within_bars(&self, costs: &str) -> Result<Vec<String>> {
        let mut products = costs.lines();
        let mut lines = Vec::new();
        for (tokens, bits, bar) in self.bars {
            let line =
                products.next().with_context(|| format!("{}: no product", self.board.core))?;
            let product = Product::parse(line).with_context(|| format!("no product: {line}"))?;
            let expected = (product.tokens, product.bits) == (tokens, bits);
            ensure!(expected, "another product than {tokens} tokens of {bits} bits: {line}");
            let cost = product.cost(&self.board);
            let Product { rows, columns, .. } = product;
            let shape = format!("{tokens} x {rows} x {columns}, {bits} bits");
            ensure!(
                cost <= bar,
                "{}, {shape}: {cost:.3} instructions a multiply-add, {bar:.2} are allowed",
                self.board.core
            );
            lines.push(format!(
                "{:<17} {shape:<23} {cost:.3} instructions a multiply-add, {bar:.2} allowed",
                self.board.core
            ));
        }
        Ok(lines)
    }
}

/// What some runs of a product took.
struct Product {
    tokens: u64,
    bits: u64,
    rows: u64,
    columns: u64,
    runs: u64,
    ticks: u64,
}

impl Product {
    /// Reads `TOKENS BITS ROWS COLUMNS RUNS TICKS`.
    fn parse(line: &str) -> Option<Self> {
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        let [tokens, bits, rows, columns, runs, ticks] = numbers[..] else { return None };
        Some(Self { tokens, bits, rows, columns, runs, ticks })
    }

    /// Instructions a multiply-add.
    fn cost(&self, board: &Board) -> f64 {
        let products = self.tokens * self.rows * self.columns * self.runs;
        board.instructions(self.ticks) as f64 / products as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold() {
        let [m4, ..] = CORES;
        let core =
            Core { bars: [(64, 8, 1.00), (64, 11, 1.00), (16, 11, 1.00), (1, 16, 1.40)], ..m4 };
        // 40 instructions a tick: 64 · 10 · 10 · 2 multiply-adds at exactly the bar.
        let good =
            "64 8 10 10 2 320\r\n64 11 10 10 2 320\r\n16 11 10 10 1 40\r\n1 16 10 10 4 14\r\n";
        let lines = core.within_bars(good).expect("within");
        assert!(lines[0].contains("1.000") && lines[3].contains("1.400"), "{lines:?}");
        let error = |costs: &str| format!("{:#}", core.within_bars(costs).expect_err("exceeded"));
        assert!(error("64 8 10 10 2 321\n").contains("1.003"));
        assert!(error(&good.replace(" 14", " 15")).contains("1.500"));
        assert!(error("64 8 10 10 2 320\n").contains("no product"));
        assert!(error("64 8 10 10 2\n").contains("no product"));
        assert!(error("1 16 10 10 4 14\n64 8 10 10 2 320\n").contains("another"));
    }

    #[test]
    fn the_first_difference_is_told() {
        let [m4, ..] = CORES;
        require_equal(&m4, "columns 1 a\r\ncolumns 2 b\r\n", "columns 1 a\ncolumns 2 b\n")
            .expect("equal");
        let error = |board, host| require_equal(&m4, board, host).expect_err("differ").to_string();
        assert!(error("a\nb\n", "a\nc\n").contains("b (Cortex-M4), c (host)"));
        assert!(error("a\n", "a\nc\n").contains("(ended)"));
    }
}
