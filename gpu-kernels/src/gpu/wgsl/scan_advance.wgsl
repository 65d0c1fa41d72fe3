var<private> decay: array<f32, STATES>;
var<private> h: array<f32, STATES>;

// Takes the states on to position n, the t-th of its sequence, and returns g.
fn advance(n: u32, t: u32, c: u32) -> f32 {
    let delta = softplus(step_at(n, c));
    let input = delta * u_at(n, c);
    var g = skip_at(c) * u_at(n, c);
    for (var s = 0u; s < STATES; s++) {
        var state = input * b_at(n, s);
        if t > 0u { state += exp(delta * decay[s]) * h[s]; }
        h[s] = state;
        g += state * c_at(n, s);
    }
    return g;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = folded(group) * 64u + local;
    let c = i % WIDTH;
    let first = i / WIDTH * run.length;
    if first >= run.positions { return; }
    decay = decay_of(c);
    for (var t = 0u; t < run.length; t++) { position(first + t, t, c, advance(first + t, t, c)); }
}
