//! The emulated boards: which core each has, what is built for it, what emulates it.
use std::path::PathBuf;

use crate::shell;

/// An emulated board.
#[derive(Debug, PartialEq)]
pub struct Board {
    /// Its core.
    pub core: &'static str,
    /// What the emulator calls it.
    pub machine: &'static str,
    /// The compiler's name of what runs on it.
    pub target: &'static str,
    /// The firmware's features that it needs, as cargo takes them.
    pub features: &'static str,
    /// The emulator's program.
    pub emulator: &'static str,
    /// MHz of its SysTick.
    pub clock: u64,
}

/// QEMU for Arm.
pub const ARM: &str = "qemu-system-arm";
/// QEMU for RISC-V of 32 bits.
pub const RISCV: &str = "qemu-system-riscv32";

/// Cortex-M4: the firmware's board.
pub const M4: Board = Board {
    core: "Cortex-M4",
    machine: "mps2-an386",
    target: "thumbv7em-none-eabihf",
    features: "",
    emulator: ARM,
    clock: 25,
};
/// Cortex-M0+. QEMU has no board of this kind with one; its Cortex-M3 runs the same instructions.
pub const M0: Board =
    Board { core: "Cortex-M0+", machine: "mps2-an385", target: "thumbv6m-none-eabi", ..M4 };
/// Cortex-M7, which runs the same image as the Cortex-M4.
pub const M7: Board = Board { core: "Cortex-M7", machine: "mps2-an500", ..M4 };
/// Cortex-M33.
pub const M33: Board = Board {
    core: "Cortex-M33",
    machine: "mps2-an505",
    target: "thumbv8m.main-none-eabi",
    features: "an505",
    emulator: ARM,
    clock: 20,
};
/// Cortex-M55, by what it has in common with the Cortex-M33.
pub const M55: Board = Board {
    core: "Cortex-M55",
    machine: "mps3-an547",
    target: "thumbv8m.main-none-eabi",
    features: "dsp",
    emulator: ARM,
    clock: 32,
};
/// RISC-V of 32 bits without floating-point registers.
pub const RV32: Board = Board {
    core: "RV32IMAC",
    machine: "virt",
    target: "riscv32imac-unknown-none-elf",
    features: "",
    emulator: RISCV,
    clock: 0, // it has none
};

/// All of them.
pub const BOARDS: [Board; 6] = [M4, M7, M0, M33, M55, RV32];

impl Board {
    /// The instructions of so many ticks: QEMU's `-icount shift=0` takes one a nanosecond.
    pub const fn instructions(&self, ticks: u64) -> u64 {
        ticks * 1000 / self.clock
    }

    /// Where its emulator is, if it is installed.
    pub fn find_emulator(&self) -> Option<PathBuf> {
        shell::find_program(self.emulator)
    }
}
