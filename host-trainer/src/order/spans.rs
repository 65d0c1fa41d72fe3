//! Numbers chosen from a range, kept as the stretches that they form.

/// At most `limit` places of `len`, evenly spaced.
pub fn evenly_spaced(len: usize, limit: usize) -> impl Iterator<Item = usize> {
    let count = len.min(limit);
    (0..count).map(move |i| i * len / count)
}

/// Ascending numbers, as stretches of successive ones: the examples of whole games lie side by
/// side, so a stretch takes the place of hundreds of numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// Each stretch's first number, and how many numbers lie before it.
    starts: Vec<(u32, u32)>,
    len: u32,
}

impl Spans {
    /// How many numbers there are.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number at `place`, from 0, which must be below the length.
    pub fn at(&self, place: u32) -> u32 {
        debug_assert!(place < self.len, "{place} of {}", self.len);
        let next = self.starts.partition_point(|&(_, before)| before <= place);
        let (first, before) = self.starts[next - 1];
        first + (place - before)
    }

    /// At most `limit` of the numbers, evenly spaced.
    pub fn evenly(&self, limit: usize) -> Vec<u32> {
        evenly_spaced(self.len as usize, limit).map(|place| self.at(place as u32)).collect()
    }
}

impl Extend<u32> for Spans {
    /// The numbers must ascend.
    fn extend<I: IntoIterator<Item = u32>>(&mut self, numbers: I) {
        for number in numbers {
            let next = self.starts.last().map(|&(first, before)| first + (self.len - before));
            debug_assert!(next.is_none_or(|next| number >= next), "{number} after {next:?}");
            if next != Some(number) {
                self.starts.push((number, self.len));
            }
            self.len += 1;
        }
    }
}

impl FromIterator<u32> for Spans {
    /// The numbers must ascend.
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Spans {
        let mut spans = Spans::default();
        spans.extend(numbers);
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let numbers = [0, 1, 2, 7, 9, 10, 30];
        let spans: Spans = numbers.into_iter().collect();
        assert_eq!(spans.len(), 7);
        assert_eq!(spans.starts.len(), 4);
        assert_eq!((0..7).map(|place| spans.at(place)).collect::<Vec<_>>(), numbers);
        assert_eq!(spans.evenly(3), [0, 2, 9]);
        assert_eq!(spans.evenly(100), numbers);
        assert!(Spans::default().is_empty() && Spans::default().evenly(5).is_empty());
    }
}
