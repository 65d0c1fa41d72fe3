//! The root-mean-square norm.
use core::arch::naked_asm;

use super::outputs::Clamp;

/// The sum of the squares of `fours` times four halfwords, at least once.
///
/// # Safety
/// `row` points to `8 · fours` bytes, at any of them.
#[unsafe(naked)]
pub unsafe extern "C" fn squares(row: *const i16, fours: usize) -> u64 {
    naked_asm!(
        extension!(),
        "
        push    {{r4, lr}}
        mov     r12, r0
        mov     r3, r1
        mov     r0, #0
        mov     r1, #0
    1:
        ldr     r2, [r12], #4
        ldr     r4, [r12], #4
        smlald  r0, r1, r2, r2
        smlald  r0, r1, r4, r4
        subs    r3, r3, #1
        bne     1b
        pop     {{r4, pc}}
        "
    )
}

/// What [`scale`] does to a row.
#[repr(C)]
pub struct Scaling {
    pub factor: i32,
    pub half: i32,
    pub right: u32,
    pub clamp: Clamp,
    /// Bytes from four outputs to the next.
    pub step: usize,
}

/// Two numbers at r0 times their gains at r1, rescaled, as halfwords in r4.
macro_rules! two {
    () => {
        "
        ldr     r4, [r0], #4
        ldr     r5, [r1], #4
        smultt  r12, r4, r5
        smulbb  r4, r4, r5
        smmla   r12, r12, r6, r7
        smmla   r4, r4, r6, r7
        asr     r12, r12, r8
        asr     r4, r4, r8
        ssat    r12, #16, r12
        ssat    r4, #16, r4
        pkhbt   r4, r4, r12, lsl #16
        qadd16  r4, r4, r9
        ssub16  r4, r4, r9
        qsub16  r4, r4, r10
        sadd16  r4, r4, r10
        "
    };
}

/// Scales `fours` times four numbers, at least once.
///
/// # Safety
/// `row` and `gains`, at any byte, point to `8 · fours` bytes; `out`, aligned to 4, to as many
/// places of 8 bytes that are the step of `scaling` apart.
#[unsafe(naked)]
pub unsafe extern "C" fn scale(
    row: *const i16,
    gains: *const i16,
    fours: usize,
    out: *mut i16,
    scaling: &Scaling,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldr     r12, [sp, #36]
        ldm     r12, {{r6, r7, r8, r9, r10, r11}}
    1:
        ",
        two!(),
        "
        str     r4, [r3]
        ",
        two!(),
        "
        str     r4, [r3, #4]
        add     r3, r3, r11
        subs    r2, r2, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}
