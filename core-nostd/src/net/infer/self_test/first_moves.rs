//! An inference without the rules: the initial position and its twenty moves.
use shakmaty::{Color, File, Move, Rank, Role, Square};

use crate::{
    fnv,
    inputs::{AUX, Frame, Inputs, SQUARES},
    moves::MoveIndex,
    net::{Model, ModelError},
};

/// Legal moves of the initial position.
pub const FIRST_MOVES: usize = 20;

/// Tokens of the first rank's pieces.
const FIRST_RANK: [u8; 8] = [4, 2, 3, 5, 6, 3, 2, 4];
const PAWN: u8 = 1;
/// What is added for Black.
const BLACK: u8 = 6;
/// White is to move, everybody may castle, nobody may take in passing.
const SCALARS: [i8; AUX] = [1, 1, 1, 1, 1, -7, 0];

/// What the network reads of the initial position.
fn inputs() -> Inputs {
    let mut tokens = [0; SQUARES];
    for (square, token) in tokens.iter_mut().enumerate() {
        let piece = FIRST_RANK.get(square % 8).copied().unwrap_or(0);
        *token = match square / 8 {
            0 => piece,
            1 => PAWN,
            6 => PAWN + BLACK,
            7 => piece + BLACK,
            _ => 0,
        };
    }
    Inputs { tokens, aux: SCALARS }
}

/// The indices of its moves: each pawn's two, each knight's two.
fn moves() -> [MoveIndex; FIRST_MOVES] {
    use Square::{A3, B1, C3, F3, G1, H3};

    let knights = [(G1, F3), (B1, A3), (G1, H3), (B1, C3)];
    core::array::from_fn(|number| {
        let (role, from, to) = match number.checked_sub(16).and_then(|knight| knights.get(knight)) {
            Some(&(from, to)) => (Role::Knight, from, to),
            None => {
                let square = |rank| Square::from_coords(File::ALL[number % 8], rank);
                let to = if number < 8 { Rank::Third } else { Rank::Fourth };
                (Role::Pawn, square(Rank::Second), square(to))
            }
        };
        let mv = Move::Normal { role, from, capture: None, to, promotion: None };
        MoveIndex::new(mv, Frame::new(Default::default(), Color::White))
    })
}

/// Scores the moves of the initial position, and returns a digest of the logits and the value: the
/// same on every chip.
///
/// # Errors
/// As for [`Model::score`].
pub fn score_first_moves(
    model: &Model<'_>,
    logits: &mut [i32; FIRST_MOVES],
    scratch: &mut [u8],
) -> Result<u64, ModelError> {
    let value = model.score(&inputs(), &moves(), logits, scratch)?;
    let start = fnv::step(fnv::START, u64::from(value.cast_unsigned()));
    Ok(logits.iter().fold(start, |digest, logit| fnv::step(digest, logit.cast_unsigned().into())))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{inputs::Perspective, legal};
    use shakmaty::Chess;
    use std::vec::Vec;

    #[test]
    fn they_are_the_initial_positions() {
        let position = Chess::default();
        assert_eq!(inputs(), Inputs::new(&position, Perspective::Absolute));
        let frame = Frame::new(Perspective::Absolute, Color::White);
        let sorted = |mut all: Vec<MoveIndex>| {
            all.sort();
            all
        };
        let legal = legal::moves(&position).iter().map(|&mv| MoveIndex::new(mv, frame)).collect();
        assert_eq!(sorted(moves().to_vec()), sorted(legal));
    }
}
