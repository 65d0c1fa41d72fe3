// y = silu(a).
fn element(i: u32, n: u32, c: u32) {
    y[i] = y_element(silu(preactivation(n, c)));
}
