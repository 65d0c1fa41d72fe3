//! From logit weights to integers, and the two files that hold them: `viveka.json` and the
//! core's weight table.
use std::{fmt::Write as _, io::Write as _, path::Path};

use anyhow::Result;
use kibitzer_core::{
    exchange::PAWN,
    viveka::{MATERIAL, MAX_WEIGHT, TERM_COUNT, TERMS, Weights},
};
use serde::{Deserialize, Serialize};

use crate::{error::UserError, files::atomic_write};

/// Scan points a logit: enough that rounding does not move a candidate.
const SCAN_SCALE: f64 = 100.0;

/// Points a logit: the scale on which a pawn of material is 100.
///
/// # Errors
/// [`UserError`] if the fit gave material no weight, so that no scale follows.
pub fn points_per_logit(logit_weights: &[f64]) -> Result<f64> {
    let material = logit_weights[MATERIAL];
    if material > 1e-3 {
        return Ok(f64::from(PAWN) / material);
    }
    let mend = "fit on more positions, or check the scores' sign";
    Err(UserError::new("the fit gives material no weight", "the library", mend).into())
}

/// Rounds logit weights to integers. The check's β, the entropy's τ and the critical threshold
/// are fitted afterwards, on the rounded score.
///
/// # Errors
/// See [`points_per_logit`].
pub fn round(score: &[f64], scan: &[f64]) -> Result<Weights> {
    let points = points_per_logit(score)?;
    let rows = std::array::from_fn(|i| {
        let name = TERMS[i].name;
        if let Some((score, scan)) = super::fixed(i) {
            return (name, score, scan);
        }
        (name, rounded(score[i] * points), rounded(scan[i] * SCAN_SCALE))
    });
    Ok(Weights { rows, check_percent: 0, temperature: PAWN, critical_entropy: 0 })
}

/// The nearest integer that a weight can be.
fn rounded(points: f64) -> i32 {
    (points.round() as i32).clamp(-MAX_WEIGHT, MAX_WEIGHT)
}

/// `viveka.json`: the weights, and what they were fitted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightsFile {
    /// One row a term.
    pub terms: Vec<TermWeights>,
    /// β of the check, in percent.
    pub check_percent: i32,
    /// τ of the move distribution, in points.
    pub temperature: i32,
    /// Entropy below which a position is critical, in thousandths of a nat.
    pub critical_entropy: i32,
    /// Positions fitted on.
    pub positions: usize,
    /// Seed of the split.
    pub seed: u64,
    /// Openings fitted on.
    pub fitted: Vec<String>,
    /// Openings held out.
    pub held_out: Vec<String>,
}

/// A term's row in `viveka.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermWeights {
    /// The term's name.
    pub name: String,
    /// Score weight, in points.
    pub score: i32,
    /// Scan points.
    pub scan: i32,
}

impl WeightsFile {
    /// The rows of `weights`.
    pub fn rows(weights: &Weights) -> Vec<TermWeights> {
        let row = |&(name, score, scan): &(&str, i32, i32)| TermWeights {
            name: name.to_string(),
            score,
            scan,
        };
        weights.rows.iter().map(row).collect()
    }

    /// The weights in the core's form.
    ///
    /// # Errors
    /// [`UserError`] naming `path` if the file's terms are not this program's.
    fn weights(&self, path: &Path) -> Result<Weights, UserError> {
        let foreign = |what: String| {
            UserError::new(what, path.display(), "fit the weights again with this program")
        };
        if self.terms.len() != TERM_COUNT {
            let what = format!("{} terms instead of {TERM_COUNT}", self.terms.len());
            return Err(foreign(what));
        }
        let stranger = self.terms.iter().zip(&TERMS).find(|(row, term)| row.name != term.name);
        if let Some((row, term)) = stranger {
            return Err(foreign(format!("term {} where {} belongs", row.name, term.name)));
        }
        let weights = Weights {
            rows: std::array::from_fn(|i| (TERMS[i].name, self.terms[i].score, self.terms[i].scan)),
            check_percent: self.check_percent,
            temperature: self.temperature,
            critical_entropy: self.critical_entropy,
        };
        match weights.validate() {
            Ok(()) => Ok(weights),
            Err(field) => Err(foreign(format!("{field} is out of range"))),
        }
    }

    /// Writes `viveka.json`.
    ///
    /// # Errors
    /// [`UserError`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        atomic_write(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            Ok(writeln!(file)?)
        })
    }
}

/// Reads `viveka.json`.
///
/// # Errors
/// [`UserError`] if it cannot be read, is not such a file, or holds other terms.
pub fn load(path: &Path) -> Result<(WeightsFile, Weights)> {
    let text =
        std::fs::read_to_string(path).map_err(|error| UserError::cannot_read(path, &error))?;
    let file: WeightsFile = serde_json::from_str(&text).map_err(|error| {
        UserError::new(error, path.display(), "give a viveka.json written by kibitzer fit")
    })?;
    let weights = file.weights(path)?;
    Ok((file, weights))
}

/// Writes the core's weight table, Rust source.
///
/// # Errors
/// [`UserError`] if the file cannot be written.
pub fn save_table(weights: &Weights, positions: usize, openings: usize, path: &Path) -> Result<()> {
    let text = table(weights, positions, openings)?;
    atomic_write(path, |file| Ok(file.write_all(text.as_bytes())?))
}

fn table(weights: &Weights, positions: usize, openings: usize) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "//! Viveka's weights. Written by `kibitzer fit --table`; do not edit.")?;
    writeln!(text, "use super::choice::Weights;\n")?;
    writeln!(text, "/// Fitted on {positions} positions of {openings} openings.")?;
    writeln!(text, "pub static FITTED: Weights = Weights {{\n    rows: [")?;
    for (name, score, scan) in weights.rows {
        writeln!(text, "        ({name:?}, {score}, {scan}),")?;
    }
    writeln!(text, "    ],\n    check_percent: {},", weights.check_percent)?;
    writeln!(text, "    temperature: {},", weights.temperature)?;
    writeln!(text, "    critical_entropy: {},\n}};", weights.critical_entropy)?;
    Ok(text)
}
