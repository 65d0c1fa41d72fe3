// Sum over the 64 invocations of a workgroup, the same for all of them, in a fixed order.
var<workgroup> sums: array<f32, 64>;

fn sum_all(local: u32, value: f32) -> f32 {
    workgroupBarrier();
    sums[local] = value;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half { sums[local] += sums[local + half]; }
        workgroupBarrier();
    }
    return sums[0];
}
