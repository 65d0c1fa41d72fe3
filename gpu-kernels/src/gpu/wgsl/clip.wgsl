// The gradient's norm from the LEN partial sums of its squares, and the factor that clips it; one
// workgroup.

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) local: u32) {
    var part = 0.0;
    for (var i = local; i < LEN; i += 256u) { part += partial[i]; }
    let sum = sum256(local, part);
    if local == 0u {
        let norm = sqrt(sum);
        summary.gradient_norm = norm;
        summary.clip_factor = min(run.clip / (norm + 1e-6), 1.0);
    }
}
