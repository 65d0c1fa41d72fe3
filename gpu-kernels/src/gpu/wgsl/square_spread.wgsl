// y[n, s, d] (+)= FACTOR x[n, d], on every square.
fn element(i: u32, row: u32, d: u32) {
    let at = row * Y_PITCH + Y_COLUMN + d;
    var value = FACTOR * f32(x[row / SQUARES * WIDTH + d]);
    if Y_ADDS { value += f32(y[at]); }
    y[at] = y_element(value);
}
