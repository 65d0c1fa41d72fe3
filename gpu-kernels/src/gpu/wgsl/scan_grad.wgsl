// The gradients of u, step, B, C, the rates and the skip connection, back along the sequences;
// a workgroup takes 64 channels of a split's sequences. With dh the gradient of the states:
// dh[t] = dg C + decay[t+1] dh[t+1], dC = sum over channels of dg h, dB = sum of delta u dh.
//
// `scratch` holds the history, then each block of channels' part of dB and dC, [N, BLOCKS,
// 2 STATES], then each split's part of the parameters' gradient, laid out as `rates` is.

const BLOCKS: u32 = (WIDTH + 63u) / 64u;
// States whose dB and dC are summed over the workgroup at a time, and the pitch of their parts:
// one more than the channels, against bank conflicts.
const SLICE: u32 = min(16u, STATES);
const PITCH: u32 = 65u;

var<workgroup> parts: array<f32, 2u * SLICE * PITCH>;

// Sums the parts of states from s0 on, the same number of dB and dC.
fn sum_parts(n: u32, block: u32, s0: u32, local: u32) {
    let s = s0 + local % SLICE;
    if local >= 2u * SLICE || s >= STATES { return; }
    var sum = 0.0;
    for (var j = 0u; j < 64u; j++) { sum += parts[local * PITCH + j]; }
    scratch[BC_AT + ((n * BLOCKS + block) * 2u + local / SLICE) * STATES + s] = sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = folded(group);
    let split = index / BLOCKS;
    let block = index % BLOCKS;
    if split >= SPLITS { return; }
    let idle = block * 64u + local >= WIDTH;
    let c = min(block * 64u + local, WIDTH - 1u);
    var decay = decay_of(c);
    var dh: array<f32, STATES>;
    var drates: array<f32, STATES>;
    for (var s = 0u; s < STATES; s++) { drates[s] = 0.0; }
    var dskip = 0.0;
    let sequences = run.positions / run.length;
    let share = (sequences + SPLITS - 1u) / SPLITS;
    for (var i = split * share; i < min((split + 1u) * share, sequences); i++) {
        for (var s = 0u; s < STATES; s++) { dh[s] = 0.0; }
        for (var t = run.length; t > 0u; t--) {
            let n = i * run.length + t - 1u;
            let delta = softplus(step_at(n, c));
            let input = delta * u_at(n, c);
            let slope = select(f32(dg[n * WIDTH + c]), 0.0, idle);
            var dinput = 0.0;
            var ddelta = 0.0;
            for (var s0 = 0u; s0 < STATES; s0 += SLICE) {
                workgroupBarrier();
                for (var s = s0; s < min(s0 + SLICE, STATES); s++) {
                    var keep = 0.0;
                    var before = 0.0;
                    if t > 1u {
                        keep = exp(delta * decay[s]);
                        before = scratch[((n - 1u) * STATES + s) * WIDTH + c];
                    }
                    let part = (s - s0) * PITCH + local;
                    dh[s] += slope * c_at(n, s);
                    dinput += dh[s] * b_at(n, s);
                    parts[part] = input * dh[s];
                    parts[part + SLICE * PITCH] = slope * (keep * before + input * b_at(n, s));
                    dh[s] *= keep;
                    let dexponent = dh[s] * before * decay[s];
                    ddelta += dexponent;
                    drates[s] += dexponent * delta;
                }
                workgroupBarrier();
                sum_parts(n, block, s0, local);
            }
            if !idle {
                let u_index = n * U_PITCH + U_COLUMN + c;
                var for_u = slope * skip_at(c) + delta * dinput;
                if U_ADDS { for_u += f32(du[u_index]); }
                du[u_index] = du_element(for_u);
                let step_index = n * STEP_SIZE_PITCH + STEP_SIZE_COLUMN + c;
                var for_step = (u_at(n, c) * dinput + ddelta) * sigmoid(step_at(n, c));
                if STEP_SIZE_ADDS { for_step += f32(dstep_size[step_index]); }
                dstep_size[step_index] = dstep_size_element(for_step);
            }
            dskip += slope * u_at(n, c);
        }
    }
    if idle { return; }
    let part = PARAMETERS_AT + split * WIDTH * (STATES + 1u);
    for (var s = 0u; s < STATES; s++) { scratch[part + c * STATES + s] = drates[s]; }
    scratch[part + WIDTH * STATES + c] = dskip;
}
