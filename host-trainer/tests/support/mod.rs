//! Golden networks and an independent forward pass for the tests of quantization.
pub mod oracle;

use std::path::{Path, PathBuf};

use kibitzer_core::{
    inputs::Inputs,
    net::{Config, tensors},
    position::parse_fen,
    shakmaty::Chess,
};
use kibitzer_trainer::quantize::Statistics;
use oracle::Oracle;
use safetensors::SafeTensors;

/// A float network from a file in PyTorch's names.
pub struct Float {
    pub config: Config,
    pub parameters: Vec<f32>,
    file: Vec<u8>,
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

impl Float {
    /// Reads a network whose tensors are named `prefix` and PyTorch's name.
    pub fn read(path: &Path, prefix: &str) -> Float {
        let file = std::fs::read(path).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
        let config = &metadata.metadata().as_ref().unwrap()["config"];
        let config: Config = serde_json::from_str(config).unwrap();
        let all = SafeTensors::deserialize(&file).unwrap();
        let parameters = tensors(&config)
            .flat_map(|t| floats(all.tensor(&format!("{prefix}{t}")).unwrap().data()))
            .collect();
        Float { config, parameters, file }
    }

    /// One of the two golden networks.
    pub fn golden(name: &str) -> Float {
        Float::read(&fixtures().join(name), "param.")
    }

    /// Another tensor of the same file.
    pub fn tensor(&self, name: &str) -> Vec<f32> {
        floats(SafeTensors::deserialize(&self.file).unwrap().tensor(name).unwrap().data())
    }

    /// Statistics of every signal over `positions`.
    pub fn statistics<'p>(&self, positions: impl Iterator<Item = &'p Chess>) -> Statistics {
        let oracle = Oracle::new(&self.config, &self.parameters);
        let mut statistics = Statistics::default();
        for position in positions {
            let inputs = Inputs::new(position, self.config.perspective);
            oracle.run(&inputs, &mut |layer, signal, width, values| {
                let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                statistics.observe(layer, signal, width, values.chunks_exact(width));
            });
        }
        statistics
    }
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Positions to calibrate with: none of the golden ones, on which quantization is checked.
pub fn calibration_positions() -> Vec<Chess> {
    let text = std::fs::read_to_string(fixtures().join("positions.fen")).unwrap();
    let golden = golden_positions();
    let all = text.lines().map(|fen| parse_fen(fen).unwrap());
    let others: Vec<Chess> = all.filter(|position| !golden.contains(position)).collect();
    assert!(others.len() > 100);
    others
}

/// The golden positions, in the order of the golden tensors.
pub fn golden_positions() -> Vec<Chess> {
    let text = std::fs::read_to_string(fixtures().join("golden.json")).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fens = rows.as_array().unwrap().iter().map(|row| row["fen"].as_str().unwrap());
    fens.map(|fen| parse_fen(fen).unwrap()).collect()
}
