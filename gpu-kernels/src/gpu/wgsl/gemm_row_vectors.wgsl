// Four neighbours in a row of the stored {x}; zero beyond its rows and columns. Its columns are a
// multiple of four, and so is `column`.
fn {x}_row(row: u32, column: u32, rows: u32, columns: u32) -> vec4<f32> {
    if row < rows && column < columns {
        return vec4<f32>({x}[(row * {X}_PITCH + {X}_COLUMN + column) / 4u]);
    }
    return vec4<f32>();
}
