// Beyond 10 the hyperbolic tangent is one, and some drivers overflow. What is no number compares
// false, and stays.
fn f(x: f32) -> f32 {
    if x > 10.0 { return 1.0; }
    if x < -10.0 { return -1.0; }
    return tanh(x);
}

fn slope(x: f32) -> f32 {
    let y = f(x);
    return 1.0 - y * y;
}
