// y[e] = from[n, f] to[n, t] / sqrt(WIDTH) (+ promotion[n, f, plane]).

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let e = folded(group) * 256u + local;
    if e >= run.entries { return; }
    let entry = entries[e];
    let row = entry.position * SQUARES + from_of(entry);
    let other = entry.position * SQUARES + to_of(entry);
    let rows = SQUARES * run.positions;
    var products = vec4<f32>();
    for (var d = 0u; d < WIDTH; d += 4u) {
        products += origin_row(row, d, rows, WIDTH) * goal_row(other, d, rows, WIDTH);
    }
    var sum = dot(products, vec4<f32>(1.0)) * SCALE;
    let plane = plane_of(entry);
    if plane != NO_PLANE {
        sum += f32(promotion[row * PROMOTION_PITCH + PROMOTION_COLUMN + plane]);
    }
    y[e] = y_element(sum);
}
