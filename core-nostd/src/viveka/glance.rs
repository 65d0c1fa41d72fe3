//! One move under examination: the position before and after it, and the facts terms read.
use core::cell::OnceCell;

use shakmaty::{Chess, Color, Move, Position, Role, Square, uci::UciMove};

use super::{
    analysis::POSITIONS,
    explain::EXPLAINED,
    facts::{FULL_PHASE, Facts, phase},
    last_change::LastChange,
    positional::Survey,
};
use crate::{
    budget::Budget,
    exchange::{NODES, PAWN, balance, exchanges_within, gains, immediate_gain},
    exchange_line::settle_within,
    legal,
    moves::destination,
    once::get_or_make,
    position::after,
    scene::Scene,
};

/// The opponent's last move, as far as it is known without the position before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMove {
    /// Where it started.
    pub from: Square,
    /// Where it arrived; for castling the king's square.
    pub to: Square,
}

impl LastMove {
    /// The squares of a move in UCI notation; `None` for a null move or a drop.
    pub fn from_uci(uci: &UciMove) -> Option<LastMove> {
        match *uci {
            UciMove::Normal { from, to, .. } => Some(LastMove { from, to }),
            UciMove::Put { .. } | UciMove::Null => None,
        }
    }
}

/// The position before the move; made once for all its moves.
#[derive(Debug)]
pub struct Before<'a> {
    /// The position.
    pub position: &'a Chess,
    /// The opponent's last move, if known.
    pub last: Option<LastMove>,
    /// Facts from the mover's side.
    pub facts: Facts,
    /// Material of the mover minus the opponent's, in points.
    pub balance: i32,
    /// Game phase, 24 (middlegame) to 0 (endgame).
    pub phase: i32,
    last_change: OnceCell<LastChange>,
    reach: OnceCell<i32>,
    survey: OnceCell<Survey>,
    /// For the exchanges of the position itself.
    budget: Budget,
}

impl<'a> Before<'a> {
    /// Looks at `position`, which the opponent's move `last` led to.
    pub fn new(position: &'a Chess, last: Option<LastMove>) -> Before<'a> {
        Before {
            position,
            last,
            facts: Facts::new(position, position.turn()),
            balance: balance(position),
            phase: phase(position.board()),
            last_change: OnceCell::new(),
            reach: OnceCell::new(),
            survey: OnceCell::new(),
            budget: Budget::new(NODES),
        }
    }

    /// Whether its exchanges were looked at in part only.
    pub(super) fn fell_short(&self) -> bool {
        self.budget.fell_short()
    }

    /// What the opponent's last move changed; worked out when first asked for.
    pub fn last_change(&self) -> &LastChange {
        get_or_make(&self.last_change, || {
            self.last.map_or_else(LastChange::default, |last| {
                LastChange::new(self.position, last, &self.facts)
            })
        })
    }

    /// The balance that the mover reaches by exchanges at once, in points; worked out when first
    /// asked for.
    pub fn reach(&self) -> i32 {
        *get_or_make(&self.reach, || exchanges_within(self.position, &self.budget))
    }

    /// What the positional features read of the position; worked out when first asked for.
    pub fn survey(&self) -> &Survey {
        get_or_make(&self.survey, || Survey::new(self.position, &self.facts))
    }

    /// Whether more than half of the pieces are left, by phase.
    pub fn is_middlegame(&self) -> bool {
        2 * self.phase > FULL_PHASE
    }

    /// The side whose moves are judged.
    pub fn us(&self) -> Color {
        self.position.turn()
    }
}

/// What the opponent can do after a move.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replies {
    /// Legal replies.
    pub legal: i32,
    /// Replies that give mate.
    pub mates: i32,
}

/// What the opponent can do without losing material by exchanges.
#[derive(Debug, Clone, Copy, Default)]
pub struct SafeReplies {
    /// Safe replies.
    pub all: i32,
    /// Safe replies that give check.
    pub checks: i32,
}

/// A move with the position it leads to: all that terms read.
#[derive(Debug)]
pub struct Glance<'a> {
    /// The position before.
    pub before: &'a Before<'a>,
    /// The move.
    pub mv: Move,
    /// The moved piece, before any promotion.
    pub role: Role,
    /// Where it came from.
    pub from: Square,
    /// Where it landed (the king's square for castling).
    pub to: Square,
    /// The position after the move, the opponent to move.
    pub after: Chess,
    /// Facts after the move, from the mover's side.
    pub facts: Facts,
    x_q: OnceCell<i32>,
    mate_threat: OnceCell<bool>,
    replies: OnceCell<Replies>,
    safe_replies: OnceCell<SafeReplies>,
    settled: OnceCell<Survey>,
    /// Positions that may be looked at for all that is worked out.
    pub(super) budget: Budget,
}

impl<'a> Glance<'a> {
    /// Examines `mv`, a legal move of the position before.
    pub fn new(before: &'a Before<'a>, mv: Move) -> Glance<'a> {
        Glance::within(before, mv, Budget::new(POSITIONS))
    }

    /// [`Glance::new`] for the sentences of [`explain`](super::explain()), which work out anew what
    /// they name, looking at fewer positions.
    pub fn to_explain(before: &'a Before<'a>, mv: Move) -> Glance<'a> {
        Glance::within(before, mv, Budget::new(EXPLAINED))
    }

    /// [`Glance::new`] with a budget for all that is worked out.
    pub(super) fn within(before: &'a Before<'a>, mv: Move, budget: Budget) -> Glance<'a> {
        let after = after(before.position, mv);
        Glance {
            before,
            mv,
            role: mv.role(),
            from: mv.from().unwrap_or(mv.to()),
            to: destination(mv),
            facts: Facts::new(&after, before.us()),
            x_q: OnceCell::new(),
            mate_threat: OnceCell::new(),
            replies: OnceCell::new(),
            safe_replies: OnceCell::new(),
            settled: OnceCell::new(),
            after,
            budget,
        }
    }

    /// The full exchange outcome of the move, in points; worked out when first asked for.
    pub fn x_q(&self) -> i32 {
        *get_or_make(&self.x_q, || {
            -exchanges_within(&self.after, &self.budget) - self.before.balance
        })
    }

    /// Whether we would give mate if the opponent passed; worked out when first asked for.
    pub fn mate_threat(&self) -> bool {
        *get_or_make(&self.mate_threat, || {
            pass(&self.after).is_some_and(|passed| has_mate(&passed, &self.budget))
        })
    }

    /// What the positional features read after the move and the exchanges that follow; worked out
    /// when first asked for.
    pub fn settled(&self) -> &Survey {
        get_or_make(&self.settled, || {
            let value = -(self.before.balance + self.x_q());
            Survey::of(&settle_within(&self.after, value, &self.budget), self.before.us())
        })
    }

    /// The opponent's replies, counted when first asked for.
    pub fn replies(&self) -> &Replies {
        get_or_make(&self.replies, || replies(&self.after, &self.budget))
    }

    /// The opponent's safe replies, counted when first asked for: twenty times as dear.
    pub fn safe_replies(&self) -> &SafeReplies {
        get_or_make(&self.safe_replies, || safe_replies(&self.after, &self.budget))
    }

    /// Whether the opponent has a legal reply.
    pub fn has_reply(&self) -> bool {
        self.replies
            .get()
            .map_or_else(|| has_move(&self.after, &self.budget), |replies| replies.legal > 0)
    }

    /// Whether the moved piece could simply be taken where it landed.
    pub fn lands_loose(&self) -> bool {
        self.facts.our_loose.contains(self.to)
    }

    /// Whether the move gives check.
    pub fn gives_check(&self) -> bool {
        self.after.is_check()
    }

    /// The piece standing on the landing square after the move.
    pub fn landed_role(&self) -> Role {
        self.mv.promotion().unwrap_or(self.role)
    }
}

/// The position with the other side to move; `None` when the side to move is in check.
pub fn pass(position: &Chess) -> Option<Chess> {
    if position.is_check() { None } else { position.clone().swap_turn().ok() }
}

/// Whether the side to move can give mate at once.
#[inline(never)] // the list of moves must not stay on the caller's stack
pub(super) fn has_mate(position: &Chess, budget: &Budget) -> bool {
    if !budget.allows() {
        return false;
    }
    let scene = Scene::new(position);
    let moves = legal::moves(position);
    budget.take(moves.len() as u32);
    moves.iter().any(|&mv| scene.after(mv).is_check() && mates(position, mv, budget))
}

/// Whether each answer of the side to move lets the other give mate at once.
#[inline(never)] // the list of answers must not stay on the caller's stack
pub(super) fn every_answer_allows_mate(position: &Chess, budget: &Budget) -> bool {
    let answers = legal::moves(position);
    budget.take(answers.len() as u32);
    answers.iter().all(|&answer| has_mate(&after(position, answer), budget))
}

/// Whether `mv`, a check, is mate.
fn mates(position: &Chess, mv: Move, budget: &Budget) -> bool {
    !has_move(&after(position, mv), budget)
}

/// Whether the side to move has a legal move.
#[inline(never)] // the list of moves must not stay on the caller's stack
pub(super) fn has_move(position: &Chess, budget: &Budget) -> bool {
    let moves = legal::moves(position).len();
    budget.take(1 + moves as u32);
    moves > 0
}

/// Counts the replies of the side to move.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn replies(after: &Chess, budget: &Budget) -> Replies {
    let scene = Scene::new(after);
    let moves = legal::moves(after);
    let mate = |&&mv: &&Move| scene.after(mv).is_check() && mates(after, mv, budget);
    budget.take(moves.len() as u32);
    Replies { legal: moves.len() as i32, mates: moves.iter().filter(mate).count() as i32 }
}

/// Counts the replies after which the other side cannot push the mover's balance below what it is
/// now.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn safe_replies(after: &Chess, budget: &Budget) -> SafeReplies {
    let scene = Scene::new(after);
    let mut count = SafeReplies::default();
    let moves = legal::moves(after);
    budget.take(moves.len() as u32);
    for &mv in &moves {
        let next = scene.after(mv);
        if !gains(&next, PAWN + immediate_gain(mv), budget) {
            count.all += 1;
            count.checks += i32::from(next.is_check());
        }
    }
    count
}

/// A number of points in whole pawns, rounded to nearest.
pub fn pawns(points: i32) -> i32 {
    (2 * points + PAWN * points.signum()) / (2 * PAWN)
}
