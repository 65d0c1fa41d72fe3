//! A part of the work, for one of several machines.
use std::{fmt, ops::Range, str::FromStr};

/// Part `number` (from 1) of `of`: `1/1` is the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard { number: 1, of: 1 }
    }
}

impl Shard {
    /// Whether it holds an item with this hash: each shard has an equal stretch of all hashes, in
    /// the shards' order.
    pub fn holds(self, hash: u64) -> bool {
        let shard = (u128::from(hash) * u128::from(self.of)) >> 64;
        shard == u128::from(self.number - 1)
    }

    /// Its items of `count`, numbered from 0: a stretch, in the shards' order.
    pub fn items(self, count: u64) -> Range<u64> {
        let start =
            |number: u32| (u128::from(count) * u128::from(number) / u128::from(self.of)) as u64;
        start(self.number - 1)..start(self.number)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parse = || {
            let (number, of) = text.split_once('/')?;
            Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
        };
        let within = |shard: &Shard| (1..=shard.of).contains(&shard.number);
        parse().filter(within).ok_or_else(|| "give I/N, from 1/N to N/N, as in 3/8".into())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |number| Shard { number, of })
    }

    #[test]
    fn every_item_is_in_one_shard_and_their_order_is_that_of_the_whole() {
        for of in [1, 2, 3, 7, 64] {
            for count in [0, 1, 5, 100, 12_345] {
                let all: Vec<u64> = shards(of).flat_map(|shard| shard.items(count)).collect();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
            }
            let mut last = 0;
            for hash in (0..1000).map(|i| i * (u64::MAX / 999)) {
                let holding: Vec<usize> =
                    shards(of).enumerate().filter(|(_, s)| s.holds(hash)).map(|(i, _)| i).collect();
                assert_eq!(holding.len(), 1);
                assert!(holding[0] >= last);
                last = holding[0];
            }
            assert_eq!(last as u32, of - 1);
        }
    }

    #[test]
    fn shards_are_numbered_from_one() {
        assert_eq!("3/8".parse(), Ok(Shard { number: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "a/b", "1/0", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
