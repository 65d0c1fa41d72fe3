//! The positional weights in files: the core's table, and their part of `viveka.json`.
use std::{fmt::Write as _, io::Write as _, path::Path};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{Positional, variance::Explained};
use crate::files::atomic_write;

/// What `viveka.json` says of the positional fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PositionalRecord {
    /// One row a feature.
    pub features: Vec<FeatureWeights>,
    /// Ridge penalty; see [`super::tuning::fit`].
    pub ridge: f64,
    /// Quiet positions fitted on.
    pub positions: usize,
    /// Explained variance in cross-validation by opening.
    pub cross_validated: Vec<Explained>,
    /// Explained variance on the openings held out.
    pub held_out: Vec<Explained>,
}

/// A feature's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureWeights {
    /// The feature's name.
    pub name: String,
    /// Middlegame weight, in centipawns.
    pub middlegame: i32,
    /// Endgame weight, in centipawns.
    pub endgame: i32,
}

impl From<&Positional> for PositionalRecord {
    fn from(fit: &Positional) -> PositionalRecord {
        let row = |&(name, middlegame, endgame): &(&str, i32, i32)| FeatureWeights {
            name: name.to_string(),
            middlegame,
            endgame,
        };
        PositionalRecord {
            features: fit.weights.rows.iter().map(row).collect(),
            ridge: fit.ridge,
            positions: fit.positions,
            cross_validated: fit.cross_validated.clone(),
            held_out: fit.held_out.clone(),
        }
    }
}

/// Writes the core's table of positional weights, Rust source.
///
/// # Errors
/// [`crate::error::UserError`] if the file cannot be written.
pub fn save(fit: &Positional, openings: usize, path: &Path) -> Result<()> {
    let text = table(fit, openings)?;
    atomic_write(path, |file| Ok(file.write_all(text.as_bytes())?))
}

fn table(fit: &Positional, openings: usize) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "//! The positional features' weights. Written by `kibitzer fit`; do not edit."
    )?;
    writeln!(text, "use super::PositionalWeights;\n")?;
    writeln!(text, "/// Fitted on {} quiet positions of {openings} openings.", fit.positions)?;
    writeln!(text, "pub static FITTED: PositionalWeights = PositionalWeights {{\n    rows: [")?;
    for (name, middle, end) in fit.weights.rows {
        writeln!(text, "        ({name:?}, {middle}, {end}),")?;
    }
    writeln!(text, "    ],\n}};")?;
    Ok(text)
}
