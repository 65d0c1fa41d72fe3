//! Times the CPU backend on a network and a batch that another program made, at that program's
//! word: `benches/pytorch/compare.py` runs it beside PyTorch.
//!
//! `pace MODEL.safetensors BATCH.safetensors`, then lines `train N` or `forward N` on standard
//! input; each is answered by a line: the seconds that N rounds took, and the loss before the
//! last (0 for `forward`, which always takes the model's parameters). RAYON_NUM_THREADS limits the threads.
use std::{
    io::{BufRead as _, Write as _, stdin, stdout},
    path::Path,
    time::Instant,
};

use anyhow::{Context as _, Result, bail};
use bytemuck::{Pod, pod_collect_to_vec};
use kibitzer_gpu::{AdamW, Backend as _, Batch, OptimizerState, cpu::Cpu};
use kibitzer_trainer::model::Model;
use safetensors::SafeTensors;

const VALUE_WEIGHT: f32 = 0.25;

fn main() -> Result<()> {
    let [model, batch] = [1, 2].map(|i| std::env::args_os().nth(i));
    let model = Model::load(Path::new(&model.context("name a model")?))?;
    let batch = read(Path::new(&batch.context("name a batch")?))?;
    let mut cpu = Cpu::new(&model.config, 0, batch.positions())?;
    let mut evaluated = Cpu::for_evaluation(&model.config, batch.positions())?;
    let state = OptimizerState::new(model.parameters.len());
    cpu.restore(&model.parameters, &state)?;
    evaluated.restore(&model.parameters, &state)?;
    let hyper = AdamW { learning_rate: 1e-4, clip: Some(1.0), ..AdamW::default() };
    for line in stdin().lock().lines() {
        let line = line?;
        let (what, rounds) = line.split_once(' ').context("say: train N, or forward N")?;
        let rounds: usize = rounds.parse()?;
        let mut loss = 0.0;
        let start = Instant::now();
        for _ in 0..rounds {
            match what {
                "train" => loss = cpu.step(&batch, &hyper, VALUE_WEIGHT)?.total,
                "forward" => drop(evaluated.evaluate(&batch)?),
                _ => bail!("unknown: {what}"),
            }
        }
        println!("{} {loss}", start.elapsed().as_secs_f64());
        stdout().flush()?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Batch> {
    let bytes = std::fs::read(path)?;
    let file = SafeTensors::deserialize(&bytes)?;
    let target_value: Vec<f32> = tensor(&file, "target_value")?;
    let batch = Batch {
        sequences: target_value.len(),
        length: 1,
        tokens: tensor(&file, "tokens")?,
        aux: tensor(&file, "aux")?,
        legal_offsets: tensor(&file, "legal_offsets")?,
        legal: tensor(&file, "legal")?,
        target_policy: tensor(&file, "target_policy")?,
        target_value,
    };
    batch.validate()?;
    batch.validate_targets()?;
    Ok(batch)
}

fn tensor<T: Pod>(file: &SafeTensors<'_>, name: &str) -> Result<Vec<T>> {
    Ok(pod_collect_to_vec(file.tensor(name)?.data()))
}
