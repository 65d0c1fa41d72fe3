//! Properties of a whole network in training, whatever its backend.
use kibitzer_gpu::{AdamW, Backend, Batch, Error, OptimizerState};

use super::{Subject, assert_close, reference::Golden};

fn one_position(batch: &Batch, position: usize) -> Batch {
    let entries = batch.entries(position);
    Batch {
        sequences: 1,
        length: 1,
        tokens: batch.tokens[position * 64..][..64].to_vec(),
        aux: batch.aux[position * 7..][..7].to_vec(),
        legal_offsets: vec![0, entries.len() as u32],
        legal: batch.legal[entries.clone()].to_vec(),
        target_policy: batch.target_policy[entries].to_vec(),
        target_value: vec![batch.target_value[position]],
    }
}

/// Buffers for fewer positions than the batch has change nothing but rounding.
pub fn parts_add_up<S: Subject>() {
    let golden = Golden::read("golden_mover");
    for (sequences, length) in [(12, 1), (4, 3)] {
        parts_of(&golden.batch(sequences, length), &mut |capacity| {
            S::network(&golden.config, &golden.parameters(), capacity)
        });
    }
}

fn parts_of(batch: &Batch, network: &mut dyn FnMut(usize) -> Box<dyn Backend>) {
    let mut run = |capacity| {
        let mut network = network(capacity);
        let outputs = network.evaluate(batch).unwrap();
        (outputs, network.gradient(batch, 0.25).unwrap())
    };
    let (whole_outputs, (whole_losses, whole)) = run(12);
    let (part_outputs, (part_losses, parts)) = run(5);
    assert_close("logits", &part_outputs.logits, &whole_outputs.logits, 1e-5, 1e-5);
    assert_close("values", &part_outputs.values, &whole_outputs.values, 1e-5, 1e-5);
    assert_close("loss", &[part_losses.total], &[whole_losses.total], 1e-6, 1e-6);
    assert_close("gradient", &parts, &whole, 1e-5, 1e-4);
}

/// No sum depends on which thread was first.
pub fn repeating<S: Subject>() {
    let golden = Golden::read("golden_mover");
    for batch in [golden.batch(12, 1), golden.batch(2, 5)] {
        let mut network = S::network(&golden.config, &golden.parameters(), 12);
        let first = (network.evaluate(&batch).unwrap(), network.gradient(&batch, 0.25).unwrap());
        let again = (network.evaluate(&batch).unwrap(), network.gradient(&batch, 0.25).unwrap());
        assert!(first == again, "length {}", batch.length);
    }
}

/// A position alone gets the answer that it gets among others.
pub fn positions_are_independent<S: Subject>() {
    let golden = Golden::read("golden");
    let batch = golden.batch(12, 1);
    let mut network = S::network(&golden.config, &golden.parameters(), 12);
    let together = network.evaluate(&batch).unwrap();
    for position in [0, 7, 11] {
        let alone = network.evaluate(&one_position(&batch, position)).unwrap();
        let logits = &together.logits[batch.entries(position)];
        assert_close("logits", &alone.logits, logits, 1e-5, 1e-5);
        assert_close("value", &alone.values, &together.values[position..=position], 1e-5, 1e-5);
    }
}

/// A position without legal moves gets a value, and disturbs no other.
pub fn no_legal_moves<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let mut batch = golden.batch(12, 1);
    let mut network = S::network(&golden.config, &golden.parameters(), 12);
    let all = network.evaluate(&batch).unwrap();
    let gone = batch.entries(3);
    batch.legal.drain(gone.clone());
    batch.legal_offsets[4..].iter_mut().for_each(|offset| *offset -= gone.len() as u32);
    let some = network.evaluate(&batch).unwrap();
    let mut expected = all.logits;
    expected.drain(gone);
    assert_close("logits", &some.logits, &expected, 1e-6, 1e-6);
    assert_close("values", &some.values, &all.values, 1e-6, 1e-6);
    batch.legal.clear();
    batch.legal_offsets.fill(0);
    let none = network.evaluate(&batch).unwrap();
    assert!(none.logits.is_empty());
    assert_close("values", &none.values, &all.values, 1e-6, 1e-6);
}

/// With ε far above the gradient, a first step is proportional to the clipped gradient.
pub fn clipping<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let batch = golden.batch(12, 1);
    let before = golden.parameters();
    let moved = |clip| {
        let mut network = S::network(&golden.config, &before, 12);
        let hyper =
            AdamW { epsilon: 1e3, weight_decay: 0.0, learning_rate: 1e3, clip, ..AdamW::default() };
        let norm = network.step(&batch, &hyper, 0.25).unwrap().gradient_norm;
        let after = network.parameters().unwrap();
        let squares = before.iter().zip(&after).map(|(b, a)| f64::from(a - b).powi(2));
        (norm, squares.sum::<f64>().sqrt() as f32)
    };
    let (norm, free) = moved(None);
    assert!(norm > 0.5);
    assert_close("free step", &[free], &[norm], 0.0, 0.02);
    let (same_norm, clipped) = moved(Some(0.25));
    assert_close("norm before clipping", &[same_norm], &[norm], 0.0, 1e-5);
    assert_close("clipped step", &[clipped], &[0.25], 0.0, 0.02);
    let (_, loose) = moved(Some(1e6));
    assert_close("step below the limit", &[loose], &[free], 0.0, 1e-3);
}

/// Two steps, saved and restored elsewhere, and two more are four steps, to the bit.
pub fn resuming<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let batch = golden.batch(12, 1);
    let hyper = AdamW { clip: Some(1.0), ..AdamW::default() };
    let mut network = S::network(&golden.config, &golden.parameters(), 12);
    for _ in 0..2 {
        network.step(&batch, &hyper, 0.25).unwrap();
    }
    let saved = (network.parameters().unwrap(), network.optimizer_state().unwrap());
    assert_eq!(saved.1.step, 2);
    let mut other = S::network(&golden.config, &vec![0.0; saved.0.len()], 12);
    other.restore(&saved.0, &saved.1).unwrap();
    for _ in 0..2 {
        let expected = network.step(&batch, &hyper, 0.25).unwrap();
        assert_eq!(other.step(&batch, &hyper, 0.25).unwrap(), expected);
    }
    assert_eq!(other.parameters().unwrap(), network.parameters().unwrap());
    assert_eq!(other.optimizer_state().unwrap(), network.optimizer_state().unwrap());
}

/// Steps are told in order, as late as is asked for, and are those that waiting steps take.
pub fn late_losses<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let (batch, hyper) = (golden.batch(2, 1), AdamW::default());
    let network = || S::network(&golden.config, &golden.parameters(), 2);
    let (mut waiting, mut other) = (network(), network());
    let mut expected = vec![];
    let mut found = vec![];
    assert_eq!(other.losses(0).unwrap(), None);
    for step in 0..4 {
        expected.push(waiting.step(&batch, &hyper, 0.25).unwrap());
        other.submit(&batch, &hyper, 0.25).unwrap();
        let told = other.losses(2).unwrap();
        assert_eq!(told.is_some(), step >= 2, "step {step}");
        found.extend(told);
    }
    // Asked for nothing, a backend keeps what it has to tell.
    for _ in 0..10 {
        expected.push(waiting.step(&batch, &hyper, 0.25).unwrap());
        other.submit(&batch, &hyper, 0.25).unwrap();
    }
    while let Some(losses) = other.losses(0).unwrap() {
        found.push(losses);
    }
    assert_eq!(found, expected);
    assert_eq!(other.parameters().unwrap(), waiting.parameters().unwrap());
}

/// Of steps submitted one after the other, those after one that diverges are not taken.
pub fn divergence<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let batch = golden.batch(2, 1);
    let far = AdamW { learning_rate: 1e30, ..AdamW::default() };
    let network = || S::network(&golden.config, &golden.parameters(), 2);
    let mut one = network();
    one.step(&batch, &far, 0.25).unwrap();
    let mut network = network();
    let sound = golden.parameters();
    // A few steps, and more than a backend may have under way.
    for steps in [4, 20] {
        network.restore(&sound, &OptimizerState::new(sound.len())).unwrap();
        let steps = (0..steps).try_for_each(|_| network.submit(&batch, &far, 0.25));
        let outcome = steps.and_then(|()| {
            while network.losses(0)?.is_some() {}
            Ok(())
        });
        assert!(matches!(outcome, Err(Error::Diverged { .. })), "{outcome:?}");
        let bits = |values: Vec<f32>| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(network.parameters().unwrap()), bits(one.parameters().unwrap()));
        assert_eq!(network.optimizer_state().unwrap(), one.optimizer_state().unwrap());
    }
    // Each step is told in its turn: the first is sound, the second is the one that diverged.
    network.restore(&sound, &OptimizerState::new(sound.len())).unwrap();
    (0..4).for_each(|_| network.submit(&batch, &far, 0.25).unwrap());
    assert!(network.losses(0).unwrap().is_some_and(|losses| losses.total.is_finite()));
    assert!(matches!(network.losses(0), Err(Error::Diverged { .. })));
    assert_eq!(network.losses(0), Ok(None));
    // The backend goes on from sound parameters.
    network.restore(&sound, &OptimizerState::new(sound.len())).unwrap();
    assert!(network.step(&batch, &AdamW::default(), 0.25).unwrap().total.is_finite());
}

/// The running average against the sum that it stands for, in f64, and across a restart.
pub fn averaging<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let batch = golden.batch(3, 1);
    let hyper = AdamW { learning_rate: 1e-2, ..AdamW::default() };
    let mut network = S::network(&golden.config, &golden.parameters(), 3);
    let decay = 0.75f64;
    let (mut sum, mut weights) = (vec![0.0; golden.parameters().len()], 0.0);
    for t in 1..=4 {
        network.step(&batch, &hyper, 0.25).unwrap();
        network.average(((1.0 - decay) / (1.0 - decay.powi(t))) as f32).unwrap();
        for (s, p) in sum.iter_mut().zip(network.parameters().unwrap()) {
            *s = decay * *s + f64::from(p);
        }
        weights = decay * weights + 1.0;
        if t == 2 {
            let average = network.averaged().unwrap();
            let (parameters, state) =
                (network.parameters().unwrap(), network.optimizer_state().unwrap());
            network = S::network(&golden.config, &golden.parameters(), 3);
            network.restore_average(&average).unwrap();
            network.restore(&parameters, &state).unwrap();
        }
    }
    let expected: Vec<f32> = sum.iter().map(|s| (s / weights) as f32).collect();
    let found = network.averaged().unwrap();
    assert_close("average", &found, &expected, 1e-6, 1e-5);
    assert_ne!(found, network.parameters().unwrap());
    assert!(matches!(network.restore_average(&found[1..]), Err(Error::ParameterCount { .. })));
}

/// Bad input is an error, and changes nothing.
pub fn refusals<S: Subject>() {
    let golden = Golden::read("golden_mover");
    let parameters = golden.parameters();
    let mut network = S::network(&golden.config, &parameters, 12);
    let mut batch = golden.batch(12, 1);
    batch.tokens[5] = 200;
    assert!(matches!(network.evaluate(&batch), Err(Error::BatchValue { part: "tokens", .. })));
    let batch = Batch { target_value: vec![], ..golden.batch(12, 1) };
    network.evaluate(&batch).unwrap();
    let refused = network.step(&batch, &AdamW::default(), 0.25);
    assert!(matches!(refused, Err(Error::BatchLength { part: "target_value", .. })));
    let hyper = AdamW { clip: Some(-1.0), ..AdamW::default() };
    let refused = network.step(&golden.batch(12, 1), &hyper, 0.25);
    assert!(matches!(refused, Err(Error::Hyperparameter { name: "clip", .. })));
    let state = network.optimizer_state().unwrap();
    let refused = network.restore(&parameters[1..], &state);
    assert!(matches!(refused, Err(Error::ParameterCount { .. })));
    assert_eq!(network.parameters().unwrap(), parameters);
}
