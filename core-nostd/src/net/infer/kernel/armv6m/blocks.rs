//! A row by many tokens, four at a time.
//!
//! A pair of columns is a step of four registers of activations: with weights in r2 and r3,
//! activations at r0, and the sums of the block's tokens in r8 to r11.
use core::arch::naked_asm;

/// Both columns of a pair of tokens, a word each: sums in $first and $second.
macro_rules! two_tokens {
    ($first:literal, $second:literal) => {
        concat!(
            "
        ldm     r0!, {{r4, r5, r6, r7}}
        muls    r4, r2, r4
        muls    r5, r3, r5
        add     ",
            $first,
            ", r4
        add     ",
            $first,
            ", r5
        muls    r6, r2, r6
        muls    r7, r3, r7
        add     ",
            $second,
            ", r6
        add     ",
            $second,
            ", r7
        "
        )
    };
}

/// Both columns of a pair of tokens that share words: the sum B in $lower, the second token's in
/// $upper.
macro_rules! two_halves {
    ($lower:literal, $upper:literal) => {
        concat!(
            "
        ldm     r0!, {{r4, r5}}
        asrs    r6, r4, #16
        asrs    r7, r5, #16
        muls    r4, r2, r4
        muls    r5, r3, r5
        add     ",
            $lower,
            ", r4
        add     ",
            $lower,
            ", r5
        muls    r6, r2, r6
        muls    r7, r3, r7
        add     ",
            $upper,
            ", r6
        add     ",
            $upper,
            ", r7
        "
        )
    };
}

/// A step of four tokens, by $two.
macro_rules! step {
    ($two:ident) => {
        concat!($two!("r8", "r9"), $two!("r10", "r11"))
    };
}

/// Group number $at of a row with weights of 8 bits at r1, beside another row's.
macro_rules! bytes {
    ($at:literal, $two:ident) => {
        concat!(
            "
        ldr     r3, [r1, #8*",
            $at,
            "]
        sxtb    r2, r3
        asrs    r3, r3, #16
        sxtb    r3, r3
        ",
            step!($two),
            "
        ldr     r3, [r1, #8*",
            $at,
            "]
        lsls    r2, r3, #16
        asrs    r2, r2, #24
        asrs    r3, r3, #24
        ",
            step!($two),
        )
    };
}

/// Group number $at of a row with weights of 16 bits at r1.
macro_rules! halves {
    ($at:literal, $two:ident) => {
        concat!(
            "
        ldr     r3, [r1, #8*",
            $at,
            "]
        sxth    r2, r3
        asrs    r3, r3, #16
        ",
            step!($two),
            "
        ldr     r3, [r1, #8*",
            $at,
            "+4]
        sxth    r2, r3
        asrs    r3, r3, #16
        ",
            step!($two),
        )
    };
}

/// The sum of a group of `bytes`, added to r6.
macro_rules! sum_of_bytes {
    () => {
        "
        ldr     r4, [r0]
        sxtb    r5, r4
        adds    r6, r6, r5
        asrs    r5, r4, #16
        sxtb    r5, r5
        adds    r6, r6, r5
        lsls    r5, r4, #16
        asrs    r5, r5, #24
        adds    r6, r6, r5
        asrs    r4, r4, #24
        adds    r6, r6, r4
        "
    };
}

/// The sum of a group of `halves`, added to r6.
macro_rules! sum_of_halves {
    () => {
        "
        ldr     r4, [r0]
        sxth    r5, r4
        adds    r6, r6, r5
        asrs    r4, r4, #16
        adds    r6, r6, r4
        ldr     r4, [r0, #4]
        sxth    r5, r4
        adds    r6, r6, r5
        asrs    r4, r4, #16
        adds    r6, r6, r4
        "
    };
}

/// 2^15 by the sum of a row's weights, where `row_by_blocks` finds it; each group is added by
/// $sum.
macro_rules! sum_of_row {
    ($sum:ident) => {
        concat!(
            "
        movs    r6, #0
        movs    r7, r2
    7:
        ",
            $sum!(),
            "
        adds    r0, #8
        subs    r7, r7, #1
        bne     7b
        lsls    r6, r6, #15
        str     r6, [sp, #12]
        "
        )
    };
}

/// The sums of four tokens with a word an activation, in r4 to r7.
macro_rules! sums_of_words {
    () => {
        "
        mov     r4, r8
        mov     r5, r9
        mov     r6, r10
        mov     r7, r11
        "
    };
}

/// The same of tokens that share words.
macro_rules! sums_of_halves {
    () => {
        "
        ldr     r1, [sp, #12]
        mov     r4, r8
        mov     r5, r9
        lsls    r2, r5, #16
        subs    r4, r4, r2
        subs    r4, r4, r1
        mov     r6, r10
        mov     r7, r11
        lsls    r2, r7, #16
        subs    r6, r6, r2
        subs    r6, r6, r1
        "
    };
}

/// One row by `tokens` tokens: `fn(weights, tile, groups, sums, tokens)`. A group by four tokens is
/// `$weights` by `$two`, with `1 << $bytes` bytes of activations; `$sum` prepares what `$sums`
/// needs, which leaves a block's sums in r4 to r7.
///
/// High registers: r8 to r11 the sums, r12 the end of the block's groups that come in fours, lr of
/// all. On the stack: weights, sums, end of the sums, `$sum`'s, bytes of a block; then what is
/// restored, 36 bytes; `tokens`.
macro_rules! row_by_blocks {
    ($weights:ident, $two:ident, $bytes:literal, $sum:expr, $sums:ident) => {
        naked_asm!(
            save!(),
            "
        sub     sp, #20
        str     r0, [sp]
        str     r3, [sp, #4]
        ldr     r4, [sp, #56]
        lsls    r4, r4, #2
        adds    r4, r4, r3
        str     r4, [sp, #8]
        ",
            $sum,
            concat!("lsls    r4, r2, #", $bytes),
            "
        str     r4, [sp, #16]
        adds    r4, r4, r1
        mov     lr, r4
        lsrs    r4, r2, #2
        ",
            concat!("lsls    r4, r4, #2+", $bytes),
            "
        adds    r4, r4, r1
        mov     r12, r4
        mov     r0, r1
    1:
        ldr     r1, [sp]
        movs    r2, #0
        mov     r8, r2
        mov     r9, r2
        mov     r10, r2
        mov     r11, r2
        cmp     r0, r12
        bne     2f
        b       3f
    2:
        ",
            $weights!(0, $two),
            $weights!(1, $two),
            $weights!(2, $two),
            $weights!(3, $two),
            "
        adds    r1, #32
        cmp     r0, r12
        beq     3f
        b       2b
    3:
        cmp     r0, lr
        beq     5f
    4:
        ",
            $weights!(0, $two),
            "
        adds    r1, #8
        cmp     r0, lr
        bne     4b
    5:
        ldr     r3, [sp, #4]
        ",
            $sums!(),
            "
        stm     r3!, {{r4, r5, r6, r7}}
        str     r3, [sp, #4]
        ldr     r4, [sp, #16]
        add     r12, r4
        add     lr, r4
        ldr     r4, [sp, #8]
        cmp     r3, r4
        beq     6f
        b       1b
    6:
        add     sp, #20
        ",
            restore!(),
        )
    };
}

/// One row of 8-bit weights by `tokens` tokens, a multiple of 4 above 0, with a word an activation.
///
/// # Safety
/// `weights` points to the row's first group, followed by the others 8 bytes apart, aligned to 4;
/// `tile` to `4 · groups · tokens` words; `sums` to `tokens` words; there is a group.
#[unsafe(naked)]
pub unsafe extern "C" fn bytes_by_words(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    row_by_blocks!(bytes, two_tokens, 6, "", sums_of_words)
}

/// The same with a word for two tokens.
///
/// # Safety
/// As for [`bytes_by_words`], of half as many words in the tile.
#[unsafe(naked)]
pub unsafe extern "C" fn bytes_by_halves(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    row_by_blocks!(bytes, two_halves, 5, sum_of_row!(sum_of_bytes), sums_of_halves)
}

/// The same with weights of 16 bits.
///
/// # Safety
/// As for [`bytes_by_halves`], but for `weights`, of which there are 4 a group.
#[unsafe(naked)]
pub unsafe extern "C" fn halves_by_halves(
    weights: *const i16,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    row_by_blocks!(halves, two_halves, 5, sum_of_row!(sum_of_halves), sums_of_halves)
}
