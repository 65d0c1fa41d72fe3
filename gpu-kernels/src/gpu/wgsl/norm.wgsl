// The gradient's norm from the LEN partial sums of its squares; one workgroup.

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) local: u32) {
    var part = 0.0;
    for (var i = local; i < LEN; i += 256u) { part += partial[i]; }
    let sum = sum256(local, part);
    if local == 0u {
        summary.gradient_norm = sqrt(sum) / control.loss_scale;
        summary.loss_scale = control.loss_scale;
    }
}
