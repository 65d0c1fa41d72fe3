// The gradient of one side's vectors: dx[n, s] (+)= sum over the entries of n that have s on
// this side of dy[e] other[n, the other side's square] / sqrt(WIDTH). FROM: this side is the
// origin.
fn element(i: u32, row: u32, d: u32) {
    let n = row / SQUARES;
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        let entry = entries[e];
        let here = select(to_of(entry), from_of(entry), FROM);
        let there = select(from_of(entry), to_of(entry), FROM);
        if here == row % SQUARES {
            sum += f32(dy[e]) * f32(other[(n * SQUARES + there) * OTHER_PITCH + OTHER_COLUMN + d]);
        }
    }
    sum *= SCALE;
    let at = row * X_PITCH + X_COLUMN + d;
    if X_ADDS { sum += f32(dx[at]); }
    dx[at] = dx_element(sum);
}
