// dx (+)= dy f'(x).
fn element(i: u32, row: u32, c: u32) {
    let at = row * X_PITCH + X_COLUMN + c;
    var value = f32(dy[i]) * slope(f32(x[at]));
    if X_ADDS { value += f32(dx[at]); }
    dx[at] = dx_element(value);
}
