//! The memory functions that the compiler calls, in 22 bytes.
//!
//! Those that come with it copy four words at a time, whatever the alignment, and take a kilobyte.
//! An inference copies and clears little, and nothing in a loop that matters; a program that plays
//! chess as well copies positions, and keeps the compiler's.
#![allow(unsafe_code)]
use core::arch::global_asm;

// The compiler's own are weak: these take their place.
global_asm!(
    ".pushsection .text.memory, \"ax\", %progbits",
    ".syntax unified",
    ".p2align 1",
    ".macro named name:vararg",
    ".irp each, \\name",
    ".global \\each",
    ".thumb_func",
    "\\each:",
    ".endr",
    ".endm",
    // r0: to, which is returned; r1: from; r2: bytes.
    "named memcpy, __aeabi_memcpy, __aeabi_memcpy4, __aeabi_memcpy8",
    "1:",
    "subs r2, #1",
    "bmi 2f",
    "ldrb r3, [r1, r2]",
    "strb r3, [r0, r2]",
    "b 1b",
    // r0: to; r1: bytes.
    "named __aeabi_memclr, __aeabi_memclr4, __aeabi_memclr8",
    "movs r2, #0",
    // r0: to; r1: bytes; r2: the byte.
    "named __aeabi_memset, __aeabi_memset4, __aeabi_memset8",
    "1:",
    "subs r1, #1",
    "bmi 2f",
    "strb r2, [r0, r1]",
    "b 1b",
    "2:",
    "bx lr",
    ".popsection",
);
