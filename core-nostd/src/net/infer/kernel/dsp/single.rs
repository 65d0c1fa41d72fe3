//! Two rows by one token: two groups share the loads, two multiple ones, before eight `sxtb16` and
//! eight `smlad` for sixteen multiply-adds.
use core::arch::naked_asm;

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
pub unsafe extern "C" fn single(
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
