//! The two files that hold what was fitted: `viveka.json` and the core's weight table.
use std::{fmt::Write as _, io::Write as _, path::Path};

use anyhow::Result;
use kibitzer_core::viveka::{self, MAX_WEIGHT, TERM_COUNT, TERMS, Tapered, Weights};
use serde::{Deserialize, Serialize};

use super::{Fitted, texel::table::PositionalRecord};
use crate::{error::UserError, files::atomic_write};

/// `viveka.json`: the weights, and what they were fitted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightsFile {
    /// One row a term.
    pub terms: Vec<TermWeights>,
    /// The baseline's terms: the exchange on one square, and five more.
    pub v1: Vec<V1Weight>,
    /// β of the check, in percent.
    pub check_percent: i32,
    /// τ of the move distribution, in points.
    pub temperature: Temperature,
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
    /// The positional features' weights; absent where the library's lines hold too few quiet
    /// positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positional: Option<PositionalRecord>,
}

/// A term's row in `viveka.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermWeights {
    /// The term's name.
    pub name: String,
    /// Score weight in the middlegame, in points.
    pub middlegame: i32,
    /// Score weight in the endgame, in points.
    pub endgame: i32,
    /// Scan points.
    pub scan: i32,
}

/// τ in `viveka.json`, in points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temperature {
    /// With all pieces on the board.
    pub middlegame: i32,
    /// With none.
    pub endgame: i32,
}

impl From<Tapered> for Temperature {
    fn from(Tapered { middlegame, endgame }: Tapered) -> Temperature {
        Temperature { middlegame, endgame }
    }
}

/// A term of the baseline in `viveka.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct V1Weight {
    /// The term's name.
    pub name: String,
    /// Weight, in points.
    pub score: i32,
}

impl WeightsFile {
    /// The baseline's terms and weights, in points.
    pub fn v1(&self) -> Vec<(&str, i32)> {
        self.v1.iter().map(|row| (row.name.as_str(), row.score)).collect()
    }

    /// The baseline's rows.
    pub fn v1_rows(v1: &[(&str, i32)]) -> Vec<V1Weight> {
        v1.iter().map(|&(name, score)| V1Weight { name: name.to_string(), score }).collect()
    }

    /// The rows of `weights`.
    pub fn rows(weights: &Weights) -> Vec<TermWeights> {
        let row = |row: &viveka::TermWeights| TermWeights {
            name: row.name.to_string(),
            middlegame: row.score.middlegame,
            endgame: row.score.endgame,
            scan: row.scan,
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
        let unknown = |row: &&V1Weight| !TERMS.iter().any(|term| term.name == row.name);
        if let Some(row) = self.v1.iter().find(unknown) {
            return Err(foreign(format!("unknown term {} in v1", row.name)));
        }
        let fits = |row: &V1Weight| (-MAX_WEIGHT..=MAX_WEIGHT).contains(&row.score);
        if let Some(row) = self.v1.iter().find(|row| !fits(row)) {
            return Err(foreign(format!("{} in v1 is out of range", row.name)));
        }
        let row = |i: usize| {
            let TermWeights { middlegame, endgame, scan, .. } = self.terms[i];
            viveka::TermWeights::new(TERMS[i].name, middlegame, endgame, scan)
        };
        let Temperature { middlegame, endgame } = self.temperature;
        let weights = Weights {
            rows: std::array::from_fn(row),
            check_percent: self.check_percent,
            temperature: Tapered { middlegame, endgame },
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
    Ok(read(&text, path)?)
}

/// Reads the text of a `viveka.json`, which stands in the file `path`.
///
/// # Errors
/// [`UserError`] that names `path`, if it is not such a text, or holds other terms.
pub fn read(text: &str, path: &Path) -> Result<(WeightsFile, Weights), UserError> {
    let file: WeightsFile = serde_json::from_str(text).map_err(|error| {
        UserError::new(error, path.display(), "give a viveka.json written by kibitzer fit")
    })?;
    let weights = file.weights(path)?;
    Ok((file, weights))
}

/// Writes the core's weight table, Rust source.
///
/// # Errors
/// [`UserError`] if the file cannot be written.
pub fn save_table(fitted: &Fitted, positions: usize, openings: usize, path: &Path) -> Result<()> {
    let text = table(fitted, positions, openings)?;
    atomic_write(path, |file| Ok(file.write_all(text.as_bytes())?))
}

fn table(fitted: &Fitted, positions: usize, openings: usize) -> Result<String> {
    let Fitted { weights, v1, .. } = fitted;
    let mut text = String::new();
    writeln!(text, "//! Viveka's weights. Written by `kibitzer fit --table`; do not edit.")?;
    writeln!(
        text,
        "use super::{{\n    choice::{{TermWeights, Weights}},\n    taper::Tapered,\n}};\n"
    )?;
    writeln!(text, "/// Fitted on {positions} positions of {openings} openings.")?;
    writeln!(text, "pub static FITTED: Weights = Weights {{\n    rows: [")?;
    for viveka::TermWeights { name, score: Tapered { middlegame, endgame }, scan } in weights.rows {
        writeln!(text, "        TermWeights::new({name:?}, {middlegame}, {endgame}, {scan}),")?;
    }
    writeln!(text, "    ],\n    check_percent: {},", weights.check_percent)?;
    let Tapered { middlegame, endgame } = weights.temperature;
    let temperature = format!("Tapered {{ middlegame: {middlegame}, endgame: {endgame} }}");
    writeln!(text, "    temperature: {temperature},")?;
    writeln!(text, "    critical_entropy: {},\n}};\n", weights.critical_entropy)?;
    writeln!(text, "/// The baseline v1: its terms and their weights in points.")?;
    writeln!(text, "pub static V1: [(&str, i32); {}] = [", v1.len())?;
    for (name, score) in v1 {
        writeln!(text, "    ({name:?}, {score}),")?;
    }
    writeln!(text, "];")?;
    Ok(text)
}
