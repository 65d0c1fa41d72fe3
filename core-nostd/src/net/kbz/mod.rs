//! The model file `.kbz`: a quantized network, read in place.
//!
//! `docs/kbz.md` gives the format byte by byte. Any bytes parse to a [`Model`] or a typed
//! [`ModelError`]; a model that parsed cannot be read out of bounds, because the size of each of
//! its sections was compared with the table that follows from its configuration.
mod error;
mod header;
mod layout;
mod sections;
mod words;

pub use error::ModelError;
pub use header::{Entry, Header, PREFIX, align, checksum};
pub use layout::{GROUP, Layout};
pub(crate) use layout::{PAIR_GROUP, place};
pub use sections::{
    ALIGNMENT, Curve, Element, MAX_PARTS, Matrix, Part, Parts, Section, curve_sections,
    from_to_rows, layer_sections, sections,
};
pub(crate) use words::{Halves, LayerReader, NormScale, Reader, Scale, Words};

use super::{Config, hash, infer::Step, layers};
use header::Prefix;

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"KBZ\x1a";
/// The version of the format that this build reads and writes.
pub const VERSION: u16 = 2;

/// A quantized network in a byte slice, in flash or in memory, at any alignment.
#[derive(Debug, Clone)]
pub struct Model<'a> {
    config: Config,
    sections: &'a [u8],
}

impl<'a> Model<'a> {
    /// Reads a model file.
    pub fn parse(bytes: &'a [u8]) -> Result<Model<'a>, ModelError> {
        let prefix = Prefix::read(bytes)?;
        let (header, mut entries) = Header::decode(prefix.header)?;
        header.config.validate()?;
        let expected = hash(&header.config);
        if header.hash != expected {
            return Err(ModelError::Architecture { file: header.hash, expected });
        }
        let count = sections(&header.config).count() as u32;
        if header.sections != count {
            return Err(ModelError::SectionCount { file: header.sections, expected: count });
        }
        let mut offset = prefix.sections_offset as u64;
        for (index, section) in (0..).zip(sections(&header.config)) {
            let entry = Entry::decode(&mut entries)?;
            let length = section.bytes() as u64;
            if u64::from(entry.offset) != offset || u64::from(entry.length) != length {
                return Err(ModelError::Section { index, part: section.part });
            }
            offset += length.next_multiple_of(ALIGNMENT as u64);
        }
        if !entries.is_empty() {
            return Err(ModelError::Header);
        }
        let end = prefix.sections_offset as u64 + prefix.sections.len() as u64;
        if offset != end {
            return Err(ModelError::Length { stated: offset, actual: end });
        }
        let model = Model { config: header.config, sections: prefix.sections };
        model.check_steps()?;
        Ok(model)
    }

    /// A network whose sections lie in `sections`, as [`Model::sections`] had them: what a program
    /// that keeps a network among its own data makes of it each time, without the checksum.
    ///
    /// # Errors
    /// If the sections do not fit the configuration, or a shift is out of range.
    pub fn of_sections(config: Config, sections: &'a [u8]) -> Result<Model<'a>, ModelError> {
        config.validate()?;
        let model = Model { config, sections };
        model.check_steps()?;
        Ok(model)
    }

    /// The bytes of all sections, padding included.
    pub const fn sections(&self) -> &'a [u8] {
        self.sections
    }

    /// Reads a model file that must hold the architecture of `config`.
    pub fn parse_as(bytes: &'a [u8], config: &Config) -> Result<Model<'a>, ModelError> {
        let model = Model::parse(bytes)?;
        let (file, expected) = (hash(&model.config), hash(config));
        if file == expected { Ok(model) } else { Err(ModelError::Architecture { file, expected }) }
    }

    /// The network's configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// A reader at the first section.
    pub(crate) fn reader(&self) -> Reader<'a> {
        Reader::new(self.sections)
    }

    /// Reads every step once, so that evaluation meets no wrong value.
    fn check_steps(&self) -> Result<(), ModelError> {
        let mut reader = self.reader();
        reader.curves()?;
        for layer in layers(&self.config) {
            Step::read(layer, &self.config, &mut reader)?;
        }
        Ok(())
    }
}
