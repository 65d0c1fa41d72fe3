// y = silu(g) u, a row of x being [g | u].
fn element(i: u32, row: u32, c: u32) {
    let at = row * X_PITCH + X_COLUMN + c;
    y[i] = y_element(silu(f32(x[at])) * f32(x[at + WIDTH]));
}
