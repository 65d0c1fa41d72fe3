//! Bands of positions: by how much is on the board, and by how the game stands.
use kibitzer_core::{
    shakmaty::Board,
    viveka::{FULL_PHASE, phase},
};
use serde::Serialize;

/// How much is on the board: the game's phase, from 24 (all pieces) to 0, in thirds.
pub const PHASES: [&str; 3] = ["many pieces", "some pieces", "few pieces"];
/// How the game stands for the mover, by the wanted value from −1 (lost) to 1 (won).
pub const STANDINGS: [&str; 5] = ["lost", "worse", "even", "better", "won"];
/// The values that part the standings. A win by the logistic curve at 100 centipawns is 0.18, at
/// 300 it is 0.5.
const LIMITS: [f64; 4] = [-0.5, -0.15, 0.15, 0.5];
/// How many bands there are.
pub const BANDS: usize = PHASES.len() * STANDINGS.len();

/// A phase together with a standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Band {
    phase: u8,
    standing: u8,
}

impl Band {
    /// The band of a position with this board and wanted value, from the mover's side.
    pub fn of(board: &Board, value: f64) -> Band {
        Band { phase: phase_of(board) as u8, standing: standing_of(value) as u8 }
    }

    /// Its number, below [`BANDS`].
    pub fn number(self) -> usize {
        usize::from(self.phase) * STANDINGS.len() + usize::from(self.standing)
    }

    /// What the band with this number is called.
    pub fn name(number: usize) -> String {
        let (phase, standing) = (number / STANDINGS.len(), number % STANDINGS.len());
        format!("{}, {}", PHASES[phase], STANDINGS[standing])
    }
}

/// Which of the [`PHASES`] a board is in.
pub fn phase_of(board: &Board) -> usize {
    let gone = (FULL_PHASE - phase(board)).clamp(0, FULL_PHASE) as usize;
    (gone * PHASES.len() / (FULL_PHASE as usize + 1)).min(PHASES.len() - 1)
}

/// Which of the [`STANDINGS`] a value is in.
pub fn standing_of(value: f64) -> usize {
    LIMITS.iter().filter(|&&limit| value >= limit).count()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{position::parse_fen, shakmaty::Position as _};

    use super::*;

    #[test]
    fn bands_follow_board_and_value() {
        let name = |fen: &str, value: f64| {
            Band::name(Band::of(parse_fen(fen).unwrap().board(), value).number())
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(name(start, 0.0), "many pieces, even");
        assert_eq!(name("4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1", 0.9), "few pieces, won");
        assert_eq!(name("r2qk3/8/8/8/8/8/8/R2QK3 w - - 0 1", -0.2), "some pieces, worse");
        assert_eq!(name(start, -1.0), "many pieces, lost");
        let names: Vec<String> = (0..BANDS).map(Band::name).collect();
        assert_eq!((names.len(), names[0].as_str()), (15, "many pieces, lost"));
    }
}
