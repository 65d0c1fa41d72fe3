//! The second look at the candidate that leads: its answers to forcing replies are checked in
//! their turn, so that a blow that only the next one completes is seen.
use shakmaty::{Chess, Move, Square};

use super::{
    check::{self, Check, Drop, MAX_DROP, is_forcing, keeps, value_without_answers},
    choice::order,
};
use crate::{
    budget::Budget,
    exchange::{PAWN, balance, exchanges_within},
    insertion, legal, position,
    scene::Scene,
};

/// Takes a second look at whoever leads, until the leader has stood it. A second look never
/// betters a candidate, so the choice is the same as if all had been looked at twice. `key` puts
/// the leader first.
pub fn check_leaders<T, K: Ord>(
    candidates: &mut [T],
    key: impl Fn(&T) -> K,
    is_checked: impl Fn(&T) -> bool,
    mut check: impl FnMut(&mut T),
) {
    while let Some(leader) = candidates.iter_mut().min_by_key(|candidate| key(candidate))
        && !is_checked(leader)
    {
        check(leader);
    }
}

/// The worst of the opponent's forcing replies in `after`, as [`check::drop`] has it, but what an
/// answer keeps is less by what the worst forcing reply to it costs.
///
/// Where the budget ends, what was found before stands.
pub fn drop(after: &Chess, kept: i32, budget: &Budget) -> Drop {
    let mut worst = Drop::default();
    let mut from = 0;
    // The list is made again each time: it must not stay on the stack meanwhile.
    while worst.points < MAX_DROP
        && let Some((place, reply)) = next_forcing(after, from, budget)
    {
        from = place + 1;
        let next = position::after(after, reply);
        let answers = Answers::new(&next, reply.to(), budget);
        let value = answers.value_below(kept - worst.points, kept - MAX_DROP);
        // What a search in part says of a reply may be wrong.
        if let Some((value, then)) = value.filter(|_| budget.left() > 0) {
            worst = Drop { points: kept - value, reply: Some(reply), then };
        }
    }
    worst
}

/// The next forcing reply, from a place in the order of moves on, with its place.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn next_forcing(after: &Chess, from: usize, budget: &Budget) -> Option<(usize, Move)> {
    if !budget.allows() {
        return None;
    }
    let scene = Scene::new(after);
    let mut replies = legal::moves(after);
    budget.take(replies.len() as u32);
    insertion::sort_by_key(&mut replies, |&mv| order(mv));
    let rest = replies.iter().copied().enumerate().skip(from);
    rest.into_iter().find(|&(_, mv)| is_forcing(mv, &scene.after(mv), budget))
}

/// Our answers to a reply.
struct Answers<'a> {
    position: &'a Chess,
    scene: Scene,
    /// Our balance before answering.
    even: i32,
    /// Where the reply arrived.
    to: Square,
    budget: &'a Budget,
}

impl<'a> Answers<'a> {
    fn new(position: &'a Chess, to: Square, budget: &'a Budget) -> Answers<'a> {
        Answers { position, scene: Scene::new(position), even: balance(position), to, budget }
    }

    /// The best balance that an answer keeps, if it is less than `bound`, at least `floor`; with
    /// the answer and the second blow if that is what costs.
    fn value_below(&self, bound: i32, floor: i32) -> Option<(i32, Option<(Move, Move)>)> {
        if no_moves(self.position) {
            let value = value_without_answers(self.position, floor);
            return (value < bound).then_some((value, None));
        }
        let mut from = 0;
        while let Some((place, mv)) = self.next_that_keeps(bound, from) {
            if withstands(&self.after(mv), bound, self.budget) {
                return None;
            }
            from = place + 1;
        }
        Some(self.best(floor))
    }

    /// The best answer's balance, none of them reaching any bound that matters.
    fn best(&self, floor: i32) -> (i32, Option<(Move, Move)>) {
        // From just below the floor, so that an answer that falls to it is told, too.
        let (mut best, mut then, mut from) = (floor - PAWN, None, 0);
        while let Some((place, mv)) = self.next_that_keeps(best + PAWN, from) {
            let after = self.after(mv);
            let kept = -exchanges_within(&after, self.budget);
            let drop = check::drop(&after, kept, self.budget);
            let value = (kept - drop.points).max(floor);
            if value > best {
                best = value;
                then = drop.reply.map(|blow| (mv, blow));
            }
            from = place + 1;
        }
        (best.max(floor), then)
    }

    fn after(&self, mv: Move) -> Chess {
        position::after(self.position, mv)
    }

    /// The next answer, from a place on, that keeps a balance of at least `points` by exchanges.
    /// To take the piece that has moved is the likeliest and comes first.
    #[inline(never)]
    fn next_that_keeps(&self, points: i32, from: usize) -> Option<(usize, Move)> {
        if !self.budget.allows() {
            return None;
        }
        let mut answers = legal::moves(self.position);
        self.budget.take(answers.len() as u32);
        insertion::sort_by_key(&mut answers, |&mv| (mv.to() != self.to, order(mv)));
        let rest = answers.iter().copied().enumerate().skip(from);
        let keeps = |mv| keeps(&self.scene.after(mv), self.even, mv, points, self.budget);
        rest.into_iter().find(|&(_, mv)| keeps(mv))
    }
}

#[inline(never)]
fn no_moves(position: &Chess) -> bool {
    legal::moves(position).is_empty()
}

/// Whether no forcing reply in `after` leaves us less than `bound`.
#[inline(never)]
fn withstands(after: &Chess, bound: i32, budget: &Budget) -> bool {
    let mut check = Check::new(after, bound - PAWN, budget);
    budget.allows()
        && !legal::moves(after).iter().any(|&reply| check.value_below(reply, bound).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::parse_move;

    fn drops_of(fen: &str, uci: &str) -> (Drop, Drop) {
        let (position, mv) = parse_move(fen, uci);
        let after = position::after(&position, mv);
        let budget = Budget::unlimited();
        let kept = -exchanges_within(&after, &budget);
        (check::drop(&after, kept, &budget), drop(&after, kept, &budget))
    }

    #[test]
    fn two_rooks_mate_step_by_step() {
        // …Rb2+ drives the king to the first rank, where …Ra1 mates.
        let (once, twice) = drops_of("4k3/8/8/8/1r6/r7/P7/7K w - - 0 1", "h1h2");
        assert!(once.points < MAX_DROP, "{once:?}");
        assert_eq!(twice.points, MAX_DROP);
        assert!(twice.then.is_some(), "the answer and the mate are told");
    }

    #[test]
    fn what_one_look_sees_two_looks_see() {
        let fork = "4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1";
        let (once, twice) = drops_of(fork, "h3h4");
        assert_eq!((once.points, twice.points), (500, 500));
        assert_eq!(once.reply, twice.reply);
    }

    #[test]
    fn the_leader_is_looked_at_until_it_stays_ahead() {
        // Points before and after a second look.
        let mut list = [(90, 20, false), (70, 60, false), (50, 50, false)];
        check_leaders(&mut list, |c| -c.0, |c| c.2, |c| (c.0, c.2) = (c.1, true));
        assert_eq!(list, [(20, 20, true), (60, 60, true), (50, 50, false)]);
    }
}
