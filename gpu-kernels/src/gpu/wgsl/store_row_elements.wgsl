// Stores four neighbours of a row of {x}, as far as there are columns.
fn store_{x}(row: u32, column: u32, columns: u32, values: vec4<f32>) {
    let at = row * {X}_PITCH + {X}_COLUMN;
    var rest = values;
    for (var i = column; i < min(column + 4u, columns); i++) {
        var value = rest.x;
        if {X}_ADDS { value += f32({x}[at + i]); }
        {x}[at + i] = {x}_element(value);
        rest = rest.yzwx;
    }
}
