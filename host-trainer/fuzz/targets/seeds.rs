//! Writes what fuzzing starts from into `corpus/`: `cargo run --bin seeds`, in this folder.
//!
//! The fixtures' weights without the openings' names, and a network as small as there can be.
use std::{fs, io, path::Path};

use kibitzer_core::net::{Config, PolicyHead, parameter_count};
use kibitzer_trainer::{fit::weights, model::write_tensors};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root.join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    let (mut file, _) =
        weights::load(&root.join("../../fixtures/viveka.json")).map_err(io::Error::other)?;
    (file.fitted, file.held_out) = (Vec::new(), Vec::new());
    write("viveka", "fitted", &serde_json::to_vec(&file)?)?;
    file.positional = None;
    write("viveka", "without-positional", &serde_json::to_vec(&file)?)?;

    let config = Config {
        width: 2,
        heads: 1,
        encoder_blocks: 0,
        trunk: "S".try_into().expect("short"),
        ssm_expand: 1,
        ssm_state: 1,
        ssm_rank: 1,
        ssm_conv: 1,
        ssm_ffn_mult: 1,
        policy_head: PolicyHead::FromTo,
        policy_dim: 1,
        ..Config::default()
    };
    let values: Vec<f32> = (0..parameter_count(&config)).map(|i| i as f32).collect();
    let mut bytes = Vec::new();
    write_tensors(&mut bytes, &config, &[("", &values)]).map_err(io::Error::other)?;
    write("safetensors", "smallest", &bytes)
}
