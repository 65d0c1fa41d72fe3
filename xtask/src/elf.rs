//! Sizes of a linked image.
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, elf};

/// Bytes of an image by the memory they take, without the stack.
pub struct Sizes {
    /// What is programmed: code, constants, the network, initial values of the data.
    pub flash: u64,
    /// Initialised and zeroed data.
    pub ram: u64,
}

/// Where the board's memory map (`memory.x`) puts RAM.
const RAM_START: u32 = 0x2000_0000;

impl Sizes {
    /// Reads the loaded segments of the image.
    pub fn read(image: &Path) -> Result<Self> {
        let bytes = fs::read(image).with_context(|| image.display().to_string())?;
        let file = ElfFile32::<Endianness>::parse(&*bytes)
            .with_context(|| format!("{} is no ELF image", image.display()))?;
        let endian = file.endian();
        let mut sizes = Self { flash: 0, ram: 0 };
        for segment in file.elf_program_headers() {
            if segment.p_type(endian) != elf::PT_LOAD {
                continue;
            }
            sizes.flash += u64::from(segment.p_filesz(endian));
            if segment.p_vaddr(endian) >= RAM_START {
                sizes.ram += u64::from(segment.p_memsz(endian));
            }
        }
        Ok(sizes)
    }
}
