//! What flash holds, and what has changed since.
use heapless::Vec;

use crate::{
    game::{Game, MAX_PLIES},
    position::after,
};

use super::{
    MAX_SETTINGS, ply,
    start::{self, Packed},
};

/// The game and the settings that flash holds.
#[derive(Debug, Clone)]
pub struct Saved {
    /// Whether it is known what flash holds.
    is_known: bool,
    start: Packed,
    plies: Vec<u16, MAX_PLIES>,
    settings: Vec<u8, MAX_SETTINGS>,
}

impl Saved {
    /// Nothing is known.
    pub const fn unknown() -> Self {
        Self { is_known: false, start: [0; start::BYTES], plies: Vec::new(), settings: Vec::new() }
    }

    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.is_known = false;
        self.settings.clear();
    }

    /// Flash holds this game.
    pub fn keep(&mut self, game: &Game) {
        self.is_known = true;
        self.start = start::pack(game.start());
        self.plies.clear();
        // A game remembers no more than there is room for.
        let _ = game.moves().try_for_each(|(mv, maker)| self.plies.push(ply::pack(mv, maker)));
    }

    /// Flash holds these settings.
    pub fn keep_settings(&mut self, settings: &[u8]) {
        self.settings.clear();
        // Longer ones are refused before they are written, and cut when they are read.
        let _ = settings.iter().try_for_each(|&byte| self.settings.push(byte));
    }

    /// The settings that it holds.
    pub fn settings(&self) -> &[u8] {
        &self.settings
    }

    /// What leads from what flash holds to `game` and `settings`.
    pub fn change(&self, game: &Game, settings: &[u8]) -> Change {
        if !self.is_known {
            return Change::everything(game);
        }
        let settings = settings != self.settings.as_slice();
        let is_one_longer = || self.is_one_longer(game);
        if start::pack(game.start()) == self.start {
            let same = self.plies.iter().zip(game.moves());
            let same =
                same.take_while(|&(&word, (mv, maker))| word == ply::pack(mv, maker)).count();
            let back = self.plies.len().saturating_sub(same);
            Change { settings, back, kept: same, begins: same == 0 && back > 0, ..NO_CHANGE }
                .with_plies_of(game)
        } else if is_one_longer() {
            Change { settings, kept: game.len().saturating_sub(1), ..NO_CHANGE }.with_plies_of(game)
        } else {
            Change { settings, start: true, begins: true, ..NO_CHANGE }.with_plies_of(game)
        }
    }

    /// Whether `game` is the one that flash holds with one more move, the first being forgotten:
    /// who reads the log forgets it likewise.
    fn is_one_longer(&self, game: &Game) -> bool {
        let first = || {
            let start = start::unpack(&self.start)?;
            let (mv, _) = ply::unpack(*self.plies.first()?, &start)?;
            Some(start::pack(&after(&start, mv)))
        };
        let rest = self.plies.iter().skip(1);
        self.plies.is_full()
            && game.len() == self.plies.len()
            && rest.zip(game.moves()).all(|(&word, (mv, maker))| word == ply::pack(mv, maker))
            && first() == Some(start::pack(game.start()))
    }
}

/// What a record has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The position that the game begins with.
    pub start: bool,
    /// The settings.
    pub settings: bool,
    /// Moves taken back.
    pub back: usize,
    /// The game's first moves that need not be said.
    pub kept: usize,
    /// Moves played, those behind them.
    pub plies: usize,
    /// A game begins with it.
    pub begins: bool,
}

const NO_CHANGE: Change =
    Change { start: false, settings: false, back: 0, kept: 0, plies: 0, begins: false };

impl Change {
    /// All there is to say.
    pub fn everything(game: &Game) -> Self {
        Change { start: true, settings: true, begins: true, ..NO_CHANGE }.with_plies_of(game)
    }

    fn with_plies_of(self, game: &Game) -> Self {
        Change { plies: game.len().saturating_sub(self.kept), ..self }
    }

    /// Whether there is nothing to say.
    pub fn is_nothing(&self) -> bool {
        !self.start && !self.settings && self.back == 0 && self.plies == 0
    }
}
