// y = g silu(z).
fn position(n: u32, t: u32, c: u32, g: f32) {
    y[n * WIDTH + c] = y_element(g * silu(f32(z[n * Z_PITCH + Z_COLUMN + c])));
}
