// Stores four neighbours of a row, as far as there are columns.
fn store(part: Part, m: u32, n: u32, values: vec4<f32>) {
    if m >= part.m_end { return; }
    let row = (part.split * part.m_end + m) * C_PITCH + C_COLUMN;
    var rest = values;
    for (var i = n; i < min(n + 4u, N); i++) {
        var value = rest.x + bias_at(i) + residual_at(m, i);
        if C_ADDS { value += f32(c[row + i]); }
        c[row + i] = c_element(value);
        rest = rest.yzwx;
    }
}
