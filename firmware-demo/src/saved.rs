//! A board's game and settings in flash.
use embedded_storage::nor_flash::NorFlash;
use kibitzer_core::chessboard::{Chessboard, Settings};
use kibitzer_core::storage::Storage;

/// Goes on with the game that flash holds; with a new one where it holds none or fails.
pub fn resume(board: &mut Chessboard<'_>, storage: &mut Storage<impl NorFlash>) {
    board.resume(|game, settings| {
        // Of a game that could not be read to its end, the beginning is better than nothing.
        let _ = storage.load(game);
        *settings = Settings::from_bytes(storage.settings()).unwrap_or_default();
    });
}

/// Saves the board's game; whether it is saved.
pub fn save(board: &Chessboard<'_>, storage: &mut Storage<impl NorFlash>) -> bool {
    storage.save(board.game(), &board.settings().to_bytes()).is_ok()
}
