// Adds a part of the batch's losses to the summary, as means over the batch; one workgroup.

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) local: u32) {
    var policy = 0.0;
    var value = 0.0;
    for (var n = local; n < run.positions; n += 256u) {
        policy += losses[2u * n];
        value += losses[2u * n + 1u];
    }
    let policies = sum256(local, policy);
    let values = sum256(local, value);
    if local == 0u {
        summary.policy += policies * run.mean;
        summary.value += values * run.mean;
    }
}
