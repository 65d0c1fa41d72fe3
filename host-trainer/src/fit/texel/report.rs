//! The positional fit, printed.
use std::io;

use kibitzer_core::viveka::positional::FEATURES;

use super::{Positional, variance::Explained};

/// Prints explained variance and weights.
///
/// # Errors
/// Those of `out`.
pub fn print(out: &mut impl io::Write, fit: &Positional) -> io::Result<()> {
    writeln!(out, "positional: {} quiet positions, ridge {:e}", fit.positions, fit.ridge)?;
    writeln!(out, "variance of winning chances explained, cross-validated by opening, %:")?;
    print_explained(out, &fit.cross_validated)?;
    if !fit.held_out.is_empty() {
        writeln!(out, "on the openings held out, %:")?;
        print_explained(out, &fit.held_out)?;
    }
    writeln!(out, "{:18} {:>6} {:>6}  counts", "feature, cp", "middle", "end")?;
    for ((name, middle, end), feature) in fit.weights.rows.iter().zip(&FEATURES) {
        writeln!(out, "{name:18} {middle:6} {end:6}  {}", feature.meaning)?;
    }
    Ok(())
}

fn print_explained(out: &mut impl io::Write, parts: &[Explained]) -> io::Result<()> {
    writeln!(
        out,
        "  {:10} {:>9} {:>13} {:>9} {:>16}",
        "", "positions", "features", "material", "material scaled"
    )?;
    for e in parts {
        let [features, se, material, scaled] =
            [e.features, e.se, e.material, e.material_scaled].map(|share| 100.0 * share);
        writeln!(
            out,
            "  {:10} {:9} {features:6.1} ± {se:4.1} {material:9.1} {scaled:16.1}",
            e.part, e.positions
        )?;
    }
    Ok(())
}
