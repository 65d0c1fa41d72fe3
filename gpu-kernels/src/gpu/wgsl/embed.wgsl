// y[n, s] = piece[token[n, s]] + square[s] + aux scalars[n]. Four tokens a word.
fn element(i: u32, row: u32, d: u32) {
    let token = tokens[row / 4u] >> (row % 4u * 8u) & 0xffu;
    let n = row / SQUARES;
    var sum = piece[token * WIDTH + d] + square[row % SQUARES * WIDTH + d];
    for (var j = 0u; j < AUX; j++) { sum += aux[d * AUX + j] * scalars[n * AUX + j]; }
    y[i] = y_element(sum);
}
