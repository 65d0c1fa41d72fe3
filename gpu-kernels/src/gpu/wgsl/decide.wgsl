// Whether the step is taken, and with what; one invocation. No host waits for the answer.

// By its bits: compilers may assume that nothing is infinite or not a number.
fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

fn power(base: f32, exponent: u32) -> f32 {
    var result = 1.0;
    var square = base;
    for (var rest = exponent; rest > 0u; rest /= 2u) {
        if rest % 2u == 1u { result *= square; }
        square *= square;
    }
    return result;
}

fn take() {
    control.steps += 1u;
    let clipped = min(run.clip / (summary.gradient_norm + 1e-6), 1.0);
    summary.outcome = TAKEN;
    summary.factor = clipped / control.loss_scale;
    summary.step_size = run.learning_rate / (1.0 - power(run.beta1, control.steps));
    summary.root_correction = sqrt(1.0 - power(run.beta2, control.steps));
    if !SCALES { return; }
    control.good_steps += 1u;
    if control.good_steps >= GROWTH_INTERVAL {
        control.good_steps = 0u;
        control.loss_scale = min(2.0 * control.loss_scale, MOST_SCALE);
    }
}

fn refuse() {
    if control.loss_scale > 1.0 {
        summary.outcome = SKIPPED;
        control.loss_scale = max(0.5 * control.loss_scale, 1.0);
        control.good_steps = 0u;
    } else {
        summary.outcome = DIVERGED;
        control.halted = 1u;
    }
}

@compute @workgroup_size(1)
fn main() {
    if control.halted != 0u {
        summary.outcome = DIVERGED;
    } else if is_finite(summary.policy + summary.value + summary.gradient_norm) {
        take();
    } else {
        refuse();
    }
}
