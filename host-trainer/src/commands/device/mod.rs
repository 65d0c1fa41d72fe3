//! `kibitzer device`: what there is to compute on, whether it computes rightly, and how fast.
mod bench;
mod list;
mod test;

use std::io::{self, Write as _};

use anyhow::Result;
use kibitzer_gpu::gpu;
use serde::Serialize;

use crate::{device::Device, error::UserError, tuning};

/// List the adapters; test, measure or tune one.
///
/// Without a flag it lists every adapter of this machine, best first. --device chooses the one to
/// work on as train does. Exit status 1 if an operation fails its test.
#[derive(Debug, clap::Args)]
pub struct DeviceCommand {
    /// Run every operation and compare it with the plain Rust backend.
    #[arg(long)]
    test: bool,
    /// Measure peaks, operations and training.
    #[arg(long, conflicts_with = "test")]
    bench: bool,
    /// Time the shapes of matrix products and keep the fastest.
    #[arg(long, conflicts_with_all = ["test", "bench"])]
    tune: bool,
    /// The device to test, measure or tune.
    #[arg(long, value_enum, default_value_t)]
    device: Device,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl DeviceCommand {
    /// Lists, tests, measures or tunes.
    ///
    /// # Errors
    /// [`UserError`] if there is no such adapter; another error if a test fails.
    pub fn run(self) -> Result<()> {
        if !(self.test || self.bench || self.tune) {
            return list::run(self.json);
        }
        let adapter = self.adapter()?;
        if self.tune {
            return tune(&adapter, self.json);
        }
        let adapter = tuning::with_choices(adapter)?;
        if self.test { test::run(&adapter, self.json) } else { bench::run(&adapter, self.json) }
    }

    fn adapter(&self) -> Result<gpu::Device, UserError> {
        self.device.adapter()?.ok_or_else(|| {
            let (what, mend) = match self.device {
                Device::Cpu => ("the processor has no shaders", "use --device gpu or software"),
                _ => ("this machine has no GPU", "use --device software for a software adapter"),
            };
            UserError::new(what, "--device", mend)
        })
    }
}

fn tune(adapter: &gpu::Device, json: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut failed = None;
    let choices = tuning::timed(adapter, &mut |trial| {
        if !json && failed.is_none() {
            let (class, shape) = (trial.class.name(), trial.shape.name);
            failed = writeln!(out, "{class:<22} {shape:<20} {:>9.2} GFLOP/s", trial.gflops).err();
        }
    })?;
    failed.map_or(Ok(()), Err)?;
    let named = tuning::named(&choices);
    if json {
        #[derive(Serialize)]
        struct Tuned<'a> {
            adapter: &'a str,
            choices: std::collections::BTreeMap<String, String>,
        }
        let tuned = Tuned { adapter: &adapter.description().name, choices: named };
        return Ok(writeln!(out, "{}", serde_json::to_string(&tuned)?)?);
    }
    writeln!(out, "\nchosen:")?;
    for (class, shape) in named {
        writeln!(out, "{class:<22} {shape}")?;
    }
    Ok(())
}
