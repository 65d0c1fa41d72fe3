//! Where the rows and columns of a grown tensor come from.

/// Where an index of a grown axis comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The smaller network's, at this index.
    Old(usize),
    /// Initial values.
    Fresh,
    /// Zeros.
    Zero,
}

/// A row of sources: one for each index of the larger network's axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    sources: Vec<Source>,
    /// Length of the smaller network's axis.
    old: usize,
}

impl Axis {
    /// The old indices first, then what is added; sizes are old and new.
    pub fn plain((old, new): (u32, u32), added: Source) -> Axis {
        let source = |i| if i < old { Source::Old(i as usize) } else { added };
        Axis { sources: (0..new).map(source).collect(), old: old as usize }
    }

    /// What is added first, then the old indices: the taps of a causal convolution.
    pub fn last((old, new): (u32, u32), added: Source) -> Axis {
        let mut axis = Axis::plain((old, new), added);
        axis.sources.rotate_right((new - old) as usize);
        axis
    }

    /// Heads side by side, each perhaps wider; `(heads, width of all)` old and new.
    pub fn heads(old: (u32, u32), new: (u32, u32), added: Source) -> Axis {
        let (each, wider) = (old.1 / old.0, new.1 / new.0);
        let source = |i: u32| {
            let (head, place) = (i / wider, i % wider);
            if head < old.0 && place < each {
                Source::Old((head * each + place) as usize)
            } else {
                added
            }
        };
        Axis { sources: (0..new.1).map(source).collect(), old: old.1 as usize }
    }

    /// This axis and another behind it.
    pub fn then(mut self, other: Axis) -> Axis {
        let shifted = other.sources.into_iter().map(|source| match source {
            Source::Old(i) => Source::Old(i + self.old),
            added => added,
        });
        self.sources.extend(shifted);
        self.old += other.old;
        self
    }

    /// Length of the larger network's axis.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// The sources in order.
    pub fn iter(&self) -> impl Iterator<Item = Source> + '_ {
        self.sources.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Axis,
        Source::{Fresh, Old, Zero},
    };

    #[test]
    fn old_indices_keep_their_order() {
        let sources = |axis: &Axis| axis.iter().collect::<Vec<_>>();
        assert_eq!(sources(&Axis::plain((2, 3), Zero)), [Old(0), Old(1), Zero]);
        assert_eq!(sources(&Axis::last((2, 3), Fresh)), [Fresh, Old(0), Old(1)]);
        let heads = Axis::heads((2, 4), (2, 6), Zero);
        assert_eq!(sources(&heads), [Old(0), Old(1), Zero, Old(2), Old(3), Zero]);
        let both = Axis::plain((1, 2), Zero).then(Axis::plain((2, 2), Fresh));
        assert_eq!(sources(&both), [Old(0), Zero, Old(1), Old(2)]);
    }
}
