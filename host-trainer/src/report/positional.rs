//! The positional values, and how much of the winning chances they explain.
use anyhow::Result;
use kibitzer_core::viveka::positional::FEATURES;

use super::{
    figures::{Series, bars},
    page::{Page, Table, number, percent},
};
use crate::fit::texel::{Positional, variance::Explained};

/// Explained variance on the openings held out, and the weights.
pub fn section(page: &mut Page, fit: &Positional) -> Result<()> {
    page.add(format_args!(
        "Fitted to {} quiet positions on the engine's lines, in the openings fitted on, with a \
         ridge of {:e} from cross-validation there. Variance of the winning chances that is \
         explained on the openings held out:",
        fit.positions, fit.ridge
    ));
    page.add(explained(&fit.held_out));
    let parts: Vec<String> = fit.held_out.iter().map(|e| e.part.clone()).collect();
    let share = |name: &str, of: fn(&Explained) -> f64| {
        Series::of(name, fit.held_out.iter().map(|e| 100.0 * of(e)))
    };
    let series = [
        share("41 features", |e| e.features),
        share("material 1/3/3/5/9", |e| e.material),
        share("material, best scale", |e| e.material_scaled),
    ];
    let figure = bars("", "variance explained, %", &parts, &series)?;
    page.figure("positional", "variance of the winning chances explained, by phase", figure);
    page.part("Values");
    page.add("Centipawns for one more of what the feature counts.");
    let mut table = Table::new(["feature", "middlegame", "endgame", "counts"]);
    for (&(name, middle, end), feature) in fit.weights.rows.iter().zip(&FEATURES) {
        let points = |weight: i32| number(weight.into(), 0);
        table.row([name.into(), points(middle), points(end), feature.meaning.to_string()]);
    }
    page.add(table);
    Ok(())
}

fn explained(parts: &[Explained]) -> Table {
    let mut table = Table::new([
        "part of the game",
        "positions",
        "41 features",
        "standard error",
        "material 1/3/3/5/9",
        "material, best scale",
    ]);
    for e in parts {
        table.row([
            e.part.clone(),
            e.positions.to_string(),
            percent(e.features),
            percent(e.se),
            percent(e.material),
            percent(e.material_scaled),
        ]);
    }
    table
}
