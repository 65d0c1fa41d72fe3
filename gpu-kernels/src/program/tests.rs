use kibitzer_core::net::{Config, PolicyHead, tensors};

use super::{Op, Program, Rows};

fn configurations() -> [Config; 2] {
    let small = Config {
        width: 24,
        heads: 3,
        trunk: "SA".try_into().unwrap(),
        policy_head: PolicyHead::FromTo,
        attention_bias: true,
        ..Config::default()
    };
    [Config::default(), small]
}

#[test]
fn every_parameter_belongs_to_one_operation() {
    for config in configurations() {
        let program = Program::new(&config).unwrap();
        let mut all: Vec<_> = program.ops.iter().flat_map(Op::parameters).collect();
        all.sort_by_key(|range| range.start);
        let mut end = 0;
        for range in all {
            assert_eq!(range.start, end, "a gap or an overlap in the parameters");
            end = range.end;
        }
        assert_eq!(end, tensors(&config).map(|t| t.shape.len()).sum::<usize>());
    }
}

#[test]
fn every_buffer_is_written_before_it_is_read() {
    for config in configurations() {
        let program = Program::new(&config).unwrap();
        let mut written = vec![false; program.buffers.len()];
        for op in &program.ops {
            assert!(op.inputs().iter().all(|view| written[view.buffer.index()]));
            if let Op::Attention { log_sum, .. } = op {
                written[log_sum.index()] = true;
            }
            if let Some(output) = op.output() {
                assert!(!written[output.index()], "two operations write one buffer");
                written[output.index()] = true;
            }
        }
        assert!(written.iter().all(|&w| w));
    }
}

/// The backward pass in the plan's terms: whoever owns a slot keeps it from the first write of
/// its gradient until its producer has read it.
#[test]
fn no_two_live_gradients_share_a_slot() {
    for config in configurations() {
        let program = Program::new(&config).unwrap();
        let mut owner = vec![None; program.slots.len()];
        for op in program.ops.iter().rev() {
            if let Some(output) = op.output() {
                let slot = program.info(output).slot.unwrap();
                assert_eq!(owner[slot], Some(output), "{op:?} finds another's gradient");
                owner[slot] = op.passes_gradient_to();
                for view in op.inputs() {
                    let other = program.info(view.buffer).slot.unwrap();
                    assert_ne!(other, slot, "{op:?} reads and writes one slot");
                }
            }
            for view in op.inputs() {
                let slot = program.info(view.buffer).slot.unwrap();
                assert!(program.slots[slot].width >= program.info(view.buffer).width);
                assert_eq!(program.slots[slot].rows, program.info(view.buffer).rows);
                assert!(!view.accumulate || owner[slot] == Some(view.buffer));
                let free = owner[slot].is_none() || owner[slot] == Some(view.buffer);
                assert!(free, "{op:?} overwrites a gradient still needed");
                owner[slot] = Some(view.buffer);
            }
        }
    }
}

#[test]
fn gradients_take_a_small_part_of_the_activations_memory() {
    let program = Program::new(&Config::default()).unwrap();
    let elements = |rows: Rows, width: usize| if rows == Rows::Square { 64 * width } else { width };
    let slots: usize = program.slots.iter().map(|s| elements(s.rows, s.width)).sum();
    let buffers: usize = program.buffers.iter().map(|b| elements(b.rows, b.width)).sum();
    assert!(slots * 3 < buffers, "{slots} of {buffers}");
}

/// In evaluation a place is taken by one buffer at a time.
#[test]
fn no_two_live_activations_share_a_place() {
    for config in configurations() {
        let program = Program::new(&config).unwrap();
        let places = program.places();
        let mut owner = vec![None; places.len()];
        for op in &program.ops {
            for buffer in op.reads() {
                let found = owner[places[buffer.index()]];
                assert_eq!(found, Some(buffer), "{op:?} finds another's values");
            }
            for buffer in op.outputs() {
                let place = places[buffer.index()];
                let reads = op.reads().into_iter().any(|read| places[read.index()] == place);
                assert!(!reads, "{op:?} overwrites what it reads");
                owner[place] = Some(buffer);
            }
        }
        let (logits, values) = program.outputs().unwrap();
        for buffer in [logits.buffer, values.buffer] {
            assert_eq!(owner[places[buffer.index()]], Some(buffer));
        }
        let (all, kept) = (program.buffers.len(), places.iter().max().unwrap() + 1);
        assert!(3 * kept < all, "{kept} places for {all} buffers");
        assert!(program.all_buffers().zip(&places).all(|(buffer, &place)| {
            let first = places.iter().position(|&other| other == place).unwrap();
            program.buffers[first].rows == program.info(buffer).rows
        }));
    }
}
