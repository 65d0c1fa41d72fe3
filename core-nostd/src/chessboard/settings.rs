//! What a board's players have chosen.
use shakmaty::{ByColor, Color};

use crate::coach::Level;

/// Who plays a color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Player {
    /// Somebody at the board.
    Hand,
    /// Viveka.
    Viveka,
}

/// Bytes of settings that are saved.
pub const SETTINGS_BYTES: usize = 8;

/// What a board's players have chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Who plays White, and Black.
    pub players: ByColor<Player>,
    /// The level of the opponent of whoever plays White at the board, and Black: it weakens what they
    /// play against, and nothing that they are told.
    pub levels: ByColor<Level>,
    /// Men whose moves are graded in a turn, at most; the best move, when asked for, counts as one.
    pub hints: u8,
    /// Whether a move that gives something away is warned of.
    pub warns: bool,
    /// Whether White's men stand at the other end, as the first move has shown.
    pub is_turned: bool,
    /// Whether an app keeps the game, or kept it before its line was down: no help is given until
    /// the next game.
    pub is_unaided: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            players: ByColor { white: Player::Hand, black: Player::Viveka },
            levels: ByColor { white: Level::STRONGEST, black: Level::STRONGEST },
            hints: 3,
            warns: true,
            is_turned: false,
            is_unaided: false,
        }
    }
}

impl Settings {
    /// As they are saved.
    pub fn to_bytes(self) -> [u8; SETTINGS_BYTES] {
        let is_viveka = |player| u8::from(player == Player::Viveka);
        [
            is_viveka(self.players.white),
            is_viveka(self.players.black),
            self.levels.white.number(),
            self.levels.black.number(),
            self.hints,
            u8::from(self.warns),
            u8::from(self.is_turned),
            u8::from(self.is_unaided),
        ]
    }

    /// From what was saved; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Settings> {
        let &[white, black, white_level, black_level, hints, warns, turned, unaided] = bytes else {
            return None;
        };
        let player = |byte| match byte {
            0 => Some(Player::Hand),
            1 => Some(Player::Viveka),
            _ => None,
        };
        let flag = |byte: u8| (byte <= 1).then_some(byte == 1);
        let level = |number| Some(Level::new(number)).filter(|level| level.number() == number);
        Some(Settings {
            players: ByColor { white: player(white)?, black: player(black)? },
            levels: ByColor { white: level(white_level)?, black: level(black_level)? },
            hints,
            warns: flag(warns)?,
            is_turned: flag(turned)?,
            is_unaided: flag(unaided)?,
        })
    }

    /// Whether a color is Viveka's.
    pub fn is_viveka(&self, color: Color) -> bool {
        *self.players.get(color) == Player::Viveka
    }

    /// The level at which Viveka plays a color: its opponent's.
    pub const fn level_against(&self, color: Color) -> Level {
        *self.levels.get(color.other())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_again() {
        let settings = Settings {
            players: ByColor { white: Player::Viveka, black: Player::Hand },
            levels: ByColor { white: Level::WEAKEST, black: Level::new(5) },
            hints: 9,
            warns: false,
            is_turned: true,
            is_unaided: true,
        };
        for settings in [settings, Settings::default()] {
            assert_eq!(Settings::from_bytes(&settings.to_bytes()), Some(settings));
        }
        let broken: [&[u8]; 5] = [
            &[],
            &[0; 8],
            &[2, 0, 1, 1, 0, 0, 0, 0],
            &[0, 0, 9, 1, 0, 0, 0, 0],
            &[0, 0, 1, 1, 0, 0, 0, 2],
        ];
        for bytes in broken {
            assert_eq!(Settings::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
