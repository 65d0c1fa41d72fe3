//! The softmax of the scores of a query by all 64 keys, in three passes.
use core::arch::naked_asm;

use super::Rescaling;

/// A score at r0, and its bias at r1: together a binary exponent in its place, the largest in r12.
macro_rules! exponent {
    () => {
        "
        ldr     r2, [r0]
        ldrsb   r3, [r1], #1
        smmla   r2, r2, r4, r5
        lsl     r3, r3, r8
        smmla   r3, r3, r7, r9
        asr     r2, r2, r6
        asr     r3, r3, r10
        add     r2, r2, r3
        str     r2, [r0], #4
        cmp     r2, r12
        it      gt
        movgt   r12, r2
        "
    };
}

/// Scores become binary exponents, in place: each rescaled, and its bias, rescaled. Returns the
/// largest.
///
/// # Safety
/// `scores` points to 64 words, `biases` to 64 bytes.
#[unsafe(naked)]
pub unsafe extern "C" fn exponents(
    scores: *mut i32,
    biases: *const i8,
    score: &Rescaling,
    bias: &Rescaling,
) -> i32 {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldr     r4, [r2]
        ldrd    r5, r6, [r2, #8]
        ldm     r3, {{r7, r8, r9, r10}}
        add     r11, r0, #256
        mov     r12, #0x80000000
    1:
        ",
        exponent!(),
        exponent!(),
        "
        cmp     r0, r11
        bne     1b
        mov     r0, r12
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// An exponent at r0: 2^-(what is in r1 less it) in its place, added to r9.
macro_rules! power {
    () => {
        "
        ldr     r4, [r0]
        sub     r4, r1, r4
        ubfx    r5, r4, #9, #7
        ubfx    r8, r4, #0, #9
        add     r5, r2, r5, lsl #2
        ldrd    r6, r7, [r5]
        lsr     r4, r4, #16
        usat    r4, #6, r4
        sub     r7, r6, r7
        mul     r7, r7, r8
        sub     r6, r6, r7, lsr #9
        lsr     r6, r6, r4
        add     r9, r9, r6
        str     r6, [r0], #4
        "
    };
}

/// Binary exponents become powers of two, in place: of what they lack to `most`, by the table of
/// `exp.rs`. Returns their sum.
///
/// # Safety
/// `exponents` points to 64 words, none of them above `most` and none more than 2^32 - 1 below it;
/// `table` to 129 words.
#[unsafe(naked)]
pub unsafe extern "C" fn powers(exponents: *mut i32, most: u32, table: *const u32) -> u32 {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, lr}}
        add     r3, r0, #256
        mov     r9, #0
    1:
        ",
        power!(),
        power!(),
        "
        cmp     r0, r3
        bne     1b
        mov     r0, r9
        pop     {{r4, r5, r6, r7, r8, r9, pc}}
        "
    )
}

/// Powers times `reciprocal` become probabilities, at most 32,767, in a row of `Rows`.
///
/// # Safety
/// `powers` points to 64 words, `row` to 16 times four halfwords, the next 16 bytes on.
#[unsafe(naked)]
pub unsafe extern "C" fn normalize(powers: *const i32, reciprocal: u32, row: *mut u32) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, lr}}
        add     r3, r0, #256
        mov     r8, #64
    1:
        ldm     r0!, {{r4, r5, r6, r7}}
        smmla   r4, r4, r1, r8
        smmla   r5, r5, r1, r8
        smmla   r6, r6, r1, r8
        smmla   r7, r7, r1, r8
        usat    r4, #15, r4, asr #7
        usat    r5, #15, r5, asr #7
        usat    r6, #15, r6, asr #7
        usat    r7, #15, r7, asr #7
        pkhbt   r4, r4, r5, lsl #16
        pkhbt   r5, r6, r7, lsl #16
        strd    r4, r5, [r2], #16
        cmp     r0, r3
        bne     1b
        pop     {{r4, r5, r6, r7, r8, pc}}
        "
    )
}
