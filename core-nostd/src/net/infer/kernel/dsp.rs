//! The inner loops for Cortex-M with the DSP extension.
//!
//! `smlad` multiplies two halfwords by two others and adds both products. Two rows by two tokens
//! share what they load: a group of columns is one double load of weights, one multiple load of
//! activations, four `sxtb16` and eight `smlad` for sixteen multiply-adds. For one token, two
//! groups share the loads: two multiple loads, eight `sxtb16` and eight `smlad`.
//!
//! The functions are naked, because they need all fourteen registers that there are, and of
//! these the compiler keeps two for itself: hence the `unsafe` of this file. Activations lie as
//! in `plain.rs`, which does what is not aligned to words.
#![allow(unsafe_code)]
use core::arch::naked_asm;

use super::{Tile, plain};
use crate::net::kbz::PAIR_GROUP;

pub use plain::{set_paired, set_pairs, set_single};

/// Halfwords hold wide activations as they hold narrow ones.
pub use pair_sums as wide_pair_sums;

pub fn pair_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (groups, tokens) = (tile.groups(), tile.tokens());
    let fits = weights.len() == groups * PAIR_GROUP && sums.len() == 2 * tokens;
    if !fits || tokens < 2 || !weights.as_ptr().cast::<u32>().is_aligned() {
        return unaligned(plain::pair_sums, weights, tile, sums);
    }
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    // SAFETY: `weights` has 8 bytes a group, aligned to 4; a tile of several tokens, which are an
    // even number, has 16 bytes a group and pair; `sums` has two words a token.
    unsafe { paired(weights, words, groups, sums.as_mut_ptr(), tokens) }
}

pub fn single_sums(weights: &[i8], tile: &Tile<'_>, sums: &mut [i32]) {
    let (pair, pairs) = (tile.groups() * PAIR_GROUP, sums.len() / 2);
    let fits = weights.len() == pairs * pair && !weights.is_empty() && tile.tokens() == 1;
    if !fits || !weights.as_ptr().cast::<u32>().is_aligned() {
        return unaligned(plain::single_sums, weights, tile, sums);
    }
    let (weights, words) = (weights.as_ptr(), tile.words().as_ptr());
    // SAFETY: `weights` has 8 bytes a group and pair, aligned to 4; a tile of one token has 16
    // bytes a group, of which the first half is used; `sums` has two words a pair, and there is
    // a pair.
    unsafe { single(weights, words, tile.groups(), sums.as_mut_ptr(), pairs) }
}

/// What is not aligned to words, in plain Rust; kept apart, so that the usual case has the
/// registers to itself.
#[cold]
#[inline(never)]
fn unaligned(
    sums_of: fn(&[i8], &Tile<'_>, &mut [i32]),
    weights: &[i8],
    tile: &Tile<'_>,
    sums: &mut [i32],
) {
    sums_of(weights, tile, sums);
}

pub fn dots(vector: &[i16], rows: &[i16], sums: &mut [i32]) {
    let (length, count) = (vector.len(), sums.len());
    let aligned = [vector, rows].iter().all(|x| x.as_ptr().cast::<u32>().is_aligned());
    let whole = length.is_multiple_of(4) && count.is_multiple_of(2) && length > 0 && count > 0;
    if !aligned || !whole || rows.len() != length * count {
        return plain::dots(vector, rows, sums);
    }
    // SAFETY: both arrays are aligned to 4 and their length is a multiple of 8 bytes; `rows` has
    // `count` of them; `sums` has `count` words, an even number and not 0.
    unsafe { dot_pairs(vector.as_ptr(), rows.as_ptr(), length / 4, sums.as_mut_ptr(), count / 2) }
}

/// Makes the assembler know the extension where the architecture alone does not have it: the one
/// directive there is for that names a processor. The compiler's own options would not reach
/// every reading of the assembly, link-time optimisation being one.
#[cfg(feature = "dsp")]
macro_rules! extension {
    () => {
        ".cpu cortex-m33"
    };
}
#[cfg(not(feature = "dsp"))]
macro_rules! extension {
    () => {
        ""
    };
}

/// One group of two rows by two tokens: weights at r0, activations at r1, sums in r9 to r12.
macro_rules! group_of_two_tokens {
    () => {
        "
        ldrd    r2, r3, [r0], #8
        ldm     r1!, {{r4, r5, r6, r7}}
        sxtb16  r8, r2
        smlad   r9, r8, r4, r9
        smlad   r10, r8, r6, r10
        sxtb16  r8, r2, ror #8
        smlad   r9, r8, r5, r9
        smlad   r10, r8, r7, r10
        sxtb16  r8, r3
        smlad   r11, r8, r4, r11
        smlad   r12, r8, r6, r12
        sxtb16  r8, r3, ror #8
        smlad   r11, r8, r5, r11
        smlad   r12, r8, r7, r12
        "
    };
}

/// Two rows by `tokens` tokens, an even number above 0.
///
/// # Safety
/// `weights` points to `8 · groups` bytes and `tile` to `8 · groups · tokens`, both aligned to 4;
/// `sums` to `2 · tokens` words.
#[unsafe(naked)]
unsafe extern "C" fn paired(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
) {
    // On the stack: weights, pairs of tokens left, groups, where the next sums go; then what is
    // restored, 36 bytes; then `tokens`.
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        sub     sp, #16
        ldr     r4, [sp, #52]
        lsrs    r4, r4, #1
        str     r0, [sp]
        str     r4, [sp, #4]
        str     r2, [sp, #8]
        str     r3, [sp, #12]
    1:
        ldr     r0, [sp]
        ldr     lr, [sp, #8]
        mov     r9, #0
        mov     r10, #0
        mov     r11, #0
        mov     r12, #0
        subs    lr, lr, #8
        blt     3f
    2:
        ",
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        group_of_two_tokens!(),
        "
        subs    lr, lr, #8
        bge     2b
    3:
        adds    lr, lr, #8
        beq     5f
    4:
        ",
        group_of_two_tokens!(),
        "
        subs    lr, lr, #1
        bne     4b
    5:
        ldr     r2, [sp, #12]
        ldr     r3, [sp, #52]
        add     r3, r2, r3, lsl #2
        strd    r9, r10, [r2], #8
        strd    r11, r12, [r3]
        str     r2, [sp, #12]
        ldr     r2, [sp, #4]
        subs    r2, r2, #1
        str     r2, [sp, #4]
        bne     1b
        add     sp, #16
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// Two groups of two rows by one token: weights at r0, activations at r1, sums in r12 and lr.
macro_rules! two_groups_of_one_token {
    () => {
        "
        ldm     r0!, {{r4, r5, r6, r7}}
        ldm     r1!, {{r8, r9, r10, r11}}
        sxtb16  r3, r4
        smlad   r12, r3, r8, r12
        sxtb16  r3, r4, ror #8
        smlad   r12, r3, r9, r12
        sxtb16  r3, r5
        smlad   lr, r3, r8, lr
        sxtb16  r3, r5, ror #8
        smlad   lr, r3, r9, lr
        sxtb16  r3, r6
        smlad   r12, r3, r10, r12
        sxtb16  r3, r6, ror #8
        smlad   r12, r3, r11, r12
        sxtb16  r3, r7
        smlad   lr, r3, r10, lr
        sxtb16  r3, r7, ror #8
        smlad   lr, r3, r11, lr
        "
    };
}

/// `pairs` pairs of rows, at least one, by one token.
///
/// # Safety
/// `weights` points to `8 · groups · pairs` bytes and `tile` to `8 · groups`, aligned to 4;
/// `sums` to `2 · pairs` words.
#[unsafe(naked)]
unsafe extern "C" fn single(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    pairs: usize,
) {
    // On the stack: tile, groups, where the next sums go; then what is restored, 36 bytes; then
    // `pairs`, which is counted down.
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        push    {{r1, r2, r3}}
    1:
        ldrd    r1, r2, [sp]
        mov     r12, #0
        mov     lr, #0
        subs    r2, r2, #8
        blt     3f
    2:
        ",
        two_groups_of_one_token!(),
        two_groups_of_one_token!(),
        two_groups_of_one_token!(),
        two_groups_of_one_token!(),
        "
        subs    r2, r2, #8
        bge     2b
    3:
        adds    r2, r2, #8
        beq     5f
    4:
        ldrd    r4, r5, [r0], #8
        ldrd    r8, r9, [r1], #8
        sxtb16  r3, r4
        smlad   r12, r3, r8, r12
        sxtb16  r3, r4, ror #8
        smlad   r12, r3, r9, r12
        sxtb16  r3, r5
        smlad   lr, r3, r8, lr
        sxtb16  r3, r5, ror #8
        smlad   lr, r3, r9, lr
        subs    r2, r2, #1
        bne     4b
    5:
        ldr     r3, [sp, #8]
        ldr     r4, [sp, #48]
        strd    r12, lr, [r3], #8
        subs    r4, r4, #1
        str     r3, [sp, #8]
        str     r4, [sp, #48]
        bne     1b
        add     sp, #12
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// `sums[i] = vector · rows[i]` for two rows a pair, at least one pair, of `quads` times four
/// halfwords, at least one.
///
/// # Safety
/// `vector` points to `8 · quads` bytes and `rows` to `16 · quads · pairs`, both aligned to 4;
/// `sums` to `2 · pairs` words.
#[unsafe(naked)]
unsafe extern "C" fn dot_pairs(
    vector: *const i16,
    rows: *const i16,
    quads: usize,
    sums: *mut i32,
    pairs: usize,
) {
    // The first row of a pair at r1, the second at r2, their sums in lr and r3, the vector at r12.
    // On the stack: vector, nothing, quads, where the next sums go; then what is restored, 36
    // bytes; then `pairs`, which is counted down.
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        push    {{r0, r1, r2, r3}}
    1:
        ldr     r12, [sp]
        ldr     r0, [sp, #8]
        mov     lr, #0
        mov     r3, #0
        add     r2, r1, r0, lsl #3
        subs    r0, r0, #2
        blt     3f
    2:
        ldm     r12!, {{r4, r5, r6, r7}}
        ldm     r1!, {{r8, r9, r10, r11}}
        smlad   lr, r4, r8, lr
        smlad   lr, r5, r9, lr
        smlad   lr, r6, r10, lr
        smlad   lr, r7, r11, lr
        ldm     r2!, {{r8, r9, r10, r11}}
        smlad   r3, r4, r8, r3
        smlad   r3, r5, r9, r3
        smlad   r3, r6, r10, r3
        smlad   r3, r7, r11, r3
        subs    r0, r0, #2
        bge     2b
    3:
        adds    r0, r0, #2
        beq     4f
        ldrd    r4, r5, [r12]
        ldrd    r8, r9, [r1]
        ldrd    r10, r11, [r2], #8
        smlad   lr, r4, r8, lr
        smlad   lr, r5, r9, lr
        smlad   r3, r4, r10, r3
        smlad   r3, r5, r11, r3
    4:
        mov     r1, r2
        ldr     r0, [sp, #12]
        ldr     r4, [sp, #52]
        strd    lr, r3, [r0], #8
        subs    r4, r4, #1
        str     r0, [sp, #12]
        str     r4, [sp, #52]
        bne     1b
        add     sp, #16
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}
