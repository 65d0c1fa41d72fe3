//! The feed-forward layer's gates.
use core::arch::naked_asm;

use super::{Rescaling, outputs::rescale};

/// Bits from a point of the table to the next, and from an interpolated value to its unit, that
/// [`silu`] expects.
pub const SILU_UNITS: (u32, u32) = (7, 10);
/// The largest value that [`silu`] passes.
pub const SILU_LIMIT: i32 = 1 << 19;

/// Sums of `count` tokens, at least one, rescaled, pass SiLU as `Curves` has it, and are shifted by
/// `left` into `gates`.
///
/// # Safety
/// `sums` and `gates` point to `count` words, `table`, at any byte, to 513 halfwords.
#[unsafe(naked)]
pub unsafe extern "C" fn silu(
    sums: *const i32,
    count: usize,
    table: *const i16,
    rescaling: &Rescaling,
    left: u32,
    gates: *mut i32,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldm     r3, {{r4, r5, r6, r7}}
        ldrd    r3, lr, [sp, #36]
        mov     r8, #512
    1:
        ldr     r9, [r0], #4
        ",
        rescale!("r9"),
        "
        eor     r10, r9, r9, asr #31
        sub     r10, r10, r9, asr #31
        bic     r9, r9, r9, asr #31
        lsrs    r11, r10, #16
        bne     3f
        lsr     r11, r10, #7
        add     r11, r2, r11, lsl #1
        and     r10, r10, #127
        ldrsh   r12, [r11]
        ldrsh   r11, [r11, #2]
        sub     r11, r11, r12
        mla     r11, r11, r10, r8
        add     r11, r11, r12, lsl #7
        add     r9, r9, r11, asr #10
    2:
        lsl     r9, r9, r3
        str     r9, [lr], #4
        subs    r1, r1, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
    3:
        mov     r10, #0x80000
        cmp     r9, r10
        it      gt
        movgt   r9, r10
        b       2b
        "
    )
}

/// How [`hidden`] goes on from an up projection's output.
#[repr(C)]
pub struct Product {
    /// Bits by which it is shifted before its product with a gate.
    pub left: u32,
    /// The half that rounds the product, and the shift after it.
    pub half: i32,
    pub right: u32,
    pub limit: i32,
    /// Bytes from a pair of tokens to the next.
    pub stride: usize,
}

/// The sum in lr, rescaled, times its gate in r12, in r12.
macro_rules! gated {
    () => {
        concat!(
            rescale!("lr"),
            "
        lsl     lr, lr, r8
        smmla   r12, r12, lr, r9
        asr     r12, r12, r10
        cmp     r12, r11
        it      gt
        movgt   r12, r11
        cmn     r12, r11
        it      lt
        rsblt   r12, r11, #0
        "
        )
    };
}

/// Sums of `pairs` pairs of tokens, at least one, rescaled, times their gates, rescaled, in a column
/// of a tile: a pair's at `column` and 8 bytes on.
///
/// # Safety
/// `gates` and `sums` point to `2 · pairs` words; all places in the column are the tile's.
#[unsafe(naked)]
pub unsafe extern "C" fn hidden(
    gates: *const i32,
    sums: *const i32,
    pairs: usize,
    column: *mut i16,
    rescaling: &Rescaling,
    product: &Product,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldrd    r9, r10, [sp, #36]
        ldm     r9, {{r4, r5, r6, r7}}
        ldm     r10, {{r8, r9, r10, r11}}
    1:
        ldr     lr, [r1], #4
        ldr     r12, [r0], #4
        ",
        gated!(),
        "
        strh    r12, [r3]
        ldr     lr, [r1], #4
        ldr     r12, [r0], #4
        ",
        gated!(),
        "
        strh    r12, [r3, #8]
        ldr     r12, [sp, #40]
        ldr     r12, [r12, #16]
        add     r3, r3, r12
        subs    r2, r2, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}
