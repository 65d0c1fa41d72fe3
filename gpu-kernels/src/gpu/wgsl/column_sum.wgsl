// Sums the columns of x.
fn term(row: u32, c: u32) -> f32 {
    return f32(x[row * X_PITCH + X_COLUMN + c]);
}
