//! Which contact or lamp belongs to which square.
use shakmaty::{Bitboard, Square};

/// The square of each of 64 contacts or lamps, in the order in which a driver counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wiring([Square; 64]);

impl Wiring {
    /// a1, b1 … h1, a2 … h8: every rank from file a on.
    pub const STRAIGHT: Wiring = Wiring(Square::ALL);

    /// a1, b1 … h1, h2 … a2, a3 … a8: every second rank backwards, as a strip of lamps is laid.
    pub const SERPENTINE: Wiring = {
        let mut squares = Square::ALL;
        let mut number = 0;
        while number < 64 {
            if number / 8 % 2 == 1 {
                squares[number] = Square::ALL[number ^ 7];
            }
            number += 1;
        }
        Wiring(squares)
    };

    /// Any order; `None` unless each square is there once.
    pub fn new(squares: [Square; 64]) -> Option<Self> {
        let all: Bitboard = squares.into_iter().collect();
        (all == Bitboard::FULL).then_some(Wiring(squares))
    }

    /// The same on a board turned by half a turn: h8 for a1.
    pub fn turned(self) -> Self {
        Wiring(self.0.map(Square::rotate_180))
    }

    /// The same with files from right to left: h1 for a1.
    pub fn mirrored(self) -> Self {
        Wiring(self.0.map(Square::flip_horizontal))
    }

    /// The same with files for ranks: a8 for h1, as if laid file by file.
    pub fn transposed(self) -> Self {
        Wiring(self.0.map(Square::flip_diagonal))
    }

    /// The squares in their order.
    pub fn squares(&self) -> &[Square; 64] {
        &self.0
    }

    /// The squares of the contacts whose bits are set, the first contact's being bit 0.
    pub fn occupied(&self, contacts: u64) -> Bitboard {
        let is_closed = |number: &u32| contacts >> number & 1 == 1;
        let numbered = (0u32..64).zip(self.0);
        numbered.filter(|(number, _)| is_closed(number)).map(|(_, square)| square).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wiring_has_each_square_once() {
        let all = [Wiring::STRAIGHT, Wiring::SERPENTINE];
        for wiring in all.into_iter().flat_map(|w| [w, w.turned(), w.mirrored(), w.transposed()]) {
            assert_eq!(Wiring::new(wiring.0), Some(wiring));
            assert_eq!(wiring.occupied(u64::MAX), Bitboard::FULL);
            for (number, &square) in wiring.squares().iter().enumerate() {
                assert_eq!(wiring.occupied(1 << number), Bitboard::from(square));
            }
        }
        let mut twice = Square::ALL;
        twice[3] = Square::A1;
        assert_eq!(Wiring::new(twice), None);
    }

    #[test]
    fn wirings_are_as_they_are_called() {
        let at = |wiring: Wiring| [0, 1, 7, 8, 15, 63].map(|number| wiring.0[number]);
        use Square::*;
        assert_eq!(at(Wiring::STRAIGHT), [A1, B1, H1, A2, H2, H8]);
        assert_eq!(at(Wiring::SERPENTINE), [A1, B1, H1, H2, A2, A8]);
        assert_eq!(at(Wiring::STRAIGHT.turned()), [H8, G8, A8, H7, A7, A1]);
        assert_eq!(at(Wiring::STRAIGHT.mirrored()), [H1, G1, A1, H2, A2, A8]);
        assert_eq!(at(Wiring::STRAIGHT.transposed()), [A1, A2, A8, B1, B8, H8]);
        assert_eq!(at(Wiring::SERPENTINE.transposed()), [A1, A2, A8, B8, B1, H1]);
    }
}
