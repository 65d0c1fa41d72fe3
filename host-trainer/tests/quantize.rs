//! Quantized networks against the float network.
mod support;

use kibitzer_core::{
    inputs::Inputs,
    moves::MOVES,
    net::{Evaluation, Model, Precision, scratch_bytes},
};
use kibitzer_trainer::{
    batches,
    model::Model as FloatModel,
    network::Evaluate as _,
    quantize::{Integer, calibration::calibrate, quantize},
};
use support::{Float, calibration_positions, golden_positions, oracle::Oracle};

const GOLDEN: [&str; 2] = ["golden.safetensors", "golden_mover.safetensors"];

/// The oracle of the other tests is itself checked against PyTorch.
#[test]
fn the_oracle_equals_the_golden_outputs() {
    for name in GOLDEN {
        let float = Float::golden(name);
        let oracle = Oracle::new(&float.config, &float.parameters);
        let logits = float.tensor("L1.policy_logits");
        let values = float.tensor("L1.value");
        for (i, position) in golden_positions().iter().enumerate() {
            let inputs = Inputs::new(position, float.config.perspective);
            let answer = oracle.run(&inputs, &mut |_, _, _, _| {});
            assert!((answer.value - f64::from(values[i])).abs() < 1e-5, "{name} {i}");
            for (a, &b) in answer.logits.iter().zip(&logits[i * MOVES..][..MOVES]) {
                let b = f64::from(b);
                assert!(*a == b || (a - b).abs() < 1e-4 + 1e-4 * b.abs(), "{name} {i}: {a} {b}");
            }
        }
    }
}

#[test]
fn golden_networks_stay_close() {
    let calibration = calibration_positions();
    for name in GOLDEN {
        let float = Float::golden(name);
        let positions = golden_positions();
        let statistics = float.statistics(calibration.iter());
        let bytes =
            quantize(&float.config, &float.parameters, &statistics, Precision::default()).file;
        let model = Model::parse_as(&bytes, &float.config).unwrap();
        assert_eq!(*model.config(), float.config);
        let oracle = Oracle::new(&float.config, &float.parameters);
        let mut scratch = vec![0; scratch_bytes(&float.config)];
        for position in &positions {
            let inputs = Inputs::new(position, float.config.perspective);
            let exact = oracle.run(&inputs, &mut |_, _, _, _| {});
            let answer = model.evaluate(position, &mut scratch).unwrap();
            let value = f64::from(answer.value()) / f64::from(Evaluation::VALUE_ONE);
            assert!((value - exact.value).abs() < 0.01, "{name}: {value} {}", exact.value);
            for scored in answer.moves() {
                let logit = f64::from(scored.logit) / f64::from(Evaluation::LOGIT_ONE);
                let float = exact.logits[scored.index.to_usize()];
                assert!((logit - float).abs() < 0.05, "{name} {}: {logit} {float}", scored.mv);
            }
        }
    }
}

/// Calibration on the CPU backend sees what the oracle computes, signal by signal.
#[test]
fn calibration_equals_the_oracle() {
    for name in GOLDEN {
        let float = Float::golden(name);
        let positions = golden_positions();
        let mut batch = batches::with_capacity(positions.len());
        positions.iter().for_each(|p| batches::push(&mut batch, p, float.config.perspective));
        let model =
            FloatModel { config: float.config.clone(), parameters: float.parameters.clone() };
        let seen = calibrate(&model, &[batch], |_| ()).unwrap();
        let expected = float.statistics(positions.iter());
        let mut signals = 0;
        for observed in expected.signals() {
            let (layer, signal) = observed.name();
            signals += 1;
            for (a, b) in seen.of(layer, signal).peaks.iter().zip(&observed.peaks) {
                assert!((a - b).abs() < 1e-4 + 1e-4 * b, "{name} {layer:?} {signal:?}: {a} {b}");
            }
        }
        assert!(signals > 20, "{signals}");
    }
}

/// A batch is answered as the core answers its positions.
#[test]
fn batches_are_answered_as_positions_are() {
    for name in GOLDEN {
        let float = Float::golden(name);
        let positions = golden_positions();
        let bytes = quantize(
            &float.config,
            &float.parameters,
            &float.statistics(positions.iter()),
            Precision::default(),
        )
        .file;
        let model = Model::parse(&bytes).unwrap();
        let mut scratch = vec![0; scratch_bytes(&float.config)];
        let mut batch = batches::with_capacity(positions.len());
        positions.iter().for_each(|p| batches::push(&mut batch, p, float.config.perspective));
        let outputs = Integer::new(bytes.clone()).unwrap().evaluate(&batch).unwrap();
        for (i, position) in positions.iter().enumerate() {
            let answer = model.evaluate(position, &mut scratch).unwrap();
            let value = f32::from(answer.value()) / Evaluation::VALUE_ONE as f32;
            assert_eq!(outputs.values[i], value);
            let entries = batch.entries(i);
            assert_eq!(entries.len(), answer.moves().len());
            for (index, logit) in batch.legal[entries.clone()].iter().zip(&outputs.logits[entries])
            {
                let mut moves = answer.moves().iter();
                let scored = moves.find(|m| m.index.to_usize() == usize::from(*index)).unwrap();
                assert_eq!(*logit, scored.logit as f32 / Evaluation::LOGIT_ONE as f32);
            }
        }
    }
}
