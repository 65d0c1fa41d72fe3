// dx[n] (+)= sum over the position's entries of dy[e] W[index].
fn element(i: u32, n: u32, d: u32) {
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        sum += f32(dy[e]) * w[index_of(entries[e]) * WIDTH + d];
    }
    let at = n * X_PITCH + X_COLUMN + d;
    if X_ADDS { sum += f32(dx[at]); }
    dx[at] = dx_element(sum);
}
