//! Castling rights of Chess960, told from those that a careless hand has left.
//!
//! A FEN with rights that the board contradicts is read without them. But where they would be
//! good in Chess960, it may be a position of that game, and without them it is another position.
use kibitzer_core::shakmaty::{
    CastlingMode, Chess, Color, File, FromSetup as _, Position as _, PositionError, fen::Fen,
};

/// How a FEN of Chess960 shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// A rook elsewhere than in the corner may castle with a king on its square: so may a right
    /// look that was not taken away when the rook moved.
    Rook,
    /// The king may castle from another square than e1 or e8, or the rights are given by files.
    Sure,
}

/// How the castling rights of a FEN, read as `position`, show that it is of Chess960; `None` if
/// they do not.
pub fn sign(fen: &str, position: &Chess) -> Option<Sign> {
    let field = fen.split([' ', '_', '\t']).filter(|field| !field.is_empty()).nth(2)?;
    let kept = position.castles().castling_rights();
    let usual = field.bytes().all(|letter| b"KQkq-".contains(&letter));
    if field == "-" || usual && kept.count() == field.len() {
        return None;
    }
    // The position was read from it; counters do not matter.
    let board = fen.split_whitespace().next()?;
    let setup = format!("{board} {} {field} -", position.turn().char()).parse::<Fen>().ok()?;
    let setup = setup.into_setup();
    let (rights, kings) = (setup.castling_rights, setup.board.kings());
    let read = Chess::from_setup(setup, CastlingMode::Chess960)
        .or_else(PositionError::ignore_impossible_check)
        .ok()?;
    if rights == kept || read.castles().castling_rights() != rights {
        return None;
    }
    let home = |color: Color| (kings & color.backrank() & File::E).any();
    let of = |color: Color| (rights & color.backrank()).any();
    let elsewhere = Color::ALL.into_iter().any(|color| of(color) && !home(color));
    Some(if elsewhere || !usual { Sign::Sure } else { Sign::Rook })
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    #[test]
    fn rights_of_chess960_are_told_from_rights_that_are_wrong() {
        let of = |fen: &str| sign(fen, &parse_fen(fen).unwrap());
        for chess in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1",
            "4k3/8/8/8/8/8/8/4K2R w - - 0 1",
            "4k3/8/8/8/8/8/8/4K3 w",
            // No rook, or no king at home.
            "4k3/8/8/8/8/8/8/4K2R w KQ - 0 1",
            "4k3/8/8/8/8/4K3/8/7R w K - 0 1",
            "krr5/8/8/8/8/8/8/4K3 w kq - 0 1",
        ] {
            assert_eq!(of(chess), None, "{chess}");
        }
        for sure in [
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w KQkq - 2 9",
            "1r2k3/8/8/8/8/8/8/4K3 w b - 0 1",
        ] {
            assert_eq!(of(sure), Some(Sign::Sure), "{sure}");
        }
        let moved = "2r1k2r/2pn1pp1/1p3n1p/p3PP2/4q2B/P1P5/2Q1N1PP/R4RK1 w q - 0 1";
        assert_eq!(of(moved), Some(Sign::Rook));
    }
}
