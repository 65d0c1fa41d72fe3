//! The safety check: what the opponent's forcing replies cost a candidate.
use shakmaty::{Chess, Move, Position as _, Square};

use super::choice::order;
use crate::{
    budget::Budget,
    exchange::{PAWN, balance, gained, gains, immediate_gain},
    insertion, legal,
    position::after,
    scene::Scene,
};

/// The most a candidate can drop, in points: also the price of being mated.
pub const MAX_DROP: i32 = 10 * PAWN;

/// What the worst forcing reply costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Drop {
    /// Points lost beyond what the exchanges counted, from 0 to [`MAX_DROP`].
    pub points: i32,
    /// The reply that costs them, if any does.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub reply: Option<Move>,
    /// Our best answer and the second blow, where that is what costs; only a second look sees it.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub then: Option<(Move, Move)>,
}

/// The worst of the opponent's forcing replies in `after`, the position a candidate leads to.
/// `kept` is the mover's balance there by exchanges alone, in points. The mover may answer with
/// any move, followed by exchanges.
///
/// Where the budget ends, what was found before stands.
pub fn drop(after: &Chess, kept: i32, budget: &Budget) -> Drop {
    let mut check = Check::new(after, kept - MAX_DROP, budget);
    let mut worst = Drop::default();
    // In an order of their own, so that of equal replies the same one is told everywhere.
    let mut replies = legal::moves(after);
    insertion::sort_by_key(&mut replies, |&mv| order(mv));
    for &reply in &replies {
        if worst.points == MAX_DROP || !budget.allows() {
            break;
        }
        let value = check.value_below(reply, kept - worst.points);
        // What a search in part says of a reply may be wrong.
        if let Some(value) = value.filter(|_| budget.left() > 0) {
            worst = Drop { points: kept - value, reply: Some(reply), then: None };
        }
    }
    worst
}

/// Answers that are remembered.
const STEADY: usize = 3;

/// A candidate under examination.
pub(super) struct Check<'a> {
    after: &'a Chess,
    scene: Scene,
    /// The mover's balance in it.
    even: i32,
    /// The balance below which nothing matters any more.
    floor: i32,
    /// Answers that held against earlier replies: they hold against most others, too.
    steady: [Option<Move>; STEADY],
    budget: &'a Budget,
}

impl<'a> Check<'a> {
    /// The position that a candidate leads to, and a balance below which nothing matters.
    pub fn new(after: &'a Chess, floor: i32, budget: &'a Budget) -> Check<'a> {
        let (scene, even) = (Scene::new(after), -balance(after));
        Check { after, scene, even, floor, steady: [None; STEADY], budget }
    }

    /// The balance that `reply` leaves us, if it is forcing and leaves less than `bound`; at least
    /// the floor.
    pub fn value_below(&mut self, reply: Move, bound: i32) -> Option<i32> {
        self.budget.take(1);
        let next = self.scene.after(reply);
        let even = self.even - immediate_gain(reply);
        // A reply that can be answered costs nothing, forcing or not, and this is cheaper to ask.
        let holds = |mv: Move| {
            next.after_if_legal(mv).is_some_and(|s| keeps(&s, even, mv, bound, self.budget))
        };
        if self.steady.into_iter().flatten().any(holds) || !is_forcing(reply, &next, self.budget) {
            return None;
        }
        let position = after(self.after, reply);
        let answers = Answers {
            position: &position,
            scene: &next,
            even,
            to: reply.to(),
            budget: self.budget,
        };
        match answers.value_below(bound, self.floor) {
            Outcome::Holds(mv) => {
                self.steady.rotate_right(1);
                self.steady[0] = Some(mv);
                None
            }
            Outcome::Even => None,
            Outcome::Costs(value) => Some(value),
        }
    }
}

/// Captures, promotions, checks, and threats: moves after which the opponent could win material
/// by an exchange if we passed.
pub(super) fn is_forcing(reply: Move, next: &Scene, budget: &Budget) -> bool {
    let is_threat = || gains(&next.passed(), PAWN, budget);
    reply.is_capture() || reply.is_promotion() || next.is_check() || is_threat()
}

/// Whether our balance after `mv`, which led from `even` to `scene`, is at least `points` once the
/// opponent's exchanges are played out.
pub(super) fn keeps(scene: &Scene, even: i32, mv: Move, points: i32, budget: &Budget) -> bool {
    let spare = even + immediate_gain(mv) - points;
    spare >= 0 && !gains(scene, spare + PAWN, budget)
}

/// Our balance where the game has ended, at least `floor`: mate costs everything, and a stalemate,
/// which is a draw, is as good as an even balance.
pub(super) fn value_without_answers(position: &Chess, floor: i32) -> i32 {
    if position.is_check() { floor } else { floor.max(0) }
}

/// Our answers to a reply.
struct Answers<'a> {
    position: &'a Chess,
    scene: &'a Scene,
    /// Our balance before answering.
    even: i32,
    /// Where the reply arrived.
    to: Square,
    budget: &'a Budget,
}

/// What a reply comes to.
enum Outcome {
    /// An answer holds the bound.
    Holds(Move),
    /// The game is drawn, which holds it.
    Even,
    /// The best answer keeps this balance.
    Costs(i32),
}

impl Answers<'_> {
    /// The best balance that an answer and the exchanges after it keep, unless it reaches `bound`;
    /// at least `floor`.
    #[inline(never)] // the list of answers must not stay on the caller's stack
    fn value_below(&self, bound: i32, floor: i32) -> Outcome {
        let answers = legal::moves(self.position);
        self.budget.take(answers.len() as u32);
        if answers.is_empty() {
            let value = value_without_answers(self.position, floor);
            return if value < bound { Outcome::Costs(value) } else { Outcome::Even };
        }
        // To take the piece that has moved is the likeliest answer.
        for likely in [true, false] {
            let mut some = answers.iter().filter(|mv| (mv.to() == self.to) == likely);
            if let Some(&mv) = some.find(|&&mv| self.keeps(mv, bound)) {
                return Outcome::Holds(mv);
            }
        }
        let better = |best: i32, &mv: &Move| {
            if self.keeps(mv, best + PAWN) {
                self.kept(mv, best + PAWN, bound - PAWN)
            } else {
                best
            }
        };
        Outcome::Costs(answers.iter().fold(floor, better))
    }

    /// Whether the answer and the exchanges after it keep a balance of at least `points`.
    fn keeps(&self, mv: Move, points: i32) -> bool {
        keeps(&self.scene.after(mv), self.even, mv, points, self.budget)
    }

    /// What the answer keeps, known to lie between `least` and `most`.
    fn kept(&self, mv: Move, least: i32, most: i32) -> i32 {
        let full = self.even + immediate_gain(mv);
        full - gained(&self.scene.after(mv), (full - most).max(0), full - least, self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{exchange::exchanges, position::parse_move};

    fn drop_of(fen: &str, uci: &str) -> Drop {
        let (position, mv) = parse_move(fen, uci);
        let after = after(&position, mv);
        drop(&after, -exchanges(&after), &Budget::unlimited())
    }

    #[test]
    fn a_knight_fork_costs_the_exchange() {
        // …Nc2+ hits the king on e1 and the rook on a1; from d1 the rook is out of reach.
        let fork = drop_of("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "h3h4");
        assert_eq!(fork.points, 500);
        assert_eq!(fork.reply.map(|mv| mv.to()), Some(shakmaty::Square::C2));
        assert_eq!(drop_of("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "a1d1").points, 0);
    }

    #[test]
    fn being_mated_costs_the_most() {
        let back_rank = "3r2k1/8/8/8/8/8/5PPP/6K1 w - - 0 1";
        assert_eq!(drop_of(back_rank, "g1h1").points, MAX_DROP);
        assert_eq!(drop_of(back_rank, "g2g3").points, 0);
    }
}
