// Four neighbours in a row of the stored {x}; zero beyond its rows and columns.
fn {x}_row(row: u32, column: u32, rows: u32, columns: u32) -> vec4<f32> {
    var v = vec4<f32>();
    if row < rows {
        let at = row * {X}_PITCH + {X}_COLUMN + column;
        if column < columns { v.x = f32({x}[at]); }
        if column + 1u < columns { v.y = f32({x}[at + 1u]); }
        if column + 2u < columns { v.z = f32({x}[at + 2u]); }
        if column + 3u < columns { v.w = f32({x}[at + 3u]); }
    }
    return v;
}
