//! What becomes of a row's sums: rescaled, then added to a stream or stored as activations.
//!
//! `smmla` gives the upper word of a product, to which the half that rounds is added: all of a
//! rescaling by more than 32 bits but the last shift.
use core::arch::naked_asm;

use super::Rescaling;

/// Rescales the word in `$x` by r4 to r7, which hold a [`Rescaling`].
macro_rules! rescale {
    ($x:literal) => {
        concat!(
            "lsl ",
            $x,
            ", ",
            $x,
            ", r5\n",
            "smmla ",
            $x,
            ", ",
            $x,
            ", r4, r6\n",
            "asr ",
            $x,
            ", ",
            $x,
            ", r7\n",
        )
    };
}
pub(super) use rescale;

/// Brings the word in `$x` into the limits `$low` to `$high`.
macro_rules! clamp {
    ($x:literal, $low:literal, $high:literal) => {
        concat!(
            "cmp ", $x, ", ", $high, "\n", "it gt\n", "movgt ", $x, ", ", $high, "\n", "cmp ", $x,
            ", ", $low, "\n", "it lt\n", "movlt ", $x, ", ", $low, "\n",
        )
    };
}

/// Rescales the sums of `pairs` pairs of tokens, at least one, into `±limit`, and stores them in a
/// column of a tile: a pair's at `column` and 8 bytes on, the next pair's `stride` bytes on.
///
/// # Safety
/// `sums` points to `2 · pairs` words; all places in the column are the tile's.
#[unsafe(naked)]
pub unsafe extern "C" fn store_column(
    sums: *const i32,
    pairs: usize,
    column: *mut i16,
    stride: usize,
    rescaling: &Rescaling,
    limit: i32,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, lr}}
        ldrd    r8, r9, [sp, #32]
        ldm     r8, {{r4, r5, r6, r7}}
        rsb     r8, r9, #0
    1:
        ldrd    r10, r12, [r0], #8
        ",
        rescale!("r10"),
        rescale!("r12"),
        clamp!("r10", "r8", "r9"),
        clamp!("r12", "r8", "r9"),
        "
        strh    r10, [r2]
        strh    r12, [r2, #8]
        add     r2, r2, r3
        subs    r1, r1, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, pc}}
        "
    )
}

/// Rescales `fours` times four sums, at least once, into ±32,767, and stores them as a row of
/// [`Rows`](super::Rows): four halfwords, the next 16 bytes on.
///
/// # Safety
/// `sums` points to `4 · fours` words; all places in the row are the rows'.
#[unsafe(naked)]
pub unsafe extern "C" fn store_row(
    sums: *const i32,
    fours: usize,
    row: *mut u32,
    rescaling: &Rescaling,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldm     r3, {{r4, r5, r6, r7}}
        mov     r12, #0x00010001
    1:
        ldm     r0!, {{r8, r9, r10, r11}}
        ",
        rescale!("r8"),
        rescale!("r9"),
        rescale!("r10"),
        rescale!("r11"),
        "
        ssat    r8, #16, r8
        ssat    r9, #16, r9
        ssat    r10, #16, r10
        ssat    r11, #16, r11
        pkhbt   r8, r8, r9, lsl #16
        pkhbt   r9, r10, r11, lsl #16
        qsub16  r8, r8, r12
        qsub16  r9, r9, r12
        sadd16  r8, r8, r12
        sadd16  r9, r9, r12
        strd    r8, r9, [r2], #16
        subs    r1, r1, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// Adds `rows` rescaled sums, at least one, each to a channel of a row of the stream, `stride`
/// bytes apart, brought into ±32,767.
///
/// # Safety
/// `sums` points to `rows` words; all places in the channel are the stream's.
#[unsafe(naked)]
pub unsafe extern "C" fn add_channel(
    sums: *const i32,
    rows: usize,
    channel: *mut i16,
    stride: usize,
    rescaling: &Rescaling,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, lr}}
        ldr     r12, [sp, #28]
        ldm     r12, {{r4, r5, r6, r7}}
        mov     r8, #1
    1:
        ldr     r12, [r0], #4
        ldrsh   r9, [r2]
        ",
        rescale!("r12"),
        "
        add     r12, r12, r9
        ssat    r12, #16, r12
        qsub16  r12, r12, r8
        sadd16  r12, r12, r8
        strh    r12, [r2]
        add     r2, r2, r3
        subs    r1, r1, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, pc}}
        "
    )
}

/// What brings two halfwords into a limit: added with saturation and taken off again, taken off with
/// saturation and added again.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Clamp {
    /// 32,767 less the limit, twice.
    above: u32,
    /// 32,768 less the limit, twice.
    below: u32,
}

impl Clamp {
    /// Into `±limit`; `None` if that is not from 1 to 32,767.
    pub const fn new(limit: i32) -> Option<Clamp> {
        if limit < 1 || limit > i16::MAX as i32 {
            return None;
        }
        let above = i16::MAX as u32 - limit as u32;
        Some(Clamp { above: above << 16 | above, below: (above + 1) << 16 | (above + 1) })
    }
}

/// What [`store_each`] does to its sums.
#[repr(C)]
pub struct Each {
    pub half: i32,
    pub right: u32,
    pub clamp: Clamp,
}

/// Two sums at r0 by two multipliers at r1, rescaled, as halfwords in r4.
macro_rules! two_by_their_multipliers {
    () => {
        "
        ldrd    r4, r5, [r0], #8
        ldr     r6, [r1], #4
        ldr     r7, [r1], #4
        smmla   r4, r4, r6, r8
        smmla   r5, r5, r7, r8
        asr     r4, r4, r9
        asr     r5, r5, r9
        ssat    r4, #16, r4
        ssat    r5, #16, r5
        pkhbt   r4, r4, r5, lsl #16
        qadd16  r4, r4, r10
        ssub16  r4, r4, r10
        qsub16  r4, r4, r11
        sadd16  r4, r4, r11
        "
    };
}

/// Rescales `fours` times four sums, at least once, each by its own multiplier, and stores them in
/// a row of a tile: four halfwords, the next 16 bytes on.
///
/// # Safety
/// `sums` and `multipliers`, at any byte, point to `4 · fours` words; all places in the row are the tile's.
#[unsafe(naked)]
pub unsafe extern "C" fn store_each(
    sums: *const i32,
    multipliers: *const i32,
    fours: usize,
    row: *mut u32,
    each: &Each,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        ldr     r12, [sp, #36]
        ldm     r12, {{r8, r9, r10, r11}}
    1:
        ",
        two_by_their_multipliers!(),
        "
        str     r4, [r3], #4
        ",
        two_by_their_multipliers!(),
        "
        str     r4, [r3], #12
        subs    r2, r2, #1
        bne     1b
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}
