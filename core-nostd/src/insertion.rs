//! Sorting of short lists. The library's sorts are made for long ones and take 15 KB of flash
//! for each type of element; and they may panic, for all that a compiler knows.
use core::mem;

/// Puts the elements in the order of their keys, which are all different.
pub fn sort_by_key<T: Clone, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    for sorted in 1..list.len() {
        let Some((before, [next, ..])) = list.split_at_checked(sorted) else { return };
        let own = key(next);
        let place = before.partition_point(|other| key(other) < own);
        if let Some(later) = list.get_mut(place..=sorted) {
            last_to_front(later);
        }
    }
}

/// Puts the last element before all others.
pub fn last_to_front<T: Clone>(list: &mut [T]) {
    if let Some(mut carried) = list.last().cloned() {
        list.iter_mut().for_each(|place| mem::swap(place, &mut carried));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_library(mut list in prop::collection::vec(any::<i16>(), 0..40)) {
            let mut expected = list.clone();
            expected.sort_by_key(|&x| -i32::from(x));
            sort_by_key(&mut list, |&x| -i32::from(x));
            prop_assert_eq!(list, expected);
        }
    }
}
