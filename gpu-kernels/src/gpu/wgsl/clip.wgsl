// The gradient's norm from the LEN partial sums of its squares, the factor that clips it, and
// whether the step is sound; one workgroup.

@group(0) @binding(1) var<storage, read> partial: array<f32>;
@group(0) @binding(2) var<storage, read_write> summary: Summary;

// By its bits, since a compiler may assume that there are no infinities.
fn finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) local: u32) {
    var part = 0.0;
    for (var i = local; i < LEN; i += 256u) { part += partial[i]; }
    let sum = sum256(local, part);
    if local == 0u {
        let norm = sqrt(sum);
        let sound = finite(sum) && finite(summary.policy) && finite(summary.value);
        summary.gradient_norm = select(sum, norm, finite(sum));
        summary.clip_factor = min(run.clip / (norm + 1e-6), 1.0);
        summary.sound = u32(sound);
    }
}
