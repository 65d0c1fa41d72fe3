//! Tables put together from their themes when the program is compiled.

/// Number of rows of all themes.
pub const fn count<T>(themes: &[&[T]]) -> usize {
    let (mut count, mut theme) = (0, 0);
    while theme < themes.len() {
        count += themes[theme].len();
        theme += 1;
    }
    count
}

/// The rows of all themes, one after the other; as many as there are, or it does not compile.
pub const fn concat<T: Copy, const N: usize>(themes: &[&[T]]) -> [T; N] {
    assert!(count(themes) == N);
    let mut rows = [themes[0][0]; N];
    let (mut next, mut theme) = (0, 0);
    while theme < themes.len() {
        let mut row = 0;
        while row < themes[theme].len() {
            rows[next] = themes[theme][row];
            next += 1;
            row += 1;
        }
        theme += 1;
    }
    rows
}
