// y = f(x).
fn element(i: u32, row: u32, c: u32) {
    y[i] = y_element(f(f32(x[row * X_PITCH + X_COLUMN + c])));
}
