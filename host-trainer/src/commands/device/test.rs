//! Every operation on an adapter against the plain Rust backend.
use std::io::{self, Write as _};

use anyhow::{Result, bail};
use kibitzer_gpu::{
    gpu::{Device, Precision, Prober},
    parity::{self, Deviation, Tolerance, cases},
};
use serde_json::{Value, json};

/// Lengths of the sequences that are tried.
const LENGTHS: [usize; 3] = [1, 5, 65];

/// Prints a line an operation and precision that the adapter has.
///
/// # Errors
/// If one is off by too much, or the device fails.
pub fn run(adapter: &Device, as_json: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let name = &adapter.description().name;
    let mut failed = 0;
    let mut all: Vec<Value> = vec![];
    let mut tell = |precision: &str, case: &str, deviation: Deviation| {
        let passes = deviation.passes();
        failed += usize::from(!passes);
        let Deviation { largest, share, place } = deviation;
        if as_json {
            let result = json!({ "name": case, "precision": precision, "largest": largest, "passes": passes });
            all.push(result);
            return Ok(());
        }
        let verdict = if passes { "ok".to_owned() } else { format!("FAILED at {place}") };
        writeln!(
            out,
            "{precision} {case:<48} off by {largest:.1e} ({share:.2} of allowed)  {verdict}"
        )
    };
    each(adapter, Precision::F32, Tolerance::F32, |case, found| tell("f32", case, found))?;
    if adapter.description().f16 {
        each(adapter, Precision::F16, Tolerance::F16, |case, found| tell("f16", case, found))?;
    }
    if as_json {
        let object = json!({ "adapter": name, "tests": all, "passed": failed == 0 });
        writeln!(out, "{object}")?;
    }
    if failed > 0 {
        bail!(
            "{name} computes {failed} operations wrongly: update its driver, or use --device cpu"
        );
    }
    Ok(())
}

/// Runs every case and hands on its name and how far it is off.
fn each(
    adapter: &Device,
    precision: Precision,
    tolerance: Tolerance,
    mut tell: impl FnMut(&str, Deviation) -> io::Result<()>,
) -> Result<()> {
    let mut prober = Prober::new(adapter.clone().with_precision(precision)?);
    // The first two have every class of matrix products, at round and at odd sizes.
    let products = [cases::products(3, 36, 44), cases::products(2, 22, 13)];
    for case in products.into_iter().chain(cases::all(&LENGTHS)) {
        tell(&case.name, parity::check(&mut prober, &case, tolerance)?)?;
    }
    Ok(())
}
