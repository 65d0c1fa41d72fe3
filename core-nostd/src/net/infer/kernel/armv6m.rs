//! The inner loops for Cortex-M0 and M0+, which multiply 32 by 32 bits and have eight registers
//! that do more than move and add.
//!
//! Two tokens share a multiplication. A column's word (`packed.rs`) holds the activations of both,
//! `x + y·2^16`, so that the product with a weight holds both products. Two such words may be
//! added: |2 · 128 · 127| < 2^15. With half of 2^16 added too, the lower part is positive, and an
//! arithmetic shift gives the upper one: its sum A, together with the sum B of whole words, tells
//! both tokens' sums, as `B − A·2^16` counts the lower parts modulo 2^32.
//!
//! Wide activations are two halves of a word, with a multiplication each. One token's activations
//! are words of their own, shared by two rows.
//!
//! The functions are naked, because they need every register: hence the `unsafe` of this file.
#![allow(unsafe_code)]
use core::arch::naked_asm;

use super::{Tile, packed};
use crate::net::kbz::{GROUP, PAIR_GROUP};

pub use packed::{set_paired, set_pairs, set_single};

/// Both rows by the tokens of a tile; as for [`paired`].
type Paired = unsafe extern "C" fn(*const i8, *const u32, usize, *mut i32, usize);

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    each_row(paired, weights, tile, sums);
}

pub fn wide_pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    each_row(wide_paired, weights, tile, sums);
}

fn each_row(paired: Paired, weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let fits = weights.len() == groups * PAIR_GROUP && sums.len() == 2 * tokens;
    if !fits || groups == 0 || tokens < 2 || !weights.as_ptr().cast::<u32>().is_aligned() {
        return packed::pair_sums(weights, tile, sums);
    }
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    let sums = sums.as_mut_ptr();
    // SAFETY: from the first row's first byte and from the second's, `weights` has 8 bytes a
    // group less the 4 of the other row, aligned to 4, and there is a group; a tile of several
    // tokens, which are an even number, has 16 bytes a group and pair; `sums` has two words a
    // token, the first row's before the second's.
    unsafe {
        paired(weights, words, groups, sums, tokens);
        paired(weights.add(GROUP), words, groups, sums.add(tokens), tokens);
    }
}

pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (pair, pairs) = (tile.groups() * PAIR_GROUP, sums.len() / 2);
    let fits = weights.len() == pairs * pair && !weights.is_empty() && tile.tokens() == 1;
    if !fits || !weights.as_ptr().cast::<u32>().is_aligned() {
        return packed::single_sums(weights, tile, sums);
    }
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    // SAFETY: `weights` has 8 bytes a group and pair, aligned to 4, and there is a pair that has a
    // group; a tile of one token has 16 bytes a group; `sums` has two words a pair.
    unsafe { single(weights, words, tile.groups(), sums.as_mut_ptr(), pairs) }
}

/// Saves the registers that a function must restore, 36 bytes; of these, high ones go by low ones.
macro_rules! save {
    () => {
        "
        push    {{r4, r5, r6, r7, lr}}
        mov     r4, r8
        mov     r5, r9
        mov     r6, r10
        mov     r7, r11
        push    {{r4, r5, r6, r7}}
        "
    };
}

/// Restores what `save` saved, and returns.
macro_rules! restore {
    () => {
        "
        pop     {{r4, r5, r6, r7}}
        mov     r8, r4
        mov     r9, r5
        mov     r10, r6
        mov     r11, r7
        pop     {{r4, r5, r6, r7, pc}}
        "
    };
}

/// Group number $at of one row by two tokens: weights at r1, activations at r0, sums in r2 (A)
/// and r3 (B), half of 2^16 in r8.
macro_rules! group_of_two_tokens {
    ($at:literal) => {
        concat!(
            "
        ldr     r4, [r1, #8*",
            $at,
            "]
        ldm     r0!, {{r5, r6}}
        sxtb    r7, r4
        muls    r5, r7, r5
        asrs    r7, r4, #16
        sxtb    r7, r7
        muls    r6, r7, r6
        adds    r5, r5, r6
        add     r5, r8
        adds    r3, r3, r5
        asrs    r5, r5, #16
        adds    r2, r2, r5
        ldm     r0!, {{r5, r6}}
        lsls    r7, r4, #16
        asrs    r7, r7, #24
        muls    r5, r7, r5
        asrs    r4, r4, #24
        muls    r6, r4, r6
        adds    r5, r5, r6
        add     r5, r8
        adds    r3, r3, r5
        asrs    r5, r5, #16
        adds    r2, r2, r5
        "
        )
    };
}

/// One row by pairs of tokens, as [`paired`] has its arguments: its groups by `$group`, and
/// around a pair's groups what `$group` wants. `$start` is run once, with the groups' number in r2
/// and r4 free; `$zero` before a pair's first group; `$store` after its last, which stores both
/// sums at r1, where they go, and moves it on; r2 to r7 are free then.
///
/// High registers: r9 the end of the tile's blocks of eight groups, r10 of its pair of tokens, r11
/// bytes of a pair; r8 and r12 are `$group`'s. On the stack: weights, sums, end of the sums; then
/// what is restored, 36 bytes; `tokens`.
macro_rules! row_by_pairs_of_tokens {
    ($start:literal, $zero:literal, $group:ident, $store:literal) => {
        concat!(
            save!(),
            "
        sub     sp, #12
        str     r0, [sp]
        str     r3, [sp, #4]
        ldr     r4, [sp, #48]
        lsls    r4, r4, #2
        adds    r4, r4, r3
        str     r4, [sp, #8]
        mov     r0, r1
        lsls    r4, r2, #4
        mov     r11, r4
        adds    r4, r4, r0
        mov     r10, r4
        lsrs    r4, r2, #3
        lsls    r4, r4, #7
        adds    r4, r4, r0
        mov     r9, r4
        ",
            $start,
            "
    1:
        ldr     r1, [sp]
        ",
            $zero,
            "
        cmp     r0, r9
        bne     2f
        b       3f
    2:
        ",
            $group!(0),
            $group!(1),
            $group!(2),
            $group!(3),
            $group!(4),
            $group!(5),
            $group!(6),
            $group!(7),
            "
        adds    r1, #64
        cmp     r0, r9
        beq     3f
        b       2b
    3:
        cmp     r0, r10
        beq     5f
    4:
        ",
            $group!(0),
            "
        adds    r1, #8
        cmp     r0, r10
        bne     4b
    5:
        ldr     r1, [sp, #4]
        ",
            $store,
            "
        str     r1, [sp, #4]
        add     r9, r11
        add     r10, r11
        ldr     r4, [sp, #8]
        cmp     r1, r4
        beq     6f
        b       1b
    6:
        add     sp, #12
        ",
            restore!(),
        )
    };
}

/// One row by `tokens` tokens, an even number above 0.
///
/// # Safety
/// `weights` points to the row's first group, followed by the others 8 bytes apart, aligned to 4;
/// `tile` to `8 · groups · tokens` bytes; `sums` to `tokens` words; there is a group.
#[unsafe(naked)]
unsafe extern "C" fn paired(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    // In r12 2^16 a group: what the halves add to the lower parts' sum; in r8 that half.
    naked_asm!(row_by_pairs_of_tokens!(
        "
        lsls    r4, r2, #16
        mov     r12, r4
        movs    r4, #1
        lsls    r4, r4, #15
        mov     r8, r4
        ",
        "
        movs    r2, #0
        movs    r3, #0
        ",
        group_of_two_tokens,
        "
        lsls    r4, r2, #16
        subs    r3, r3, r4
        mov     r4, r12
        subs    r3, r3, r4
        stm     r1!, {{r3}}
        stm     r1!, {{r2}}
        "
    ))
}

/// Group number $at of one row by two tokens whose activations are halves of a word: weights at
/// r1, activations at r0, sums in r2 and r8.
macro_rules! group_of_two_wide_tokens {
    ($at:literal) => {
        concat!(
            "
        ldr     r4, [r1, #8*",
            $at,
            "]
        ldm     r0!, {{r5, r6}}
        sxtb    r7, r4
        sxth    r3, r5
        muls    r3, r7, r3
        adds    r2, r2, r3
        asrs    r5, r5, #16
        muls    r5, r7, r5
        add     r8, r5
        asrs    r7, r4, #16
        sxtb    r7, r7
        sxth    r3, r6
        muls    r3, r7, r3
        adds    r2, r2, r3
        asrs    r6, r6, #16
        muls    r6, r7, r6
        add     r8, r6
        ldm     r0!, {{r5, r6}}
        lsls    r7, r4, #16
        asrs    r7, r7, #24
        sxth    r3, r5
        muls    r3, r7, r3
        adds    r2, r2, r3
        asrs    r5, r5, #16
        muls    r5, r7, r5
        add     r8, r5
        asrs    r4, r4, #24
        sxth    r3, r6
        muls    r3, r4, r3
        adds    r2, r2, r3
        asrs    r6, r6, #16
        muls    r6, r4, r6
        add     r8, r6
        "
        )
    };
}

/// As [`paired`], of wide activations.
///
/// # Safety
/// As for [`paired`].
#[unsafe(naked)]
unsafe extern "C" fn wide_paired(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    naked_asm!(row_by_pairs_of_tokens!(
        "",
        "
        movs    r2, #0
        mov     r8, r2
        ",
        group_of_two_wide_tokens,
        "
        mov     r3, r8
        stm     r1!, {{r2, r3}}
        "
    ))
}

/// Group number $at of two rows by one token: weights at r1, activations at r0, sums in r8, r9.
macro_rules! group_of_one_token {
    ($at:literal) => {
        concat!(
            "
        ldm     r0!, {{r4, r5, r6, r7}}
        ldr     r2, [r1, #8*",
            $at,
            "]
        sxtb    r3, r2
        muls    r3, r4, r3
        add     r8, r3
        asrs    r3, r2, #16
        sxtb    r3, r3
        muls    r3, r5, r3
        add     r8, r3
        lsls    r3, r2, #16
        asrs    r3, r3, #24
        muls    r3, r6, r3
        add     r8, r3
        asrs    r2, r2, #24
        muls    r2, r7, r2
        add     r8, r2
        ldr     r2, [r1, #8*",
            $at,
            "+4]
        sxtb    r3, r2
        muls    r3, r4, r3
        add     r9, r3
        asrs    r3, r2, #16
        sxtb    r3, r3
        muls    r3, r5, r3
        add     r9, r3
        lsls    r3, r2, #16
        asrs    r3, r3, #24
        muls    r3, r6, r3
        add     r9, r3
        asrs    r2, r2, #24
        muls    r2, r7, r2
        add     r9, r2
        "
        )
    };
}

/// `pairs` pairs of rows, at least one, by one token.
///
/// # Safety
/// `weights` points to `8 · groups · pairs` bytes, aligned to 4; `tile` to `16 · groups`; `sums`
/// to `2 · pairs` words; there is a group.
#[unsafe(naked)]
unsafe extern "C" fn single(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    pairs: usize,
) {
    // High registers: r10 the end of the tile's blocks of sixteen groups, r11 of all, r12 its start.
    // On the stack: sums; then what is restored, 36 bytes; then `pairs`, which is counted down.
    naked_asm!(
        save!(),
        "
        push    {{r3}}
        mov     r12, r1
        lsls    r4, r2, #4
        adds    r4, r4, r1
        mov     r11, r4
        lsrs    r4, r2, #4
        lsls    r4, r4, #8
        adds    r4, r4, r1
        mov     r10, r4
        mov     r1, r0
    1:
        mov     r0, r12
        movs    r4, #0
        mov     r8, r4
        mov     r9, r4
        cmp     r0, r10
        bne     2f
        b       3f
    2:
        ",
        group_of_one_token!(0),
        group_of_one_token!(1),
        group_of_one_token!(2),
        group_of_one_token!(3),
        group_of_one_token!(4),
        group_of_one_token!(5),
        group_of_one_token!(6),
        group_of_one_token!(7),
        group_of_one_token!(8),
        group_of_one_token!(9),
        group_of_one_token!(10),
        group_of_one_token!(11),
        group_of_one_token!(12),
        group_of_one_token!(13),
        group_of_one_token!(14),
        group_of_one_token!(15),
        "
        adds    r1, #128
        cmp     r0, r10
        beq     3f
        b       2b
    3:
        cmp     r0, r11
        beq     5f
    4:
        ",
        group_of_one_token!(0),
        "
        adds    r1, #8
        cmp     r0, r11
        bne     4b
    5:
        mov     r2, r8
        mov     r3, r9
        ldr     r4, [sp]
        stm     r4!, {{r2, r3}}
        str     r4, [sp]
        ldr     r4, [sp, #40]
        subs    r4, r4, #1
        str     r4, [sp, #40]
        beq     6f
        b       1b
    6:
        add     sp, #4
        ",
        restore!(),
    )
}
