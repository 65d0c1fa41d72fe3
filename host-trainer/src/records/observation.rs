//! A move of a game, as it is sorted together with those of other games.
use bytemuck::{Pod, Zeroable};

use super::{Outcomes, PackedPosition, Played, Side};

/// A position of one game, with its name and the move played: 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Observation {
    /// The two halves of the position's key, the upper one first.
    key: [u64; 2],
    packed: PackedPosition,
    game_hash: u64,
    played: Played,
    /// Who won: 1 White, 0 nobody, −1 Black.
    winner: i8,
    held_out: u8,
    /// 1 for the first of its game: these are counted as games.
    first: u8,
    /// Zero.
    reserved: [u8; 2],
}

/// What an [`Observation`] is made of.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Of the position: see [`crate::positions::key`].
    pub key: u128,
    /// The position.
    pub packed: PackedPosition,
    /// Hash of the game.
    pub game_hash: u64,
    /// The move played.
    pub played: Played,
    /// Who won: 1 White, 0 nobody, −1 Black.
    pub winner: i8,
    /// Whether the game is held out.
    pub held_out: bool,
    /// Whether it is the first observation of its game.
    pub first: bool,
}

impl From<Seen> for Observation {
    fn from(seen: Seen) -> Observation {
        Observation {
            key: [(seen.key >> 64) as u64, seen.key as u64],
            packed: seen.packed,
            game_hash: seen.game_hash,
            played: seen.played,
            winner: seen.winner,
            held_out: seen.held_out.into(),
            first: seen.first.into(),
            reserved: [0; 2],
        }
    }
}

/// See [`Observation::order`].
pub type Order = ([u64; 2], u64, u16, u8, i8);

impl Observation {
    /// The order in which observations are merged: equal positions side by side, of these the
    /// same move of equal games. The rest decides which of equal games stays, the same for all
    /// of its moves: one for training, and of differing results one.
    pub fn order(&self) -> Order {
        (self.key, self.game_hash, self.packed.ply, self.held_out, self.winner)
    }

    /// The position's key.
    pub fn key(&self) -> u128 {
        u128::from(self.key[0]) << 64 | u128::from(self.key[1])
    }

    /// Whether `other` is the same move of an equal game.
    pub fn repeats(&self, other: &Observation) -> bool {
        (self.key, self.game_hash, self.packed.ply)
            == (other.key, other.game_hash, other.packed.ply)
    }

    /// Whether it is the first of its game.
    pub fn is_first(&self) -> bool {
        self.first != 0
    }

    pub(super) fn side(&self) -> Side {
        if self.held_out == 0 { Side::Training } else { Side::HeldOut }
    }

    pub(super) fn packed(&self) -> PackedPosition {
        self.packed
    }

    pub(super) fn game_hash(&self) -> u64 {
        self.game_hash
    }

    pub(super) fn played(&self) -> Played {
        self.played
    }

    pub(super) fn outcomes(&self) -> Outcomes {
        Outcomes::one(if self.packed.turn().is_white() { self.winner } else { -self.winner })
    }
}
