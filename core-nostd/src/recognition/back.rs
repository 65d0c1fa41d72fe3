//! Moves that are taken back, or made anew.
use shakmaty::{Bitboard, Chess, Move, Position as _};

use super::{
    journey::{Journey, all_squares},
    lines::View,
};
use crate::game::{Game, Maker};

/// Moves taken back.
#[derive(Debug, Clone, Copy)]
pub(super) struct TakenBack {
    /// How many.
    pub plies: usize,
    /// Squares that were touched and are as before.
    idle: usize,
    /// Squares of the way back that nobody touched.
    unfelt: usize,
}

impl TakenBack {
    /// Whether it accounts for more of what was touched than a line of moves that ends alike and
    /// leaves so many squares unexplained. Of two that leave as many, men that went to and fro
    /// tell.
    pub(super) const fn explains_more_than(&self, idle: usize) -> bool {
        self.idle + self.unfelt < idle || self.idle == idle && idle > 0 && self.unfelt == 0
    }
}

impl View<'_> {
    /// The moves that were taken back, the fewest that explain the board.
    pub(super) fn taken_back(&self, game: &Game) -> Option<TakenBack> {
        let mut color = !game.position().turn();
        let mut journey = Journey::none(game.position().board().occupied());
        let mut way = Bitboard::EMPTY;
        for (plies, (mv, _)) in (1..).zip(game.moves().rev()) {
            journey.take_back(mv, color);
            way |= all_squares(mv, color);
            if journey.fits(self.hands, None) {
                let idle = self.idle(&journey, game.position());
                let unfelt = (way & !self.hands.touched()).count();
                return Some(TakenBack { plies, idle, unfelt });
            }
            color = !color;
        }
        None
    }

    /// Whether moves may be on their way back: all but a man in the air stand as after some.
    pub(super) fn is_going_back(&self, game: &Game) -> bool {
        let mut color = !game.position().turn();
        let mut journey = Journey::none(game.position().board().occupied());
        let seen = self.hands.occupied();
        game.moves().rev().any(|(mv, _)| {
            journey.take_back(mv, color);
            color = !color;
            let is_near = seen.is_subset(journey.occupied())
                && (journey.occupied() & !seen).single_square().is_some();
            is_near && journey.suits(self.hands, None)
        })
    }

    /// How many squares were touched that a journey from `position` leaves as they were.
    fn idle(&self, journey: &Journey, position: &Chess) -> usize {
        (self.hands.touched() & !journey.changed(position.board().occupied())).count()
    }

    /// The same for moves, each side's in its turn.
    pub(super) fn idle_after(&self, moves: &[Move], position: &Chess) -> usize {
        let mut journey = Journey::none(position.board().occupied());
        let mut color = position.turn();
        for &mv in moves {
            journey.play(mv, color);
            color = !color;
        }
        self.idle(&journey, position)
    }

    /// Another move in place of the last one, which a player made by hand: a man that went on.
    pub(super) fn amended(&self, game: &Game) -> Option<Move> {
        let (last, maker) = game.moves().next_back()?;
        let color = !game.position().turn();
        // Its own squares need not be touched again: a king may follow its rook late.
        if maker != Maker::Hand {
            return None;
        }
        let mut journey = Journey::none(game.position().board().occupied());
        journey.take_back(last, color);
        let fits = self.untold().fits(game.previous(), &journey);
        match fits.sure[..] {
            [mv] if mv != last && mv.promotion().is_none() => Some(mv),
            _ => None,
        }
    }

    /// What is left to do where the last move is being taken back and its man is home: a victim
    /// to be put back, a rook.
    pub(super) fn being_taken_back(&self, game: &Game) -> Option<(Bitboard, Bitboard)> {
        let (last, _) = game.moves().next_back()?;
        let mut journey = Journey::none(game.position().board().occupied());
        journey.take_back(last, !game.position().turn());
        let (seen, before) = (self.hands.occupied(), journey.occupied());
        let from = last.from()?;
        let is_home = seen.contains(from) && self.hands.touched().contains(from);
        let rest = (seen & !before, before & !seen);
        let is_near = matches!(rest.0.count() + rest.1.count(), 1..=2);
        (is_home && is_near && journey.suits(self.hands, None)).then_some(rest)
    }
}
