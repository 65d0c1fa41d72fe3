// Stores four neighbours of a row; N, bias, residual and c are in vectors of four.
fn store(part: Part, m: u32, n: u32, values: vec4<f32>) {
    if m >= part.m_end || n >= N { return; }
    let at = ((part.split * part.m_end + m) * C_PITCH + C_COLUMN + n) / 4u;
    var value = values + bias_at(n) + residual_at(m, n);
    if C_ADDS { value += vec4<f32>(c[at]); }
    c[at] = vec4<c_element>(value);
}
