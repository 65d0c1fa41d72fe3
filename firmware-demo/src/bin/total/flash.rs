//! Flash of which the compiler knows nothing, and a game that is kept there.
use core::hint::black_box;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use kibitzer_core::{game::Game, storage::Storage};

/// Flash that holds whatever, and may fail.
struct Flash;

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, into: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, into));
        perhaps()
    }

    fn capacity(&self) -> usize {
        black_box(0)
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        black_box((from, to));
        perhaps()
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        perhaps()
    }
}

fn perhaps() -> Result<(), NorFlashErrorKind> {
    if black_box(true) { Ok(()) } else { Err(NorFlashErrorKind::Other) }
}

/// Loads a game from flash, and saves it.
pub fn keep(settings: &[u8]) {
    let mut game = Game::default();
    match Storage::mount(Flash, black_box(0..8192)) {
        Ok(mut storage) => {
            let loaded = storage.load(&mut game);
            let saved = storage.save(black_box(&game), settings);
            let _ = black_box((loaded, saved, storage.settings()));
        }
        Err(error) => {
            black_box(error);
        }
    }
}
