// An invocation for each element of a matrix of ROWS rows a position and WIDTH columns.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 256u + local;
    let row = i / WIDTH;
    if row < ROWS * run.positions { element(i, row, i % WIDTH); }
}
