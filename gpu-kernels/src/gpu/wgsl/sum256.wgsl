// Sum over the 256 invocations of a workgroup, the same for all of them, in a fixed order.
var<workgroup> sums: array<f32, 256>;

fn sum256(local: u32, value: f32) -> f32 {
    workgroupBarrier();
    sums[local] = value;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half /= 2u) {
        if local < half { sums[local] += sums[local + half]; }
        workgroupBarrier();
    }
    return sums[0];
}
