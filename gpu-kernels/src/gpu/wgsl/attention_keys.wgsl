// The rows that pass by are keys and values.
fn first(row: u32, head: u32, v: u32) -> vec4<f32> {
    return qkv_vector(row, head, 1u, v);
}

fn second(row: u32, head: u32, v: u32) -> vec4<f32> {
    return qkv_vector(row, head, 2u, v);
}
