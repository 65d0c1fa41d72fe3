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

/// The products of two rows with `tokens` tokens, an even number above 0, over `groups` groups of
/// columns, at least one; a pair's other groups take `skip` bytes. They are added to the sums that
/// there are, if `has_sums` is not 0.
///
/// # Safety
/// `rows` points to `16 · groups` bytes, and `tile`, for each pair of tokens, to so many and `skip`,
/// the last `skip` excepted, both aligned to 4; `sums` to `2 · tokens` words.
#[unsafe(naked)]
pub unsafe extern "C" fn paired(
    rows: *const u32,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
    skip: usize,
    has_sums: usize,
) {
    // On the stack: where the first row's next sums go, and the second's; the end of the first's;
    // skip; rows; blocks of eight groups, the first of which may have fewer; where in the block it
    // begins; blocks left; where it is written from where a pair's sums begin: from where they go, or
    // from two zeros; both their addresses; both. Then what is restored, 36 bytes; then `tokens`,
    // `skip` and `has_sums`.
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, r9, r10, r11, lr}}
        sub     sp, #52
        ldrd    r4, r5, [sp, #88]
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
        mov     r4, #0
        strd    r4, r4, [sp, #44]
        add     r4, sp, #44
        strd    r4, r4, [sp, #36]
        ldr     r5, [sp, #96]
        add     r4, sp, #36
        cmp     r5, #0
        it      ne
        movne   r4, sp
        str     r4, [sp, #32]
    1:
        ldr     r4, [sp, #32]
        ldrd    r2, r3, [r4]
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
        add     sp, #52
        pop     {{r4, r5, r6, r7, r8, r9, r10, r11, pc}}
        "
    )
}

/// [`paired`] for rows of weights that are bytes, at most [`CHUNK`] groups: it extends them on
/// the stack first.
///
/// # Safety
/// As for [`paired`], but that `weights` points to `8 · groups` bytes, aligned to 4.
#[unsafe(naked)]
pub unsafe extern "C" fn extend_and_pair(
    weights: *const i8,
    tile: *const u32,
    groups: usize,
    sums: *mut i32,
    tokens: usize,
    skip: usize,
    has_sums: usize,
) {
    naked_asm!(
        extension!(),
        "
        push    {{r4, r5, r6, r7, r8, lr}}
        ldrd    r4, r5, [sp, #24]
        ldr     r6, [sp, #32]
        sub     sp, #{chunk}
        push    {{r4, r5, r6}}
        add     r12, sp, #12
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
        add     r0, sp, #12
        bl      {paired}
        add     sp, #12
        add     sp, #{chunk}
        pop     {{r4, r5, r6, r7, r8, pc}}
        ",
        chunk = const CHUNK * EXTENDED,
        paired = sym paired,
    )
}
