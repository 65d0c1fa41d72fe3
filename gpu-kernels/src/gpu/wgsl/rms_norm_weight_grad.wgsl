// dw = sum over rows of dy x r, `scale` keeping the rows' r.
fn term(row: u32, c: u32) -> f32 {
    return f32(dy[row * WIDTH + c]) * f32(x[row * X_PITCH + X_COLUMN + c]) * scale[row];
}
