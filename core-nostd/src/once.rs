//! Values worked out when first asked for.
use core::cell::OnceCell;

/// What `cell` holds; at first, what `make` works out. Other than the cell's own way it cannot
/// panic: where `make` fills the cell itself, its first value stays.
#[inline]
pub fn get_or_make<T>(cell: &OnceCell<T>, make: impl Fn() -> T) -> &T {
    loop {
        if let Some(value) = cell.get() {
            return value;
        }
        let _ = cell.set(make());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn a_value_is_made_once() {
        let (cell, made) = (OnceCell::new(), Cell::new(0));
        let make = || {
            made.set(made.get() + 1);
            made.get()
        };
        assert_eq!((get_or_make(&cell, make), get_or_make(&cell, make)), (&1, &1));
    }

    #[test]
    fn the_first_value_stays() {
        let cell = OnceCell::new();
        let make = || {
            let _ = cell.set(1);
            2
        };
        assert_eq!(get_or_make(&cell, make), &1);
    }
}
