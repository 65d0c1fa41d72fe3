//! What the check found, as a sentence: "after …Qxb2 the rook on a1 cannot be saved".
use core::fmt;

use shakmaty::{Bitboard, Chess, Move, Position as _, Role};

use super::{
    EXPLAINED,
    ledger::{Entry, Ledger, Line, write_entries},
    names::write_pieces,
    notation::{notation, write_line},
};
use crate::{
    budget::Budget,
    exchange::{PAWN, balance, exchanges_within, piece_points, reaches_within},
    exchange_line::play_out_within,
    legal,
    moves::destination,
    position,
    viveka::{check::Drop, choice::order, facts::Facts, glance::every_answer_allows_mate},
};

/// What the worst forcing reply to a candidate does.
#[derive(Debug)]
pub struct Warning {
    /// The position after the candidate.
    after: Chess,
    /// The reply.
    reply: Move,
    /// The reply, at a second look our answer and the next blow, then our best answer, and the
    /// exchanges that follow.
    line: Line,
    /// What it costs.
    cost: Cost,
}

/// What a reply costs.
#[derive(Debug)]
enum Cost {
    Mate,
    /// Mate along the line told; other answers may lose as much in material, in points.
    MateOrPoints(i32),
    Stalemate,
    /// What the line of captures shows.
    Material,
    /// Points that no line of captures shows.
    Points(i32),
}

impl Warning {
    /// Looks at what the check found against `mv`, a legal move of `position`; `None` where it
    /// found nothing.
    pub fn new(position: &Chess, mv: Move, drop: Drop) -> Option<Warning> {
        let reply = drop.reply?;
        let budget = Budget::new(EXPLAINED);
        let after = position::after(position, mv);
        let mut end = position::after(&after, reply);
        let mut line = Line::new();
        let _ = line.push(reply);
        for mv in drop.then.into_iter().flat_map(|(answer, blow)| [answer, blow]) {
            end = position::after(&end, mv);
            let _ = line.push(mv);
        }
        let cost = match best_answer(&end, &budget) {
            None if end.is_check() => {
                let next = position::after(&after, reply);
                let forced = line.len() == 1 || every_answer_allows_mate(&next, &budget);
                if forced { Cost::Mate } else { Cost::MateOrPoints(drop.points) }
            }
            None => Cost::Stalemate,
            Some((answer, value)) => {
                end = position::after(&end, answer);
                let _ = line.push(answer);
                play_out_within(&mut end, -value, &budget, |mv| {
                    let _ = line.push(mv);
                });
                let ledger = Ledger::new(&line, 0);
                let told = ledger.gain() == -value - balance(&after) && falls(&ledger).count() > 0;
                // A search in part may have missed the best answer.
                if told && !budget.fell_short() {
                    Cost::Material
                } else {
                    Cost::Points(drop.points)
                }
            }
        };
        Some(Warning { after, reply, line, cost })
    }

    /// Our pieces that the reply forks, if it does: those that the piece which moved attacks and
    /// that are dearer than it or loose.
    fn forked(&self) -> Bitboard {
        let next = position::after(&self.after, self.reply);
        let (us, to) = (next.turn(), destination(self.reply));
        let board = next.board();
        let own = board.role_at(to).map_or(0, piece_points);
        let loose = Facts::new(&next, us).our_loose;
        let hit = board.attacks_from(to) & board.by_color(us);
        let worth = |square| {
            let role = board.role_at(square);
            loose.contains(square)
                || role.is_some_and(|role| role == Role::King || piece_points(role) > own)
        };
        let hit: Bitboard = hit.into_iter().filter(|&square| worth(square)).collect();
        if hit.more_than_one() { hit } else { Bitboard::EMPTY }
    }

    fn write_material(&self, f: &mut fmt::Formatter<'_>, ledger: &Ledger) -> fmt::Result {
        let reply = notation(&self.after, self.reply);
        let later = || falls(ledger).filter(|entry| entry.ply > 0);
        if later().next().is_none() {
            let promotes = falls(ledger).any(Entry::is_promotion);
            write!(f, "{reply} {} ", if promotes { "makes" } else { "wins" })?;
            write_entries(f, falls(ledger))?;
        } else {
            let forked = self.forked();
            if later().any(|entry| forked.contains(entry.square)) {
                write!(f, "{reply} forks ")?;
                write_pieces(f, self.after.board(), forked)?;
                f.write_str(": ")?;
            } else {
                write!(f, "after {reply} ")?;
            }
            write_entries(f, later())?;
            let promotes = later().all(Entry::is_promotion);
            f.write_str(if promotes { " cannot be stopped" } else { " cannot be saved" })?;
        }
        if ledger.gains(false).next().is_some() {
            f.write_str(", for ")?;
            write_entries(f, ledger.gains(false))?;
        }
        self.write_rest(f)
    }

    /// The moves after the reply, if there are any.
    fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [_, rest @ ..] = self.line.as_slice()
            && !rest.is_empty()
        {
            f.write_str(" (")?;
            let next = position::after(&self.after, self.reply);
            write_line(f, &next, rest)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// What the opponent gains along the line of a reply.
fn falls(ledger: &Ledger) -> impl Iterator<Item = &Entry> + Clone {
    ledger.gains(true)
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reply = notation(&self.after, self.reply);
        match &self.cost {
            Cost::Mate if self.line.len() > 1 => {
                write!(f, "after {reply} there is mate")?;
                self.write_rest(f)
            }
            Cost::Mate => write!(f, "{reply} is mate"),
            Cost::Stalemate => write!(f, "{reply} is stalemate"),
            Cost::Material => self.write_material(f, &Ledger::new(&self.line, 0)),
            Cost::MateOrPoints(points) => {
                write!(f, "after {reply} there is mate or {} are lost", pawns(*points))?;
                self.write_rest(f)
            }
            Cost::Points(points) => {
                write!(f, "after {reply} {} are lost", pawns(*points))?;
                self.write_rest(f)
            }
        }
    }
}

/// A number of points as pawns: "2.5 pawns".
fn pawns(points: i32) -> impl fmt::Display {
    let (whole, tenths) = (points / PAWN, points % PAWN / (PAWN / 10));
    fmt::from_fn(move |f| write!(f, "{whole}.{tenths} pawns"))
}

/// The answer that keeps the best balance once the exchanges are played out, and that balance;
/// of equal ones the first by its squares. `None` without a legal move.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn best_answer(position: &Chess, budget: &Budget) -> Option<(Move, i32)> {
    let mut best: Option<(Move, i32)> = None;
    for &mv in &legal::moves(position) {
        let next = position::after(position, mv);
        // The opponent can push us below what another answer keeps.
        if best.is_some_and(|(_, value)| reaches_within(&next, 1 - value, budget)) {
            continue;
        }
        let value = -exchanges_within(&next, budget);
        let comes_first = |other| order(mv) < order(other);
        if best.is_none_or(|(other, most)| value > most || value == most && comes_first(other)) {
            best = Some((mv, value));
        }
    }
    best
}
