// Sum over the invocations of a workgroup that is one subgroup, the same for all of them.
fn sum_all(local: u32, value: f32) -> f32 {
    return subgroupAdd(value);
}
