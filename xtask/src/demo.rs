//! `cargo xtask demo`: the whole road on the committed data.
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::firmware;
use crate::host::Host;
use crate::setup::Setup;
use crate::shell::{self, Steps};

/// Openings kept out of the fit, to judge on.
const HELD_OUT_OPENINGS: &str = "10";

/// The same road with and without a GPU; so small a network trains in minutes anyway.
const ON_CPU: [&str; 2] = ["--device", "cpu"];

/// Steps of the optimizer: a few minutes on two cores.
const TRAINING_STEPS: &str = "1000";

/// An open game at the fourth move: a pawn to take, pieces to bring out.
const POSITION: &str = "r1bqkbnr/ppp2ppp/2n5/3pp3/4P3/2N2N2/PPPP1PPP/R1BQKB1R w KQkq - 0 4";

/// Runs the road, one step after the other, and sums up.
pub fn command() -> Result<()> {
    let mut steps = Steps::new(9);
    steps.next("set up");
    let setup = Setup::prepare();
    steps.next("build kibitzer");
    let host = Host::build(true)?;
    let mut demo = Demo { host, folder: fresh_folder()?, summary: Vec::new() };

    steps.next("fit Viveka's weights, some openings held out");
    demo.fit()?;
    steps.next("judge the choices on the openings held out");
    demo.judge()?;
    steps.next("pack the games into training records");
    demo.pack()?;
    steps.next("train a small network on the moves played");
    demo.train()?;
    steps.next("quantize it to integers, and compare with floats");
    demo.quantize()?;
    steps.next("the firmware under QEMU against the host");
    demo.firmware(&setup)?;
    steps.next("analyse a position");
    demo.analyse()?;

    println!("\n== done in {}; all files are in {}", steps.elapsed(), demo.folder.display());
    demo.summary.iter().for_each(|line| println!("{line}"));
    setup.print_missing();
    Ok(())
}

struct Demo {
    host: Host,
    folder: PathBuf,
    summary: Vec<String>,
}

impl Demo {
    fn fit(&mut self) -> Result<()> {
        let mut fit = self.kibitzer("fit", &["fixtures/library.jsonl.zst"]);
        fit.args(["--hold-out", HELD_OUT_OPENINGS, "--output"]).arg(self.file("viveka.json"));
        shell::run(&mut fit)
    }

    fn judge(&mut self) -> Result<()> {
        let mut judge = self.kibitzer("judge", &["fixtures/library.jsonl.zst"]);
        judge.args(["--held-out", "--json", "--weights"]).arg(self.file("viveka.json"));
        let report = json(&mut judge)?;
        let random = number(&report, "/random/mean_loss")?;
        let choices = report["choices"].as_array().context("judge lists no choices")?;
        for choice in choices {
            let name = choice["name"].as_str().context("a choice without name")?;
            let (loss, best) = (number(choice, "/mean_loss")?, number(choice, "/best")?);
            let share = loss / random;
            let line = format!(
                "{name:<16} loses {loss:6.1} cp a move, {share:.3} of random's; best move {:.1} %",
                100.0 * best
            );
            println!("{line}");
            self.summary.push(line);
        }
        Ok(())
    }

    fn pack(&mut self) -> Result<()> {
        let mut pack = self.kibitzer("pack", &["fixtures/selfplay.pgn.zst", "--output"]);
        shell::run(pack.arg(self.file("games.records")))
    }

    fn train(&mut self) -> Result<()> {
        let mut train = self.kibitzer("train", &["bc"]);
        train.arg(self.file("games.records")).args(["--preset", "demo", "--steps", TRAINING_STEPS]);
        train.args(ON_CPU);
        shell::run(train.arg("--output").arg(self.file("run")))?;
        let mut eval = self.kibitzer("eval", &["--held-out", "--json"]);
        let report = json(eval.args(ON_CPU).arg(self.file("run")).arg(self.file("games.records")))?;
        self.tell(format!(
            "network          finds {:.1} % of the moves of games held out, {:.1} % in five tries",
            100.0 * number(&report, "/top1")?,
            100.0 * number(&report, "/top5")?
        ));
        Ok(())
    }

    fn quantize(&mut self) -> Result<()> {
        let mut quantize = self.kibitzer("quantize", &["--json"]);
        quantize.arg(self.file("run")).arg(self.file("games.records"));
        let report = json(quantize.args(ON_CPU).arg("--output").arg(self.file("demo.kbz")))?;
        self.tell(format!(
            "integers         choose as floats do in {:.1} % of {} positions; KL {:.5}, value off by {:.4}",
            100.0 * number(&report, "/parity/top1_agreement")?,
            number(&report, "/parity/positions")?,
            number(&report, "/parity/kl")?,
            number(&report, "/parity/value_abs_mean")?
        ));
        Ok(())
    }

    fn firmware(&mut self, setup: &Setup) -> Result<()> {
        if let Some(report) = firmware::compare(setup, &self.host, &self.file("demo.kbz"))? {
            report.lines().into_iter().for_each(|line| self.tell(line));
        }
        Ok(())
    }

    fn analyse(&mut self) -> Result<()> {
        let mut analyse = self.kibitzer("analyse", &[POSITION, "--model"]);
        shell::run(analyse.arg(self.file("demo.kbz")))
    }

    fn kibitzer(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let mut command = self.host.kibitzer(subcommand);
        command.args(arguments);
        command
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Prints the line now and once more at the end.
    fn tell(&mut self, line: String) {
        println!("{line}");
        self.summary.push(line);
    }
}

/// A folder of its own for this run's files; those of an earlier run go.
fn fresh_folder() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("demo");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Runs the command and reads the JSON object that it prints.
fn json(command: &mut Command) -> Result<Value> {
    println!("$ {}", shell::text(command));
    let text = shell::output(command)?;
    serde_json::from_str(&text).with_context(|| format!("no JSON from {}", shell::text(command)))
}

fn number(report: &Value, pointer: &str) -> Result<f64> {
    let number = report.pointer(pointer).and_then(Value::as_f64);
    number.with_context(|| format!("no number at {pointer} of the report"))
}
