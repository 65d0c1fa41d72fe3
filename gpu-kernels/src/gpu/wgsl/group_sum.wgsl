// y[n, d] (+)= FACTOR times the sum of x's GROUP rows of position n.
fn element(i: u32, n: u32, d: u32) {
    var sum = 0.0;
    for (var j = 0u; j < GROUP; j++) {
        sum += f32(x[(n * GROUP + j) * X_PITCH + X_COLUMN + d]);
    }
    sum *= FACTOR;
    let at = n * Y_PITCH + Y_COLUMN + d;
    if Y_ADDS { sum += f32(y[at]); }
    y[at] = y_element(sum);
}
