//! What a linked image holds: its sizes, and that it computes in integers without a heap.
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, elf};

/// Where the board's memory map (`memory.x`) puts RAM.
const RAM_START: u32 = 0x2000_0000;

/// Bytes of an image by the memory they take, without the stack.
#[derive(Debug, PartialEq)]
pub struct Sizes {
    /// What is programmed: code, constants, the network, initial values of the data.
    pub flash: u64,
    /// Initialised and zeroed data.
    pub ram: u64,
}

/// A firmware image.
pub struct Image {
    bytes: Vec<u8>,
}

impl Image {
    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        Ok(Self { bytes })
    }

    fn parse(&self) -> Result<ElfFile32<'_, Endianness>> {
        ElfFile32::parse(&*self.bytes).context("not a 32-bit ELF image")
    }

    /// Adds up the loaded segments.
    pub fn sizes(&self) -> Result<Sizes> {
        let file = self.parse()?;
        let endian = file.endian();
        let mut sizes = Sizes { flash: 0, ram: 0 };
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

    /// Bytes of the code and constants in the image whose symbols' names, mangled, are meant.
    pub fn bytes_of(&self, is_meant: impl Fn(&str) -> bool) -> Result<u64> {
        let file = self.parse()?;
        let mut found: Vec<(u64, u64)> = file
            .symbols()
            .filter(|symbol| symbol.name().is_ok_and(&is_meant))
            .filter(|symbol| symbol.address() < u64::from(RAM_START))
            .map(|symbol| (symbol.address(), symbol.size()))
            .collect();
        // Functions that turned out equal share an address.
        found.sort_unstable();
        found.dedup_by_key(|symbol| symbol.0);
        Ok(found.iter().map(|symbol| symbol.1).sum())
    }

    /// Fails if the image links an allocator or computes with floats.
    pub fn require_integers_without_heap(&self) -> Result<()> {
        let file = self.parse()?;
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default();
            ensure!(!is_forbidden(name), "the firmware links {name}: no heap, no float");
        }
        let runs = code_runs(&file)?;
        ensure!(!runs.is_empty(), "no mapping symbols: is the image stripped?");
        for (start, code) in runs {
            if let Some(offset) = float_arithmetic(code) {
                let address = start + offset as u64;
                let function = function_at(&file, address);
                bail!("float arithmetic at {address:#x} in {function}");
            }
        }
        Ok(())
    }
}

/// Allocators, and software floats: of the ABI's helpers, those on floats start with the type or
/// convert (`__aeabi_fadd`, `__aeabi_dcmplt`, `__aeabi_cfcmple`, `__aeabi_h2f`, `__aeabi_ui2d`).
fn is_forbidden(name: &str) -> bool {
    let float = name
        .strip_prefix("__aeabi_")
        .is_some_and(|helper| helper.starts_with(['f', 'd', 'c', 'h']) || helper.contains('2'));
    float || name.contains("__rust_alloc") || name == "malloc"
}

/// Runs of Thumb code with their addresses: the ABI's mapping symbols tell code (`$t`) from
/// data (`$d`) inside a section.
fn code_runs<'f>(file: &'f ElfFile32<'f, Endianness>) -> Result<Vec<(u64, &'f [u8])>> {
    let mut runs = Vec::new();
    for section in file.sections() {
        let (start, data) = (section.address(), section.data()?);
        let end = start + data.len() as u64;
        let mut marks: Vec<(u64, bool)> = file
            .symbols()
            .filter(|symbol| symbol.section_index() == Some(section.index()))
            .filter_map(|symbol| Some((symbol.address(), is_code_mark(symbol.name().ok()?)?)))
            .collect();
        marks.sort_unstable();
        let ends = marks.iter().skip(1).map(|mark| mark.0).chain([end]).collect::<Vec<_>>();
        for (&(from, code), to) in marks.iter().zip(ends) {
            if code && from >= start && to <= end {
                runs.push((from, &data[(from - start) as usize..(to - start) as usize]));
            }
        }
    }
    Ok(runs)
}

fn is_code_mark(symbol: &str) -> Option<bool> {
    match symbol.split('.').next()? {
        "$t" => Some(true),
        "$d" => Some(false),
        _ => None,
    }
}

/// Offset of the first floating-point data-processing instruction in Thumb code, moves between
/// registers excepted: spilling an integer to a float register computes nothing.
fn float_arithmetic(code: &[u8]) -> Option<usize> {
    let half = |at: usize| Some(u16::from_le_bytes([*code.get(at)?, *code.get(at + 1)?]));
    let mut at = 0;
    while let Some(first) = half(at) {
        // The first five bits tell a 32-bit instruction from a 16-bit one.
        if first >> 11 < 0b11101 {
            at += 2;
            continue;
        }
        let second = half(at + 2)?;
        let coprocessor = second >> 8 & 0xf;
        let data_processing = first & 0xef00 == 0xee00 && second & 0x10 == 0;
        // VMOV (immediate) and VMOV (register): opc1 = 1x11, opc2 = 0000.
        let is_move = first & 0x00b0 == 0x00b0
            && (second & 0x0040 == 0 || first & 0x000f == 0 && second & 0x0080 == 0);
        if data_processing && matches!(coprocessor, 10 | 11) && !is_move {
            return Some(at);
        }
        at += 4;
    }
    None
}

fn function_at(file: &ElfFile32<'_, Endianness>, address: u64) -> String {
    let holds = |s: &object::read::elf::ElfSymbol32<'_, '_, Endianness>| {
        let start = s.address() & !1;
        (start..start + s.size()).contains(&address)
    };
    let found = file.symbols().find(holds);
    found.and_then(|s| s.name().ok().map(str::to_owned)).unwrap_or("unnamed code".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(halfwords: &[u16]) -> Vec<u8> {
        halfwords.iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    #[test]
    fn float_arithmetic_is_found_and_moves_are_not() {
        // movs r0, #0; bl; vadd.f32 s0, s0, s1
        let sum = bytes(&[0x2000, 0xf000, 0xf801, 0xee30, 0x0a20]);
        assert_eq!(float_arithmetic(&sum), Some(6));
        // vcvt.f32.s32 s0, s0; vcmp.f32 s0, s1; vmul.f32 s0, s0, s1
        for one in [[0xeeb8, 0x0ac0], [0xeeb4, 0x0a60], [0xee20, 0x0a20]] {
            assert_eq!(float_arithmetic(&bytes(&one)), Some(0), "{one:x?}");
        }
        // vmov s0, r0; vmov.f32 s0, s1; vldr s0, [r0]; vpush {d8}; vmov.f32 s0, #1.0
        for one in [
            [0xee00, 0x0a10],
            [0xeeb0, 0x0a60],
            [0xed90, 0x0a00],
            [0xed2d, 0x8b02],
            [0xeeb7, 0x0a00],
        ] {
            assert_eq!(float_arithmetic(&bytes(&one)), None, "{one:x?}");
        }
    }

    #[test]
    fn helpers_on_floats_are_told_from_those_on_integers() {
        for float in [
            "__aeabi_fadd",
            "__aeabi_dmul",
            "__aeabi_ddiv",
            "__aeabi_f2iz",
            "__aeabi_ui2d",
            "__aeabi_cfcmple",
            "__aeabi_dcmpeq",
            "__rust_alloc",
        ] {
            assert!(is_forbidden(float), "{float}");
        }
        for integer in [
            "__aeabi_uldivmod",
            "__aeabi_memcpy4",
            "__aeabi_lmul",
            "__aeabi_idiv",
            "__aeabi_llsl",
            "__aeabi_uidivmod",
        ] {
            assert!(!is_forbidden(integer), "{integer}");
        }
    }
}
