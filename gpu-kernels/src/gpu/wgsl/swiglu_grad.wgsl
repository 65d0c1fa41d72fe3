// du = dy silu(g), dg = dy u silu'(g), a row of x being [g | u].
fn element(i: u32, row: u32, c: u32) {
    let at = row * X_PITCH + X_COLUMN + c;
    var dg = f32(dy[i]) * f32(x[at + WIDTH]) * silu_slope(f32(x[at]));
    var du = f32(dy[i]) * silu(f32(x[at]));
    if X_ADDS {
        dg += f32(dx[at]);
        du += f32(dx[at + WIDTH]);
    }
    dx[at] = dx_element(dg);
    dx[at + WIDTH] = dx_element(du);
}
