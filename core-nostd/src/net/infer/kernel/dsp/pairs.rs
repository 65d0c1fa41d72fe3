//! Two rows by several tokens, two at a time.
use core::arch::naked_asm;

/// Groups of columns whose weights are extended at a time, on the stack.
pub const CHUNK: usize = 40;
/// Bytes of a group of two rows once it is extended.
const EXTENDED: usize = 16;

/// One group of two rows by two tokens, all halfwords: rows at r0, tokens at r1, sums in r9 to r12.
/// It has 40 bytes.
macro_rules! group {
    () => {
        "
        ldm.w   r0!, {{r2, r3, r4, r5}}
        ldm.w   r1!, {{r6, r7, r8, lr}}
        smlad   r9, r2, r6, r9
        smlad   r10, r2, r8, r10
        smlad   r9, r3, r7, r9
        smlad   r10, r3, lr, r10
        smlad   r11, r4, r6, r11
        smlad   r12, r4, r8, r12
        smlad   r11, r5, r7, r11
        smlad   r12, r5, lr, r12
        "
    };
}

/// Adds the products of two rows with `tokens` tokens, an even number above 0, over `groups` groups
/// of columns, at least one; a pair's other groups take `skip` bytes.
///
/// # Safety
/// `rows` points to `16 · groups` bytes, and `tile`, for each pair of tokens, to so many and `skip`,
/// the last `skip` excepted, both aligned to 4; `sums` to `2 · tokens` words.
#[unsafe(naked)]
pub unsafe extern "C" fn add_paired(
    rows: *const u32,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
    skip: usize,
) {
    // On the stack: where the first row's next sums are, and the second's; the end of the first's;
    // skip; rows; blocks of eight groups, the first of which may have fewer; where in the block it
    // begins; blocks left. Then what is restored, 36 bytes; then `tokens` and `skip`.
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        sub     sp, #32
        ldrd    r4, r5, [sp, #68]
        add     r6, r3, r4, lsl #2
        strd    r3, r6, [sp]
        strd    r6, r5, [sp, #8]
        add     r4, r2, #7
        lsr     r4, r4, #3
        strd    r0, r4, [sp, #16]
        rsb     r5, r2, r4, lsl #3
        add     r5, r5, r5, lsl #2
        adr     r6, 2f
        add     r6, r6, r5, lsl #3
        orr     r6, r6, #1
        str     r6, [sp, #24]
    1:
        ldrd    r2, r3, [sp]
        ldrd    r9, r10, [r2]
        ldrd    r11, r12, [r3]
        ldrd    r0, r4, [sp, #16]
        ldr     r5, [sp, #24]
        str     r4, [sp, #28]
        bx      r5
        .p2align 2
    2:
        ",
        group!(),
        group!(),
        group!(),
        group!(),
        group!(),
        group!(),
        group!(),
        group!(),
        "
        ldr     r2, [sp, #28]
        subs    r2, r2, #1
        str     r2, [sp, #28]
        bne     2b
        ldrd    r2, r3, [sp]
        ldrd    r4, r5, [sp, #8]
        strd    r9, r10, [r2], #8
        strd    r11, r12, [r3], #8
        strd    r2, r3, [sp]
        add     r1, r1, r5
        cmp     r2, r4
        bne     1b
        add     sp, #32
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// [`add_paired`] for rows of weights that are bytes, at most [`CHUNK`] groups: it extends them on
/// the stack first.
///
/// # Safety
/// As for [`add_paired`], but that `weights` points to `8 · groups` bytes, aligned to 4.
#[unsafe(naked)]
pub unsafe extern "C" fn extend_and_add_paired(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
    skip: usize,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, lr}}
        ldrd    r4, r5, [sp, #32]
        sub     sp, #{chunk}
        push    {{r4, r5}}
        add     r12, sp, #8
        mov     lr, r2
    1:
        ldrd    r5, r7, [r0], #8
        sxtb16  r4, r5
        sxtb16  r5, r5, ror #8
        sxtb16  r6, r7
        sxtb16  r7, r7, ror #8
        stm     r12!, {{r4, r5, r6, r7}}
        subs    lr, lr, #1
        bne     1b
        add     r0, sp, #8
        bl      {add_paired}
        add     sp, #8
        add     sp, #{chunk}
        pop     {{r4, r5, r6, r7, r8, r9, r10, pc}}
        ",
        chunk = const CHUNK * EXTENDED,
        add_paired = sym add_paired,
    )
}
