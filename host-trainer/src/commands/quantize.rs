//! `kibitzer quantize`: a float network to a model file for boards.
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::{
    net::{InputBits, Precision, WeightBits, scratch_bytes},
    shakmaty::{EnPassantMode, fen::Fen},
};
use kibitzer_gpu::Batch;
use serde::Serialize;

use crate::{
    device::Device,
    error::UserError,
    examples::Examples,
    files,
    model::{Choice, Model, hash_text},
    progress,
    quantize::{
        Integer, LayerReport, Parity, Quantized,
        calibration::{CHUNK, calibrate},
        layers,
        parity::{Difference, compare},
        quantize,
        selection::{Selection, Wanted, positions},
    },
    records::{DEFAULT_SHARE, Record, Records, blame},
};

/// Positions listed that differ most in the policy, and as many in the value.
const WORST: usize = 5;
/// Batches on which the layers are compared.
const LAYER_BATCHES: usize = 16;

/// Turn a network into integers for boards, and compare the two.
#[derive(Debug, clap::Args)]
pub struct Quantize {
    /// A model.safetensors, a checkpoint or a run's folder.
    model: PathBuf,
    #[command(flatten)]
    choice: Choice,
    /// Records made by kibitzer pack, or games in PGN: of the games that training holds out, half
    /// calibrate and half test.
    games: PathBuf,
    /// The model file to write (.kbz).
    #[arg(short, long, value_name = "KBZ")]
    output: PathBuf,
    /// Positions that calibrate.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one)]
    calibration: usize,
    /// Positions that test.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one)]
    positions: usize,
    /// Share of the games that training holds out [default: that of the records, or 0.05]; 1 for
    /// games that it never saw.
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// Bits of a weight in the large matrices: 4 make a smaller file.
    #[arg(long, value_enum, default_value_t)]
    bits: Bits,
    /// Bits of what the squares' matrices read: 8 are faster on x86-64, and less exact.
    #[arg(long, value_enum, default_value_t)]
    inputs: Inputs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Where the float network computes for the comparison.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
}

/// Bits of a weight.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Bits {
    /// A byte a weight, a scale for each row.
    #[default]
    #[value(name = "8")]
    Eight,
    /// Four bits a weight, a scale for each 16 columns of a row.
    #[value(name = "4")]
    Four,
}

/// Bits of an activation.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Inputs {
    /// As the weights.
    #[value(name = "8")]
    Eight,
    /// 8 bits after a norm, where they cost least, and 11 where inputs have long tails.
    Mixed,
    /// More than the weights.
    #[default]
    #[value(name = "11")]
    Eleven,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".into()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// What the command reports.
#[derive(Debug, Serialize)]
struct Report {
    hash: String,
    bytes: usize,
    scratch_bytes: usize,
    calibration: usize,
    parity: Parity,
    /// Positions on which the layers were compared.
    layer_positions: usize,
    layers: Vec<LayerReport>,
    /// The positions in which the two networks differ most.
    worst: Vec<Worst>,
}

/// A position in which the networks differ.
#[derive(Debug, Serialize)]
struct Worst {
    fen: String,
    kl: f64,
    value_difference: f64,
    same_first: bool,
}

impl Worst {
    /// The [`WORST`] positions by the policy's divergence and as many by the value, the former
    /// first; a position in both counts once.
    fn of(differences: &[Difference], records: &[Record]) -> Result<Vec<Worst>> {
        let by = |size: fn(&Difference) -> f64| {
            let mut order: Vec<usize> = (0..differences.len()).collect();
            order.sort_by(|&a, &b| size(&differences[b]).total_cmp(&size(&differences[a])));
            order.into_iter().take(WORST)
        };
        let mut chosen: Vec<usize> = by(|d| d.kl).collect();
        for index in by(|d| d.value.abs()) {
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        let worst = |index: usize| {
            let Difference { same_first, kl, value, .. } = differences[index];
            let fen = Fen::from_position(&records[index].position()?, EnPassantMode::Legal);
            Ok(Worst { fen: fen.to_string(), kl, value_difference: value, same_first })
        };
        chosen.into_iter().map(worst).collect()
    }
}

impl Quantize {
    /// Quantizes, compares, writes the file and prints the report.
    ///
    /// # Errors
    /// [`UserError`] for a wrong file, an output that cannot be written, or too few games.
    pub fn run(self) -> Result<()> {
        if self.held_out.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            let mend = "give more than 0, at most 1";
            return Err(UserError::new("a share out of range", "--held-out", mend).into());
        }
        files::require_writable(&self.output)?;
        let model = Model::choose(&self.model, self.choice)?;
        let selection = self.select(&model)?;
        let bar = progress::bar(positions(&selection.calibration) as u64, "positions calibrated");
        let statistics = calibrate(&model, &selection.calibration, |n| bar.inc(n as u64))?;
        bar.finish_and_clear();
        let Quantized { file, ranges } =
            quantize(&model.config, &model.parameters, &statistics, self.precision());
        let mut integer = Integer::new(file.clone())?;
        let differences = self.compare(&model, &mut integer, &selection.test)?;
        let some = &selection.test[..selection.test.len().min(LAYER_BATCHES)];
        let layers = layers::compare(&model, &integer, &ranges, some)?;
        files::atomic_write(&self.output, |output| Ok(output.write_all(&file)?))?;
        self.print(&Report {
            hash: hash_text(&model.config),
            bytes: file.len(),
            scratch_bytes: scratch_bytes(&model.config),
            calibration: positions(&selection.calibration),
            parity: Parity::of(&differences),
            layer_positions: positions(some),
            layers,
            worst: Worst::of(&differences, &selection.tested)?,
        })
    }
    const fn precision(&self) -> Precision {
        Precision {
            weights: match self.bits {
                Bits::Eight => WeightBits::Eight,
                Bits::Four => WeightBits::Four,
            },
            inputs: match self.inputs {
                Inputs::Eight => InputBits::Eight,
                Inputs::Mixed => InputBits::Mixed,
                Inputs::Eleven => InputBits::Eleven,
            },
        }
    }

    fn select(&self, model: &Model) -> Result<Selection> {
        let records = Records::open(&self.games)?;
        let wanted = Wanted { calibration: self.calibration, test: self.positions };
        let perspective = model.config.perspective;
        let share = (&records as &dyn Examples).share(self.held_out, DEFAULT_SHARE)?;
        let selection = Selection::new(&records, share, perspective, wanted)
            .map_err(|error| blame(error, &self.games))?;
        if selection.calibration.is_empty() || selection.test.is_empty() {
            let (what, mend) = ("too few games held out", "give more games or a larger --held-out");
            return Err(UserError::new(what, self.games.display(), mend).into());
        }
        let found = positions(&selection.test);
        if found < self.positions {
            tracing::warn!("only {found} of {} positions to test with", self.positions);
        }
        Ok(selection)
    }

    fn compare(
        &self,
        model: &Model,
        integer: &mut Integer,
        test: &[Batch],
    ) -> Result<Vec<Difference>> {
        let mut float = self.device.evaluator(model, CHUNK)?;
        let bar = progress::bar(positions(test) as u64, "positions compared");
        let differences = compare(&mut float, integer, test, |n| bar.inc(n as u64))?;
        bar.finish_and_clear();
        Ok(differences)
    }

    fn print(&self, report: &Report) -> Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, report).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        writeln!(out, "model file           {} bytes", report.bytes)?;
        writeln!(out, "scratch              {} bytes", report.scratch_bytes)?;
        let calibration = report.calibration;
        writeln!(out, "calibrated on        {calibration} positions, for the least squared error")?;
        write!(out, "{}", report.parity)?;
        let positions = report.layer_positions;
        writeln!(
            out,
            "\nof {positions} of them: signal to noise of the stream after each layer; share of"
        )?;
        writeln!(
            out,
            "the stream's last error that arose in it; inputs cut to their range; outputs"
        )?;
        writeln!(out, "at the end of theirs")?;
        for layer in &report.layers {
            writeln!(out, "  {layer}")?;
        }
        writeln!(out, "\npositions that differ most: KL, value, same first move")?;
        for Worst { fen, kl, value_difference, same_first } in &report.worst {
            let same = if *same_first { "yes" } else { "no" };
            writeln!(out, "  {kl:.6}  {value_difference:+.4}  {same:3}  {fen}")?;
        }
        Ok(())
    }
}
