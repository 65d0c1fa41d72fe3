//! Sorting of short lists. The library's sorts are made for long ones and take 15 KB of flash
//! for each type of element.

/// Puts the elements in the order of their keys, which are all different.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    for sorted in 1..list.len() {
        let own = key(&list[sorted]);
        let place = list[..sorted].partition_point(|other| key(other) < own);
        list[place..=sorted].rotate_right(1);
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
