//! A value for each square, looked up without a test that may fail.
use shakmaty::Square;

/// A value for each square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerSquare<T>([T; 64]);

impl<T> PerSquare<T> {
    /// From what `value` says of each.
    pub fn from_fn(mut value: impl FnMut(Square) -> T) -> Self {
        PerSquare(core::array::from_fn(|index| value(Square::new(index as u32 & 63))))
    }

    /// The value of a square.
    pub const fn get(&self, square: Square) -> &T {
        // The compiler sees that the index is in range.
        &self.0[square as usize & 63]
    }

    /// The value of a square, to be changed.
    pub const fn get_mut(&mut self, square: Square) -> &mut T {
        &mut self.0[square as usize & 63]
    }
}
