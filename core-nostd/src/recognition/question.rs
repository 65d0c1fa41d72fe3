//! What the contacts alone cannot tell, and how a player answers.
use heapless::Vec;
use shakmaty::{Bitboard, Color, Move, Role, Square};

/// Answers that a question can have: no man has more captures at once.
pub const ANSWERS: usize = 8;

/// An answer, and the square to press for it: its man is lifted and put back, or one is put down on
/// it and taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The square to press.
    pub square: Square,
    /// The move that is meant.
    pub mv: Move,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Asked {
    /// What the pawn is promoted to. The squares lie on its file, queen, rook, bishop, knight from
    /// the second rank before the last on.
    Promotion,
    /// Which man was taken.
    Capture,
    /// The same where nothing was felt on the victim's square: it may have been replaced between
    /// two looks at the board, or the man is in the air. Whoever holds it need not answer.
    Replaced,
    /// Whether castling goes on with the king, or the rook's move was all. After a while it was.
    Castling,
}

/// A question, with its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub asked: Asked,
    /// The answers.
    pub answers: Vec<Answer, ANSWERS>,
}

impl Question {
    /// Asks which capture it was.
    pub(super) fn capture(asked: Asked, moves: &[Move]) -> Self {
        let answers = moves.iter().map(|&mv| Answer { square: mv.to(), mv }).take(ANSWERS);
        Self { asked, answers: answers.collect() }
    }

    /// Asks what becomes of a pawn.
    pub(super) fn promotion(mv: Move, color: Color) -> Self {
        let step = color.fold_wb(-8, 8);
        let mut answers = Vec::new();
        for (place, role) in (1..).zip([Role::Queen, Role::Rook, Role::Bishop, Role::Knight]) {
            if let (Some(square), Move::Normal { role: pawn, from, capture, to, .. }) =
                (mv.to().offset(place * step), mv)
            {
                let promotion = Some(role);
                let mv = Move::Normal { role: pawn, from, capture, to, promotion };
                // There is room for four.
                let _ = answers.push(Answer { square, mv });
            }
        }
        Self { asked: Asked::Promotion, answers }
    }

    /// Asks whether a rook's move is part of castling.
    pub(super) fn castling(rook: Move, castle: Move) -> Self {
        let answers = [rook, castle].into_iter().map(|mv| Answer { square: mv.to(), mv });
        Self { asked: Asked::Castling, answers: answers.collect() }
    }

    /// The squares to press.
    pub fn squares(&self) -> Bitboard {
        self.answers.iter().fold(Bitboard::EMPTY, |all, answer| all.with(answer.square))
    }

    /// The move that is meant by pressing these squares: one must be an answer's, and no other.
    pub(super) fn answer(&self, pressed: Bitboard) -> Option<Move> {
        let mut named = self.answers.iter().filter(|answer| pressed.contains(answer.square));
        let answer = named.next()?;
        named.next().is_none().then_some(answer.mv)
    }
}
