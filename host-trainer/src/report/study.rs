//! What a report is made from: a library, its split, and all that was fitted to one part of it.
use std::path::PathBuf;

use anyhow::Result;
use kibitzer_core::viveka::TERMS;
use sha2::{Digest as _, Sha256};

use crate::{
    error::UserError,
    fit::{
        self, Fitted, Row,
        cache::Cache,
        features::Features,
        openings::{self, Split},
        texel::{self, Positional},
    },
    judge::{self, Judged},
    library::{self, LabelledPosition},
};

/// The library to study, and how it is split.
#[derive(Debug, Clone, clap::Args)]
pub struct Source {
    /// Labelled positions, .jsonl or .jsonl.zst.
    #[arg(value_name = "LIBRARY")]
    pub library: PathBuf,
    /// Openings kept out of all fits; the figures are of their positions.
    #[arg(long, value_name = "N", default_value_t = 14,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub hold_out: u16,
    /// Seed of the choice of openings held out, and of samples of positions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    cache: Cache,
}

/// A library, split, and what was fitted to the openings that are not held out.
#[derive(Debug)]
pub struct Study {
    /// Where it came from.
    pub source: Source,
    /// All positions.
    pub positions: Vec<LabelledPosition>,
    /// Their moves' features.
    pub features: Vec<Features>,
    /// The openings.
    pub split: Split,
    /// Viveka's weights and the selection they came from.
    pub fitted: Fitted,
}

impl Study {
    /// Reads the library, splits it and fits Viveka.
    ///
    /// # Errors
    /// [`UserError`] for a broken library, or one with too few openings.
    pub fn new(source: Source) -> Result<Study> {
        let positions = library::read(&source.library)?;
        let names = openings::names(&positions);
        let split = openings::split(&names, source.hold_out.into(), source.seed)?;
        let features = source.cache.features(&positions)?;
        let rows = rows(&positions, &features, &split.fitted);
        let openings = split.fitted.len();
        tracing::info!("selecting and fitting on {} positions of {openings} openings", rows.len());
        let fitted = fit::fit(&rows, &split.fitted)?;
        Ok(Study { source, positions, features, split, fitted })
    }

    /// The positions fitted on.
    pub fn fitted_rows(&self) -> Vec<Row<'_>> {
        rows(&self.positions, &self.features, &self.split.fitted)
    }

    /// The positions of openings held out.
    pub fn held_out_rows(&self) -> Vec<Row<'_>> {
        rows(&self.positions, &self.features, &self.split.held_out)
    }

    /// What the fitted weights say of `rows`.
    pub fn examine<'a>(&self, rows: &[Row<'a>]) -> Vec<Judged<'a>> {
        judge::examine(rows, &self.fitted.weights)
    }

    /// The positional weights, fitted on the same openings.
    ///
    /// # Errors
    /// [`UserError`] if their lines hold no quiet position.
    pub fn positional(&self) -> Result<Positional> {
        texel::fit(&self.positions, &self.split).ok_or_else(|| {
            let mend = "label positions with the engine's lines";
            let place = self.source.library.display();
            UserError::new("too few quiet positions on the lines", place, mend).into()
        })
    }

    /// SHA-256 of the library's file, in hexadecimal digits.
    ///
    /// # Errors
    /// [`UserError`] if it can no longer be read.
    pub fn library_hash(&self) -> Result<String> {
        let path = &self.source.library;
        let bytes = std::fs::read(path).map_err(|error| UserError::cannot_read(path, &error))?;
        Ok(format!("{:x}", Sha256::digest(bytes)))
    }

    /// SHA-256 of what the terms say: their names, and their values and the drops of every move
    /// of the library.
    pub fn terms_hash(&self) -> String {
        let mut hash = Sha256::new();
        for term in &TERMS {
            hash.update(format!("{}\n", term.name));
        }
        for features in &self.features {
            let numbers = features.moves.iter().flatten().chain(&features.drops);
            hash.update(numbers.flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        }
        format!("{:x}", hash.finalize())
    }
}

/// The positions of the openings `of`, sorted names.
fn rows<'a>(
    positions: &'a [LabelledPosition],
    features: &'a [Features],
    of: &[String],
) -> Vec<Row<'a>> {
    let rows = positions.iter().zip(features);
    rows.filter(|(p, _)| of.binary_search(&p.opening).is_ok()).collect()
}
