//! Scan, score, check: what Viveka says of a position, one stage after the other.
//!
//! Each stage has a function of its own that is not inlined, so that what one needs does not stand
//! on the stack while the next is at work: a chessboard has 16 KB for all.
use heapless::Vec;
use shakmaty::{Chess, Move, Position as _};

use super::{
    check::{self, Drop},
    choice::{CANDIDATES, Values, Weights, entropy, order, scan_order, standings, value},
    double_check::{self, check_leaders},
    facts::phase,
    glance::{Before, Glance, LastMove},
    terms::TERM_COUNT,
};
use crate::{budget::Budget, insertion, legal, moves::MAX_LEGAL, position::after};

/// Positions that an analysis looks at, at most: in exchanges, and after replies, answers and
/// blows. Those from games need ten thousand in the median and seldom a hundred thousand; with a
/// dozen queens it would be millions, and a board must answer there, too. One costs a Cortex-M4
/// about a thousand instructions.
pub const POSITIONS: u32 = 300_000;
/// How many of them the scores leave for the checks,
const CHECKS: u32 = 70_000;
/// and the checks for the second looks.
const SECOND_LOOKS: u32 = 50_000;

/// A move that the scan kept, with everything that decides on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Candidate {
    /// The move.
    #[cfg_attr(feature = "defmt", defmt(Display2Format))]
    pub mv: Move,
    /// Its scan points.
    pub scan: i32,
    /// Its score V, in points.
    pub score: i32,
    /// The mover's balance after it by exchanges alone, in points.
    pub kept: i32,
    /// What the opponent's worst forcing reply costs.
    pub drop: Drop,
    /// Whether it was looked at twice, our answers being checked in their turn.
    pub twice: bool,
    /// `V − β·100·drop`, in points: the choice has the most.
    pub total: i32,
    /// The values of all terms.
    pub values: Values,
}

impl Candidate {
    /// A move of which nothing is known but its scan points.
    fn new(mv: Move, scan: i32) -> Self {
        let (drop, values) = (Drop::default(), [0; TERM_COUNT]);
        Candidate { mv, scan, score: 0, kept: 0, drop, twice: false, total: 0, values }
    }
}

/// What Viveka says of a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Analysis {
    /// The candidates, the choice first.
    #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
    pub candidates: Vec<Candidate, CANDIDATES>,
    /// Entropy of softmax(V/τ) over the legal moves, in thousandths of a nat; V of each move as in
    /// [`standings`].
    pub entropy: i32,
    /// Whether one move stands out, by the entropy.
    pub critical: bool,
    /// Positions that were looked at, at most [`POSITIONS`].
    pub searched: u32,
    /// Whether something was left out for lack of positions that may be looked at: an exchange
    /// search stopped early, or forcing replies were not looked at. Never so in positions like
    /// those of games.
    pub partial: bool,
}

/// A stage of the analysis, in the order in which they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Every legal move has its scan points, and the candidates are known.
    Scan,
    /// The candidates have the values of their terms, and their scores.
    Score,
    /// The candidates are checked against forcing replies.
    Check,
    /// The leading candidate has stood a second look.
    DoubleCheck,
    /// The choice is made and the entropy worked out.
    Choice,
}

/// Scans, scores and checks the moves of `position`, which the opponent's move `last` led to.
/// Without a legal move there are no candidates.
///
/// Equal moves are ordered by their squares, so that the answer is the same everywhere.
pub fn analyse(position: &Chess, last: Option<LastMove>, weights: &Weights) -> Analysis {
    let mut analysis = Analysis::default();
    analyse_into(&mut analysis, position, last, weights, &mut |_| ());
    analysis
}

/// [`analyse`] in place, for a stack that has no room to move the analysis about; `done` is called
/// at the end of each stage.
#[inline(never)]
pub fn analyse_into(
    analysis: &mut Analysis,
    position: &Chess,
    last: Option<LastMove>,
    weights: &Weights,
    done: &mut dyn FnMut(Stage),
) {
    analysis.candidates.clear();
    let budget = Budget::new(POSITIONS);
    let mut others = Vec::new();
    find(analysis, &mut others, &Before::new(position, last), weights, &budget, done);
    done(Stage::Score);
    let count = analysis.candidates.len() as u32;
    for (candidate, open) in analysis.candidates.iter_mut().zip((1..=count).rev()) {
        let part = budget.part(share(&budget, SECOND_LOOKS, open));
        check(position, candidate, check::drop, weights, &part);
        budget.put_back(&part);
    }
    done(Stage::Check);
    let check_twice = |candidate: &mut Candidate| {
        check(position, candidate, double_check::drop, weights, &budget);
        candidate.twice = true;
    };
    check_leaders(&mut analysis.candidates, rank, |c| c.twice, check_twice);
    done(Stage::DoubleCheck);
    insertion::sort_by_key(&mut analysis.candidates, rank);
    let temperature = weights.temperature_at(phase(position.board()));
    analysis.entropy = entropy_of(&analysis.candidates, &others, temperature);
    let moves = analysis.candidates.len() + others.len();
    analysis.critical = weights.is_critical(moves, analysis.entropy);
    analysis.searched = POSITIONS - budget.left();
    analysis.partial = budget.fell_short();
    done(Stage::Choice);
}

/// Scores and checks legal moves of a position, candidates or not, and hands each to `done`: what
/// [`analyse`] says of its candidates, but for the second look. They look at so many positions at
/// most, all together.
pub fn examine(
    before: &Before,
    moves: &[Move],
    weights: &Weights,
    positions: u32,
    done: &mut dyn FnMut(&Candidate),
) {
    let budget = Budget::new(positions);
    let count = moves.len() as u32;
    for (&mv, open) in moves.iter().zip((1..=count).rev()) {
        let mut candidate = Candidate::new(mv, 0);
        // One half for the score, one for the check; what one leaves the next may use.
        let own = budget.part(share(&budget, 0, open));
        score(before, &mut candidate, weights, &own, own.part(own.left() / 2));
        check(before.position, &mut candidate, check::drop, weights, &own);
        budget.put_back(&own);
        done(&candidate);
    }
}

/// The order of the candidates, the choice first.
fn rank(candidate: &Candidate) -> impl Ord + use<> {
    (-candidate.total, -candidate.score, order(candidate.mv))
}

/// Finds and scores the candidates, and the scan points of the other moves.
#[inline(never)]
fn find(
    analysis: &mut Analysis,
    others: &mut Others,
    before: &Before,
    weights: &Weights,
    budget: &Budget,
    done: &mut dyn FnMut(Stage),
) {
    let found = scan(before, others, weights);
    done(Stage::Scan);
    for (scan, mv) in found {
        // As many as fit, since the scan's list is as long.
        let _ = analysis.candidates.push(Candidate::new(mv, scan));
    }
    let count = analysis.candidates.len() as u32;
    for (candidate, open) in analysis.candidates.iter_mut().zip((1..=count).rev()) {
        let part = budget.part(share(budget, CHECKS + SECOND_LOOKS, open));
        score(before, candidate, weights, budget, part);
    }
    if before.fell_short() {
        budget.fall_short();
    }
}

/// Positions that one of `open` candidates may look at, when so many stay for later: up to twice
/// an equal part, so that a dear one need not stop short beside cheap ones, and yet none is left
/// without.
fn share(budget: &Budget, later: u32, open: u32) -> u32 {
    2 * budget.left().saturating_sub(later) / open.saturating_add(1)
}

/// Points and moves, the most points first.
type Found = Vec<(i32, Move), CANDIDATES>;
/// Scan points of the moves that are no candidates. Reachable positions have at most
/// [`MAX_LEGAL`] moves; a few more would only be missing.
type Others = Vec<i16, MAX_LEGAL>;

/// Gives every legal move its scan points and keeps the best.
#[inline(never)]
fn scan(before: &Before, others: &mut Others, weights: &Weights) -> Found {
    let mut found = Vec::new();
    for &mv in &legal::moves(before.position) {
        let glance = Glance::new(before, mv);
        keep(&mut found, others, weights.scan_of(&glance), mv);
    }
    found
}

/// Puts a move where it belongs.
fn keep(found: &mut Found, others: &mut Others, points: i32, mv: Move) {
    let key = |&(points, mv): &(i32, Move)| scan_order(points, mv);
    let place = found.iter().take_while(|other| key(other) < scan_order(points, mv)).count();
    if place == CANDIDATES {
        let _ = others.push(points as i16);
        return;
    }
    if found.is_full()
        && let Some((evicted, _)) = found.pop()
    {
        let _ = others.push(evicted as i16);
    }
    // The list has room.
    let _ = found.push((points, mv));
    if let Some(later) = found.get_mut(place..) {
        insertion::last_to_front(later);
    }
}

/// Works out the terms that have a weight.
#[inline(never)]
fn score(
    before: &Before,
    candidate: &mut Candidate,
    weights: &Weights,
    budget: &Budget,
    part: Budget,
) {
    let glance = Glance::within(before, candidate.mv, part);
    for (i, (row, place)) in weights.rows.iter().zip(&mut candidate.values).enumerate() {
        if !row.score.is_zero() {
            *place = value(i, &glance);
        }
    }
    candidate.score = weights.score(&candidate.values, before.phase);
    candidate.kept = before.balance + glance.x_q();
    budget.put_back(&glance.budget);
}

/// Finds the worst forcing reply by `look`.
#[inline(never)]
fn check(
    position: &Chess,
    candidate: &mut Candidate,
    look: fn(&Chess, i32, &Budget) -> Drop,
    weights: &Weights,
    budget: &Budget,
) {
    let drop = look(&after(position, candidate.mv), candidate.kept, budget);
    // A second look that is cut short may find less than the first.
    if drop.points >= candidate.drop.points {
        candidate.drop = drop;
    }
    candidate.total = candidate.score - weights.penalty(candidate.drop);
}

#[inline(never)]
fn entropy_of(candidates: &[Candidate], others: &[i16], temperature: i32) -> i32 {
    let candidates = candidates.iter().map(|c| (c.scan, c.total));
    entropy(&standings(candidates, others), temperature)
}
