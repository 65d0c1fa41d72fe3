// The gradient of one side's vectors: dx[n, s] (+)= sum over the entries of n that have s on
// this side of dy[e] other[n, the other side's square] / sqrt(COLUMNS), four neighbours at a
// time. FROM: this side is the origin.
fn element(i: u32, row: u32, v: u32) {
    let n = row / SQUARES;
    var sum = vec4<f32>();
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        let entry = entries[e];
        let here = select(to_of(entry), from_of(entry), FROM);
        let there = select(from_of(entry), to_of(entry), FROM);
        if here == row % SQUARES {
            sum += f32(dy[e]) * other_row(n * SQUARES + there, 4u * v, ROWS * run.positions, COLUMNS);
        }
    }
    store_dx(row, 4u * v, COLUMNS, sum * SCALE);
}
