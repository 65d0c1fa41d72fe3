// Stores four neighbours of a row of {x}, `columns` being where the columns end, all of them.
fn store_{x}(row: u32, column: u32, columns: u32, values: vec4<f32>) {
    let at = (row * {X}_PITCH + {X}_COLUMN + column) / 4u;
    var value = values;
    if {X}_ADDS { value += vec4<f32>({x}[at]); }
    {x}[at] = vec4<{x}_element>(value);
}
