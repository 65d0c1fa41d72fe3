// y[n, s, d] = x[n, s, d] + c[n, d].
fn element(i: u32, row: u32, d: u32) {
    y[i] = y_element(f32(x[i]) + f32(c[row / SQUARES * C_PITCH + C_COLUMN + d]));
}
