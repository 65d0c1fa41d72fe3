//! How deep the stack has been since the reset.
//!
//! The runtime paints the stack's whole room before `main`; what has lost its paint was in use.
//! Linker symbols and memory below the stack pointer are read, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::ptr;

use cortex_m_rt::STACK_PAINT_VALUE;

unsafe extern "C" {
    /// Highest address of the stack, where it starts.
    static _stack_start: u32;
    /// Lowest address that it may reach.
    static _stack_end: u32;
}

/// Bytes of the deepest stack so far.
pub fn deepest() -> usize {
    let top = &raw const _stack_start;
    let mut word = &raw const _stack_end;
    // SAFETY: `word` starts at the 4-aligned end of the static data and stops at the stack's top;
    // all of it is RAM that the runtime has initialised. Volatile, as live frames may lie there.
    while word < top && unsafe { ptr::read_volatile(word) } == STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    top.addr() - word.addr()
}
