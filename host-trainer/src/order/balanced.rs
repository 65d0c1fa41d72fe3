//! An order in which some kinds of examples come more often than there are of them.
use super::{Order, Permutation, Spans};

/// Places after which the kinds have had their exact shares.
const PERIOD: u64 = 4096;
/// The stream of the seed that mixes the kinds within a period; epochs have the others.
const STREAM: u64 = u64::MAX;

/// Which example is learned when.
#[derive(Debug, Clone)]
pub enum Schedule {
    /// Every example once an epoch.
    Plain(Order),
    /// By kinds: see [`Balanced`].
    Balanced(Balanced),
}

impl Schedule {
    /// The example at `place` (0 is the first ever taken).
    pub fn at(&mut self, place: u64) -> u32 {
        match self {
            Schedule::Plain(order) => order.at(place),
            Schedule::Balanced(balanced) => balanced.at(place),
        }
    }
}

/// Kinds of examples, each in an order of its own, of which each has its share of any 4,096
/// successive places from a multiple of that on. The place is all there is to remember, as with
/// [`Order`].
#[derive(Debug, Clone)]
pub struct Balanced {
    kinds: Vec<Order>,
    /// Kind and rank among the places of that kind, by the place in a period.
    pattern: Vec<(usize, u64)>,
    /// Places of each kind in a period.
    slots: Vec<u64>,
}

impl Balanced {
    /// Kinds of which each comes in proportion to the number of its examples to the power
    /// 1 − `power`: with power 0 as often as it is there, with 1 as often as every other. Those
    /// without examples never come; one at least must have some.
    pub fn new(kinds: Vec<Spans>, power: f64, seed: u64) -> Balanced {
        let kinds: Vec<Spans> = kinds.into_iter().filter(|kind| !kind.is_empty()).collect();
        let weight = |kind: &Spans| f64::from(kind.len()).powf(1.0 - power);
        let slots = apportion(&kinds.iter().map(weight).collect::<Vec<_>>());
        let mixed = Permutation::new(PERIOD, seed, STREAM);
        let mut pattern = vec![(0, 0); PERIOD as usize];
        let owners = slots.iter().enumerate().flat_map(|(kind, &n)| (0..n).map(move |_| kind));
        for (slot, kind) in (0..).zip(owners) {
            pattern[mixed.at(slot) as usize].0 = kind;
        }
        let mut had = vec![0; kinds.len()];
        for (kind, rank) in &mut pattern {
            *rank = had[*kind];
            had[*kind] += 1;
        }
        let kinds = kinds.into_iter().map(|numbers| Order::new(numbers, seed)).collect();
        Balanced { kinds, pattern, slots }
    }

    fn at(&mut self, place: u64) -> u32 {
        let (kind, rank) = self.pattern[(place % PERIOD) as usize];
        self.kinds[kind].at(place / PERIOD * self.slots[kind] + rank)
    }

    /// The share of the places that each kind with examples has.
    pub fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.slots.iter().map(|&slots| slots as f64 / PERIOD as f64)
    }
}

/// The places of a period in proportion to the weights, at least one for each: largest remainder.
fn apportion(weights: &[f64]) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let free = (PERIOD - weights.len() as u64) as f64;
    let exact: Vec<f64> = weights.iter().map(|weight| weight / total * free).collect();
    let mut slots: Vec<u64> = exact.iter().map(|&places| places as u64 + 1).collect();
    let mut by_rest: Vec<usize> = (0..weights.len()).collect();
    by_rest.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let left = (PERIOD - slots.iter().sum::<u64>()) as usize;
    by_rest.iter().cycle().take(left).for_each(|&kind| slots[kind] += 1);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<Spans> {
        vec![(0..900).collect(), Spans::default(), (900..1000).collect()]
    }

    fn of_the_small_kind(power: f64) -> f64 {
        let mut balanced = Balanced::new(kinds(), power, 5);
        let places = 3 * PERIOD;
        let small = (0..places).filter(|&place| balanced.at(place) >= 900).count();
        small as f64 / places as f64
    }

    #[test]
    fn kinds_have_their_shares() {
        assert!((of_the_small_kind(0.0) - 0.1).abs() < 1e-3);
        assert!((of_the_small_kind(0.5) - 0.25).abs() < 1e-3);
        assert!((of_the_small_kind(1.0) - 0.5).abs() < 1e-3);
        let shares: Vec<f64> = Balanced::new(kinds(), 1.0, 5).shares().collect();
        assert_eq!(shares, [0.5, 0.5]);
    }

    #[test]
    fn every_example_of_a_kind_comes_once_in_its_epoch_and_the_seed_decides() {
        let mut balanced = Balanced::new(kinds(), 1.0, 5);
        let small: Vec<u32> =
            (0..).map(|place| balanced.at(place)).filter(|&n| n >= 900).take(300).collect();
        for epoch in small.chunks(100) {
            let mut sorted = epoch.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (900..1000).collect::<Vec<_>>());
        }
        let first = |seed: u64| {
            let mut balanced = Balanced::new(kinds(), 1.0, seed);
            (0..500).map(|place| balanced.at(place)).collect::<Vec<_>>()
        };
        assert_eq!(first(5), first(5));
        assert_ne!(first(5), first(6));
        // A place can be asked for at any time: a run resumes.
        let late = balanced.at(10_000);
        balanced.at(3);
        assert_eq!(balanced.at(10_000), late);
    }
}
