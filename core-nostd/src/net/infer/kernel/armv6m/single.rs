//! Two rows by a single token.
use core::arch::naked_asm;

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
pub unsafe extern "C" fn single(
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
