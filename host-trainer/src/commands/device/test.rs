//! Every operation on an adapter against the plain Rust backend.
use std::io::{self, Write as _};

use anyhow::{Result, bail};
use kibitzer_gpu::{
    gpu::{Device, Prober},
    parity::{self, Deviation, Tolerance, cases},
};
use serde_json::{Value, json};

/// Lengths of the sequences that are tried.
const LENGTHS: [usize; 3] = [1, 5, 65];

/// Prints a line an operation.
///
/// # Errors
/// If one is off by too much, or the device fails.
pub fn run(adapter: &Device, as_json: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let name = &adapter.description().name;
    let mut prober = Prober::new(adapter.clone());
    let mut failed = 0;
    let mut all: Vec<Value> = vec![];
    // The first two have every class of matrix products, at round and at odd sizes.
    let products = [cases::products(3, 36, 44), cases::products(2, 22, 13)];
    for case in products.into_iter().chain(cases::all(&LENGTHS)) {
        let deviation = parity::check(&mut prober, &case, Tolerance::F32)?;
        let passes = deviation.passes();
        failed += usize::from(!passes);
        let Deviation { largest, share, place } = deviation;
        if as_json {
            all.push(json!({ "name": case.name, "largest": largest, "passes": passes }));
        } else {
            let verdict = if passes { "ok".to_owned() } else { format!("FAILED at {place}") };
            let name = &case.name;
            writeln!(out, "{name:<48} off by {largest:.1e} ({share:.2} of allowed)  {verdict}")?;
        }
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
