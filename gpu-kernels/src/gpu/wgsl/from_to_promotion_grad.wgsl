// dx[n, f, plane] (+)= sum of dy[e] over the entries of n with that origin and plane.
fn element(i: u32, row: u32, plane: u32) {
    let n = row / SQUARES;
    var sum = 0.0;
    for (var e = offsets[n]; e < offsets[n + 1u]; e++) {
        let entry = entries[e];
        if from_of(entry) == row % SQUARES && plane_of(entry) == plane { sum += f32(dy[e]); }
    }
    let at = row * X_PITCH + X_COLUMN + plane;
    if X_ADDS { sum += f32(dx[at]); }
    dx[at] = dx_element(sum);
}
