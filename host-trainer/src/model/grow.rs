//! A network's weights in a larger network that answers the same.
//!
//! What the larger network adds starts without a say: new blocks add nothing to the stream, new
//! columns of the stream stay zero, and new hidden units, states and heads are read with weight
//! zero. On the other side of every such zero the weights are fresh, so that gradients flow from
//! the first step. Norms divide by the width and scores by the root of theirs; the weights that
//! follow make up for it. Answers agree to rounding, and to the norms' ε.
use std::{collections::BTreeSet, fmt};

use kibitzer_core::net::{Config, Layer, Place, Role, Tensor, TrunkBlock, tensors};
use kibitzer_gpu::initialise;

use super::{
    Model,
    axes::{Axis, Source},
};

/// What became of the parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growth {
    /// Tensors taken over as they were.
    pub copied: BTreeSet<String>,
    /// Tensors taken over as a part of larger ones, or rescaled.
    pub grown: BTreeSet<String>,
    /// Tensors that the smaller network has nothing for.
    pub fresh: BTreeSet<String>,
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Growth { copied, grown, fresh } = self;
        let (c, g, n) = (copied.len(), grown.len(), fresh.len());
        write!(f, "{c} tensors copied, {g} grown, {n} fresh")
    }
}

/// The weights of `from` in a network of the architecture `to`; what is new comes from `seed`.
///
/// # Errors
/// In words, what `to` has less of than `from`, or what changes the meaning of the weights.
pub fn grow(from: &Model, to: &Config, seed: u64) -> Result<(Model, Growth), String> {
    refuse_less(&from.config, to)?;
    let blocks = trunk_places(&from.config, to)?;
    let old: Vec<Tensor> = tensors(&from.config).collect();
    let mut parameters = initialise(to, seed);
    let mut growth = Growth::default();
    for tensor in tensors(to) {
        let values = &mut parameters[tensor.range()];
        let place = old_place(tensor.place, &from.config, &blocks);
        let found = old.iter().find(|o| Some(o.place) == place && o.role == tensor.role);
        let list = match found {
            Some(found) => {
                let exact = copy(values, from, to, found, &tensor);
                if exact { &mut growth.copied } else { &mut growth.grown }
            }
            None => {
                if place.is_none() && writes_to_the_stream(tensor.role) {
                    values.fill(0.0);
                }
                &mut growth.fresh
            }
        };
        list.insert(tensor.to_string());
    }
    Ok((Model { config: to.clone(), parameters }, growth))
}

/// The block of the smaller network that stands at `place`; `None` for a new one.
fn old_place(place: Place, from: &Config, trunk: &[Option<u8>]) -> Option<Place> {
    match place {
        Place::Encoder | Place::Head => Some(place),
        Place::EncoderBlock(i) => (u32::from(i) < from.encoder_blocks).then_some(place),
        Place::TrunkBlock(i) => trunk[usize::from(i)].map(Place::TrunkBlock),
    }
}

/// For each block of the larger trunk, the one of the smaller trunk that it takes over.
fn trunk_places(from: &Config, to: &Config) -> Result<Vec<Option<u8>>, String> {
    let old: Vec<TrunkBlock> = from.trunk_blocks().collect();
    let mut next = 0;
    let places = to
        .trunk_blocks()
        .map(|block| {
            let taken = old.get(next).is_some_and(|&o| o == block);
            next += usize::from(taken);
            taken.then(|| next as u8 - 1)
        })
        .collect();
    if next == old.len() {
        return Ok(places);
    }
    Err(format!("the trunk {} has no place for the blocks of {}", to.trunk, from.trunk))
}

/// Refuses an architecture that cannot hold the weights or would read them otherwise.
fn refuse_less(from: &Config, to: &Config) -> Result<(), String> {
    if from.perspective != to.perspective {
        return Err("the perspective differs: the weights would mean something else".into());
    }
    if from.attention_bias && !to.attention_bias {
        return Err("it has no attention_bias, which the weights need".into());
    }
    let mut sizes = vec![
        ("width", from.width, to.width),
        ("heads", from.heads, to.heads),
        ("width of a head", from.width / from.heads, to.width / to.heads),
        ("encoder_blocks", from.encoder_blocks, to.encoder_blocks),
        ("ffn_mult · width", from.ffn_mult * from.width, to.ffn_mult * to.width),
        ("ssm_expand · width", from.ssm_inner(), to.ssm_inner()),
        ("ssm_state", from.ssm_state, to.ssm_state),
        ("ssm_rank", from.ssm_rank, to.ssm_rank),
        ("ssm_conv", from.ssm_conv, to.ssm_conv),
        ("ssm_ffn_mult · width", from.ssm_ffn_mult * from.width, to.ssm_ffn_mult * to.width),
    ];
    if from.policy_head == to.policy_head {
        sizes.push(("policy_dim", from.policy_dim, to.policy_dim));
    }
    match sizes.into_iter().find(|(_, from, to)| to < from) {
        Some((name, from, to)) => Err(format!("{name} is {to} where the weights have {from}")),
        None => Ok(()),
    }
}

/// Whether what the parameter produces is added to the residual stream.
fn writes_to_the_stream(role: Role) -> bool {
    matches!(role, Role::Output | Role::OutProj | Role::Down)
}

/// Fills `values` of tensor `new` from tensor `old`; returns whether they are the same.
fn copy(values: &mut [f32], from: &Model, to: &Config, old: &Tensor, new: &Tensor) -> bool {
    let source = &from.parameters[old.range()];
    let (rows, columns) = axes(&from.config, to, old, new);
    let (width, old_width) = (columns.len(), source.len() / old_rows(old));
    debug_assert_eq!(values.len(), rows.len() * width, "{new}");
    let factor = factor(new.role, &from.config, to);
    for (row, line) in rows.iter().zip(values.chunks_exact_mut(width)) {
        for (column, value) in columns.iter().zip(line) {
            match (row, column) {
                (Source::Zero, _) | (_, Source::Zero) => *value = 0.0,
                (Source::Old(r), Source::Old(c)) => *value = factor * source[r * old_width + c],
                (Source::Fresh, _) | (_, Source::Fresh) => {}
            }
        }
    }
    factor == 1.0 && values.len() == source.len()
}

fn old_rows(tensor: &Tensor) -> usize {
    tensor.shape.dims()[0] as usize
}

/// What makes up for a division that depends on a size.
fn factor(role: Role, from: &Config, to: &Config) -> f32 {
    let root = |a: u32, b: u32| (f64::from(a) / f64::from(b)).sqrt() as f32;
    match role {
        // A norm divides by the root of the mean over the width, in which the zeros count.
        Role::Norm1 | Role::Norm2 | Role::FinalNorm => root(from.width, to.width),
        Role::Query => root(to.width / to.heads, from.width / from.heads),
        Role::FromWeight | Role::FromBias => root(to.policy_dim, from.policy_dim),
        _ => 1.0,
    }
}

/// Where the rows (first dimension) and columns (all others) of a tensor come from.
fn axes(from: &Config, to: &Config, old: &Tensor, new: &Tensor) -> (Axis, Axis) {
    let hidden = |layer| match layer {
        Layer::FeedForward(_, hidden) => hidden,
        _ => 0,
    };
    let hidden = || (hidden(old.layer), hidden(new.layer));
    let stream = |added| Axis::plain((from.width, to.width), added);
    let same = |size: u32| Axis::plain((size, size), Source::Fresh);
    let inner = |added| Axis::plain((from.ssm_inner(), to.ssm_inner()), added);
    let heads = |added| Axis::heads((from.heads, from.width), (to.heads, to.width), added);
    let policy = |added| Axis::plain((from.policy_dim, to.policy_dim), added);
    let value = |added| Axis::plain((from.width / 2, to.width / 2), added);
    let states = (from.ssm_state, to.ssm_state);
    let ranks = (from.ssm_rank, to.ssm_rank);
    let rows = new.shape.dims()[0];
    let one = || same(1);
    use Source::{Fresh, Zero};
    match new.role {
        Role::Piece | Role::Square => (same(rows), stream(Zero)),
        Role::Aux => (stream(Zero), same(new.shape.columns() as u32)),
        Role::Norm1 | Role::Norm2 | Role::FinalNorm => (stream(Fresh), one()),
        Role::AttentionBias => {
            let squares = new.shape.dims()[1] * new.shape.dims()[2];
            (Axis::plain((from.heads, to.heads), Fresh), same(squares))
        }
        Role::Query => (heads(Zero), stream(Fresh)),
        Role::Key | Role::AttentionValue => (heads(Fresh), stream(Fresh)),
        Role::Output => (stream(Zero), heads(Zero)),
        Role::Gate | Role::Up => (Axis::plain(hidden(), Fresh), stream(Fresh)),
        Role::Down => (stream(Zero), Axis::plain(hidden(), Zero)),
        Role::DecayLog => (inner(Fresh), Axis::plain(states, Fresh)),
        Role::Skip | Role::ConvBias | Role::StepBias => (inner(Fresh), one()),
        Role::InProj => (inner(Fresh).then(inner(Fresh)), stream(Fresh)),
        Role::ConvWeight => (inner(Fresh), Axis::last((from.ssm_conv, to.ssm_conv), Zero)),
        // Step, B and C. A new state is written to but not yet read.
        Role::XProj => {
            let written = Axis::plain(ranks, Fresh).then(Axis::plain(states, Fresh));
            (written.then(Axis::plain(states, Zero)), inner(Zero))
        }
        Role::StepWeight => (inner(Fresh), Axis::plain(ranks, Zero)),
        Role::OutProj => (stream(Zero), inner(Zero)),
        Role::PolicyWeight | Role::PromotionWeight => (same(rows), stream(Fresh)),
        Role::PolicyBias | Role::PromotionBias | Role::Value2Bias => (same(rows), one()),
        Role::Context => (stream(Zero), stream(Fresh)),
        Role::FromWeight => (policy(Fresh), stream(Fresh)),
        Role::FromBias => (policy(Fresh), one()),
        Role::ToWeight => (policy(Zero), stream(Fresh)),
        Role::ToBias => (policy(Zero), one()),
        Role::Value1Weight => (value(Fresh), stream(Fresh)),
        Role::Value1Bias => (value(Fresh), one()),
        Role::Value2Weight => (one(), value(Zero)),
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{
        inputs::Perspective, net::PolicyHead, position::parse_fen, shakmaty::Chess,
    };
    use kibitzer_gpu::{OptimizerState, Outputs};

    use super::*;
    use crate::{
        batches,
        device::{Device, Precision},
    };

    fn small(policy_head: PolicyHead) -> Config {
        Config {
            width: 12,
            heads: 2,
            encoder_blocks: 1,
            trunk: "SA".try_into().unwrap(),
            ffn_mult: 2,
            ssm_state: 3,
            ssm_rank: 2,
            ssm_conv: 3,
            ssm_ffn_mult: 2,
            perspective: Perspective::Mover,
            policy_head,
            policy_dim: 5,
            attention_bias: true,
            ..Config::default()
        }
    }

    fn answers(model: &Model) -> Outputs {
        let mut batch = batches::with_capacity(2);
        let fen = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP3/2N2N2/PPPQ1PPP/R3K2R b KQkq - 4 8";
        batches::push(&mut batch, &parse_fen(fen).unwrap(), model.config.perspective);
        batches::push(&mut batch, &Chess::default(), model.config.perspective);
        Device::Cpu.evaluator(model, 2).unwrap().evaluate(&batch).unwrap()
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 2e-4, "{f} instead of {e}");
        }
    }

    /// Each size alone, and all of them, leave the answers as they were.
    #[test]
    fn a_larger_network_answers_the_same() {
        type Change = fn(&mut Config);
        let changes: [(&str, Change); 11] = [
            ("nothing", |_| {}),
            ("width and heads", |c| (c.width, c.heads) = (24, 4)),
            ("wider heads", |c| c.width = 20),
            ("encoder", |c| c.encoder_blocks = 3),
            ("trunk", |c| c.trunk = "ASSAS".try_into().unwrap()),
            ("feed forward", |c| (c.ffn_mult, c.ssm_ffn_mult) = (3, 4)),
            ("inner", |c| c.ssm_expand = 3),
            ("state", |c| c.ssm_state = 7),
            ("rank and taps", |c| (c.ssm_rank, c.ssm_conv) = (5, 6)),
            ("policy", |c| c.policy_dim = 9),
            ("all", |c| {
                let trunk = "SSA".try_into().unwrap();
                *c = Config { width: 30, heads: 3, encoder_blocks: 2, trunk, ..c.clone() };
                (c.ssm_expand, c.ssm_state, c.ssm_rank, c.policy_dim) = (3, 4, 3, 8);
            }),
        ];
        for policy_head in [PolicyHead::FromTo, PolicyHead::Pooled] {
            let config = small(policy_head);
            let parameters = initialise(&config, 1);
            let model = Model { config, parameters };
            let expected = answers(&model);
            for (what, change) in changes {
                let mut config = model.config.clone();
                change(&mut config);
                let (grown, growth) = grow(&model, &config, 2).unwrap();
                let found = answers(&grown);
                assert_close(&found.logits, &expected.logits);
                assert_close(&found.values, &expected.values);
                let pooled = policy_head == PolicyHead::Pooled;
                let same = what == "nothing" || (pooled && what == "policy");
                assert_eq!(growth.grown.is_empty() && growth.fresh.is_empty(), same, "{what}");
            }
        }
    }

    /// Every parameter that is new can learn: none is cut off by zeros on both sides.
    #[test]
    fn what_is_new_gets_a_gradient_after_a_step() {
        let config = small(PolicyHead::FromTo);
        let model = Model { parameters: initialise(&config, 1), config };
        let larger = Config { width: 16, encoder_blocks: 2, ssm_state: 5, ..model.config.clone() };
        let larger = Config { trunk: "SSA".try_into().unwrap(), ssm_rank: 4, ..larger };
        let (grown, _) = grow(&model, &larger, 2).unwrap();
        let mut batch = batches::with_capacity(1);
        batches::push(&mut batch, &Chess::default(), larger.perspective);
        batch.target_policy = vec![0.0; batch.legal.len()];
        batch.target_policy[3] = 1.0;
        batch.target_value.push(0.5);
        let state = OptimizerState::new(grown.parameters.len());
        let mut backend =
            Device::Cpu.trainer(&grown, &state, 1, Precision::F32, false).unwrap().backend;
        let hyper = kibitzer_gpu::AdamW { learning_rate: 1e-3, ..Default::default() };
        for _ in 0..4 {
            backend.step(&batch, &hyper, 0.25).unwrap();
        }
        let (_, gradient) = backend.gradient(&batch, 0.25).unwrap();
        // A lone position has no past to decay, and this one no promotion.
        let still =
            |role| matches!(role, Role::DecayLog | Role::PromotionWeight | Role::PromotionBias);
        for tensor in tensors(&larger).filter(|t| !still(t.role)) {
            let in_trunk = matches!(tensor.place, Place::TrunkBlock(_));
            if in_trunk && matches!(tensor.role, Role::Query | Role::Key) {
                continue;
            }
            let moved = gradient[tensor.range()].iter().filter(|&&g| g != 0.0).count();
            assert!(moved > 0, "{tensor}");
        }
    }

    #[test]
    fn less_of_anything_is_refused() {
        let config = small(PolicyHead::FromTo);
        let model = Model { parameters: initialise(&config, 1), config: config.clone() };
        for (to, why) in [
            (Config { width: 8, ..config.clone() }, "width is 8 where the weights have 12"),
            (
                Config { heads: 6, ..config.clone() },
                "width of a head is 2 where the weights have 6",
            ),
            (
                Config { trunk: "AS".try_into().unwrap(), ..config.clone() },
                "the trunk AS has no place for the blocks of SA",
            ),
            (
                Config { attention_bias: false, ..config.clone() },
                "it has no attention_bias, which the weights need",
            ),
        ] {
            assert_eq!(grow(&model, &to, 1).unwrap_err(), why);
        }
        let to = Config { perspective: Perspective::Absolute, ..config };
        assert!(grow(&model, &to, 1).unwrap_err().starts_with("the perspective differs"));
    }

    #[test]
    fn another_policy_head_starts_fresh_and_the_value_stays() {
        let config = small(PolicyHead::FromTo);
        let model = Model { parameters: initialise(&config, 1), config };
        let to = small(PolicyHead::Pooled);
        let (grown, growth) = grow(&model, &to, 2).unwrap();
        assert_close(&answers(&grown).values, &answers(&model).values);
        assert_eq!(growth.fresh, ["policy.bias", "policy.weight"].map(String::from).into());
    }
}
