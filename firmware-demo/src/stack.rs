//! How deep the stack has been since it was painted.
//!
//! On Arm the runtime paints the stack's whole room before `main`, on RISC-V a program does so where
//! `main` begins; what has lost its paint was in use. Linker symbols and memory below the stack
//! pointer are touched, hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::ptr;

#[cfg(target_arch = "arm")]
use cortex_m_rt::STACK_PAINT_VALUE as PAINT;
#[cfg(target_arch = "riscv32")]
const PAINT: u32 = 0xcccc_cccc;

#[cfg(target_arch = "arm")]
unsafe extern "C" {
    /// Highest address of the stack, where it starts.
    #[link_name = "_stack_start"]
    static TOP: u32;
    /// Lowest address that it may reach.
    #[link_name = "_stack_end"]
    static END: u32;
}

#[cfg(target_arch = "riscv32")]
unsafe extern "C" {
    /// Highest address of the stack, where it starts.
    #[link_name = "__sstack"]
    static TOP: u32;
    /// Lowest address that it may reach.
    #[link_name = "__estack"]
    static END: u32;
}

/// Paints the stack's room that is not in use: what `main` does first where the runtime does not.
#[cfg(target_arch = "riscv32")]
#[inline(never)]
pub fn paint() {
    let used: *mut u32;
    // SAFETY: the stack pointer is read.
    unsafe { core::arch::asm!("mv {}, sp", out(reg) used, options(nomem, nostack)) }
    let mut word = (&raw const END).cast_mut();
    while word < used {
        // SAFETY: `word` starts at the 4-aligned end of the static data and stops at the stack
        // pointer, below which nothing lives: no interrupt comes, and nothing is called here.
        unsafe { ptr::write_volatile(word, PAINT) }
        word = word.wrapping_add(1);
    }
}

/// Bytes of the deepest stack so far.
pub fn deepest() -> usize {
    let top = &raw const TOP;
    let mut word = &raw const END;
    // SAFETY: `word` starts at the 4-aligned end of the static data and stops at the stack's top;
    // all of it is RAM that was painted or used. Volatile, as live frames may lie there.
    while word < top && unsafe { ptr::read_volatile(word) } == PAINT {
        word = word.wrapping_add(1);
    }
    top.addr() - word.addr()
}
