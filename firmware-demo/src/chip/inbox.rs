//! Bytes that a serial line's interrupt leaves for the loop, which may be thinking or showing lamps when
//! they come.
use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use heapless::Deque;

/// Bytes that wait at most: what a line of 115,200 baud brings in 44 ms.
const BYTES: usize = 512;

/// The place where they wait.
pub struct Inbox(Mutex<RefCell<Deque<u8, BYTES>>>);

impl Inbox {
    /// An empty one, for a `static`.
    pub const fn new() -> Self {
        Self(Mutex::new(RefCell::new(Deque::new())))
    }

    /// Leaves a byte; it is lost where there is no room, and its message with it.
    pub fn put(&self, byte: u8) {
        free(|token| {
            let _ = self.0.borrow(token).borrow_mut().push_back(byte);
        });
    }

    /// The next byte.
    pub fn take(&self) -> Option<u8> {
        free(|token| self.0.borrow(token).borrow_mut().pop_front())
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}
