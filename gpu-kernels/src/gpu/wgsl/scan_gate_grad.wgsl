// dz (+)= dy g silu'(z), and dg = dy silu(z) in dy's place, which nobody reads any more. On the
// way it keeps the states of all positions but a sequence's last, history [N, STATES, WIDTH].
fn position(n: u32, t: u32, c: u32, g: f32) {
    let at = n * Z_PITCH + Z_COLUMN + c;
    let gate = f32(z[at]);
    let slope = f32(dy[n * WIDTH + c]);
    var value = slope * g * silu_slope(gate);
    if Z_ADDS { value += f32(dz[at]); }
    dz[at] = dz_element(value);
    dy[n * WIDTH + c] = dy_element(slope * silu(gate));
    if t + 1u < run.length {
        for (var s = 0u; s < STATES; s++) { history[(n * STATES + s) * WIDTH + c] = h[s]; }
    }
}
