//! Rescaling.
use core::arch::naked_asm;

use super::super::Rescaling;

/// Rescales the word in r4 by the halves of a multiplier, the upper in r1, the lower in r2, and by
/// what stands in r3, r8 and r12: bits to the left, the half, bits to the right. Leaves it in r5;
/// r6 and r7 are lost.
macro_rules! rescale {
    () => {
        "
        lsls    r4, r3
        asrs    r5, r4, #16
        uxth    r4, r4
        mov     r6, r2
        muls    r6, r4, r6
        lsrs    r6, r6, #16
        mov     r7, r2
        muls    r7, r5, r7
        adds    r6, r6, r7
        muls    r4, r1, r4
        uxth    r7, r6
        adds    r4, r4, r7
        asrs    r4, r4, #16
        muls    r5, r1, r5
        asrs    r6, r6, #16
        adds    r5, r5, r6
        adds    r5, r5, r4
        add     r5, r8
        mov     r7, r12
        asrs    r5, r7
        "
    };
}

/// Rescales `count` words, at least one, in place, and brings them into ±limit.
///
/// # Safety
/// `values` points to `count` words.
#[unsafe(naked)]
pub unsafe extern "C" fn rescale_all(
    values: *mut i32,
    count: usize,
    rescaling: &Rescaling,
    limit: i32,
) {
    // High registers: r9 the limit, r10 the lower one, r11 the end; r8 and r12 are `rescale`'s.
    naked_asm!(
        save!(),
        "
        lsls    r1, r1, #2
        adds    r1, r1, r0
        mov     r11, r1
        mov     r9, r3
        rsbs    r3, r3, #0
        mov     r10, r3
        ldm     r2, {{r2, r3, r4, r5}}
        mov     r8, r4
        mov     r12, r5
        asrs    r1, r2, #16
        uxth    r2, r2
    1:
        ldr     r4, [r0]
        ",
        rescale!(),
        "
        cmp     r5, r9
        bgt     3f
        cmp     r5, r10
        blt     4f
    2:
        stm     r0!, {{r5}}
        cmp     r0, r11
        bne     1b
        ",
        restore!(),
        "
    3:
        mov     r5, r9
        b       2b
    4:
        mov     r5, r10
        b       2b
        "
    )
}
