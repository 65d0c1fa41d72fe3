//! What is known of a turn.
use heapless::Deque;
use shakmaty::{Bitboard, Move, Square};

use crate::coach::{Blunder, GradedMoves};

/// Turns whose hints are remembered.
const TURNS: usize = 16;

/// What is known of the turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Thoughts {
    /// The digest of the position that the coach thought about.
    pub known: Option<u32>,
    /// The man that was lifted, and when.
    pub touched: Option<(Square, u32)>,
    /// Its moves.
    pub graded: Option<GradedMoves>,
    /// Men whose moves were graded this turn.
    pub hinted: Bitboard,
    /// Hints given, by the turn: taking moves back brings none of them back.
    pub hints: Deque<(u32, u8), TURNS>,
    /// The best move, asked for.
    pub hint: Option<Move>,
    /// A move that is still to be looked at for what it gives away.
    pub to_review: Option<Move>,
    /// What the last move gave away.
    pub blunder: Option<Blunder>,
    /// Until when Viveka waits with its move.
    pub hold_until: Option<u32>,
    /// When something was asked.
    pub asked_at: Option<u32>,
    /// Whether a question that need not be answered is shown.
    pub is_question_shown: bool,
    /// The app offers a draw.
    pub is_draw_offered: bool,
}

impl Thoughts {
    /// The man that was lifted.
    pub fn touched(&self) -> Option<Square> {
        self.touched.map(|(square, _)| square)
    }

    /// Counts a hint of this turn.
    pub fn count_hint(&mut self, turn: u32) {
        if let Some((_, hints)) = self.hints.iter_mut().find(|(other, _)| *other == turn) {
            *hints = hints.saturating_add(1);
            return;
        }
        if self.hints.is_full() {
            self.hints.pop_front();
        }
        // There is room now.
        let _ = self.hints.push_back((turn, 1));
    }
}
