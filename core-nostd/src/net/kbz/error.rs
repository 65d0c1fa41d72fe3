//! Why a model file was refused or could not be evaluated.
use core::fmt;

use super::sections::Part;
use crate::net::ConfigError;

/// Why a model file was refused, or could not be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ModelError {
    /// The file ends before its own structure does: bytes needed and bytes there.
    Truncated {
        /// Least number of bytes that could hold the structure.
        needed: usize,
        /// Bytes there are.
        actual: usize,
    },
    /// The first four bytes are not a `.kbz` file's.
    Magic([u8; 4]),
    /// The file's version of the format is not the one this build reads.
    Version(u16),
    /// The length written in the file is not the length it has; or, of the sections alone, the one
    /// that follows from the configuration is not.
    Length {
        /// Bytes the file says it has, or its configuration says of the sections.
        stated: usize,
        /// Bytes there are.
        actual: usize,
    },
    /// The checksum does not fit the bytes.
    Checksum {
        /// CRC-32 at the end of the file.
        stored: u32,
        /// CRC-32 of the bytes before it.
        computed: u32,
    },
    /// The header cannot be decoded.
    Header,
    /// The header's configuration is impossible.
    Config(ConfigError),
    /// The file holds another architecture.
    Architecture {
        /// Hash in the file.
        file: u64,
        /// Hash that was expected.
        expected: u64,
    },
    /// The number of sections is not the one that follows from the configuration.
    SectionCount {
        /// Number in the file.
        file: u32,
        /// Number that follows from the configuration.
        expected: u32,
    },
    /// A section does not lie where, or is not as long as, the configuration says.
    Section {
        /// Its number in the file, from 0.
        index: u32,
        /// What it should hold.
        part: Part,
    },
    /// A section holds a shift outside its range.
    Shift(Part),
    /// A [`Source`](super::Source) did not give what it was asked for.
    Read {
        /// Where.
        offset: usize,
        /// How many bytes.
        length: usize,
    },
    /// The scratch buffer is too small.
    Scratch {
        /// Bytes that are enough.
        needed: usize,
        /// Bytes there are.
        actual: usize,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Truncated { needed, actual } => {
                write!(f, "the model file is cut short: {actual} bytes of at least {needed}")
            }
            ModelError::Magic(bytes) => {
                write!(f, "not a .kbz model file: it begins with the bytes {bytes:02x?}")
            }
            ModelError::Version(version) => write!(
                f,
                "the model file has format version {version}, this build reads {}; quantize the \
                 model again",
                super::VERSION
            ),
            ModelError::Length { stated, actual } => {
                write!(
                    f,
                    "the model file says it has {stated} bytes but has {actual}; copy it again"
                )
            }
            ModelError::Checksum { stored, computed } => write!(
                f,
                "the model file is damaged: its CRC-32 is {computed:08x}, not {stored:08x}; copy \
                 it again"
            ),
            ModelError::Header => f.write_str("the model file's header cannot be decoded"),
            ModelError::Config(error) => write!(f, "the model file's header is wrong: {error}"),
            ModelError::Architecture { file, expected } => {
                write!(f, "the model file holds architecture {file:016x}, expected {expected:016x}")
            }
            ModelError::SectionCount { file, expected } => {
                write!(f, "the model file has {file} sections, its configuration needs {expected}")
            }
            ModelError::Section { index, part } => {
                write!(f, "section {index} of the model file ({part:?}) has a wrong place or size")
            }
            ModelError::Shift(part) => {
                write!(f, "the model file's {part:?} section holds a shift out of range")
            }
            ModelError::Read { offset, length } => {
                write!(f, "{length} bytes of the model file cannot be read at byte {offset}")
            }
            ModelError::Scratch { needed, actual } => {
                write!(f, "the scratch buffer has {actual} bytes, {needed} are needed")
            }
        }
    }
}

impl core::error::Error for ModelError {}

impl From<ConfigError> for ModelError {
    fn from(error: ConfigError) -> ModelError {
        ModelError::Config(error)
    }
}
