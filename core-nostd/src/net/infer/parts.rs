//! Parts of slices, without a panic where there are none.

/// `count` elements from `first` on, or nothing where there are not so many.
pub fn part<T>(all: &[T], first: usize, count: usize) -> &[T] {
    all.get(first..).and_then(|rest| rest.get(..count)).unwrap_or(&[])
}

/// As [`part`], to be written.
pub fn part_mut<T>(all: &mut [T], first: usize, count: usize) -> &mut [T] {
    all.get_mut(first..).and_then(|rest| rest.get_mut(..count)).unwrap_or(&mut [])
}
