//! What the figures come from: the library, its labels, the split, the program.
use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Result;
use serde::Deserialize;

use super::{
    page::{Page, Table, list, percent},
    study::Study,
};
use crate::{error::UserError, pgn};

/// What a line of a library says of its labels' making.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Making {
    #[serde(default)]
    engine: String,
    #[serde(default)]
    all_depth: u32,
    #[serde(default)]
    top_depth: u32,
}

/// Counts the ways in which the lines of a library were labelled.
fn makings(path: &Path) -> Result<BTreeMap<Making, usize>> {
    let mut counts = BTreeMap::new();
    for line in BufReader::new(pgn::open(path)?).lines() {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        if !line.trim().is_empty() {
            *counts.entry(serde_json::from_str(&line)?).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The library, its labels and its split.
pub fn section(page: &mut Page, study: &Study) -> Result<()> {
    let source = &study.source;
    let [fitted, held_out] = [study.fitted_rows(), study.held_out_rows()].map(|rows| rows.len());
    let file = source.library.file_name().unwrap_or_default().to_string_lossy();
    let mut table = Table::new(["what", "value"]);
    for (what, value) in [
        ("program", format!("kibitzer {}", env!("CARGO_PKG_VERSION"))),
        ("library", file.into_owned()),
        ("library, SHA-256", study.library_hash()?),
        ("terms, SHA-256 of their values", study.terms_hash()),
        ("seed", source.seed.to_string()),
        ("positions", study.positions.len().to_string()),
        ("fitted on", format!("{fitted} positions of {} openings", study.split.fitted.len())),
        ("held out", format!("{held_out} positions of {} openings", study.split.held_out.len())),
    ] {
        table.row([what.to_string(), value]);
    }
    page.add(table);
    page.add(format_args!("Openings held out: {}.", list(&study.split.held_out, "; ")));
    page.add(format_args!("Openings fitted on: {}.", list(&study.split.fitted, "; ")));
    let makings = makings(&source.library)?;
    let lines: usize = makings.values().sum();
    let mut table =
        Table::new(["engine", "depth, all moves", "depth, top moves", "positions", "share"]);
    for (making, count) in makings {
        table.row([
            making.engine,
            making.all_depth.to_string(),
            making.top_depth.to_string(),
            count.to_string(),
            percent(count as f64 / lines.max(1) as f64),
        ]);
    }
    page.add("Labels: every legal move at one depth, the engine's top moves deeper.");
    page.add(table);
    Ok(())
}
