//! The model file `.kbz`: a quantized network, read in place.
//!
//! `docs/kbz.md` gives the format byte by byte. Any bytes parse to a [`Model`] or a typed
//! [`ModelError`]; a model that parsed cannot be read out of bounds, because the size of each of
//! its sections was compared with the table that follows from its configuration.
mod error;
mod fields;
mod header;
mod layout;
mod nibbles;
mod precision;
mod sections;
mod source;
mod words;

pub use error::ModelError;
pub use header::{Entry, Header, PREFIX, align, checksum};
pub use layout::{BLOCK_GROUPS, GROUP, Layout};
pub(crate) use layout::{PAIR_GROUP, place};
pub use nibbles::expand;
pub(crate) use nibbles::expand_in_place;
pub use precision::{InputBits, Precision, WeightBits};
pub use sections::{
    ALIGNMENT, Curve, Element, MAX_PARTS, Matrix, Part, Parts, Section, curve_sections,
    from_to_rows, layer_sections, sections,
};
pub(crate) use source::Bytes;
pub use source::{ReadError, Source};
pub(crate) use words::{Halves, LayerReader, NormScale, Reader, Scale, Words};

use sections::for_each_section;
use words::Place;

use core::ops::Range;

use super::{Config, hash, infer::scratch_bytes, layers};
use header::{CHECKSUM, Frame, prefix};

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"KBZ\x1a";
/// The version of the format that this build reads and writes.
pub const VERSION: u16 = 3;

/// A quantized network: in a byte slice, in flash or in memory, at any alignment, or in a slower
/// [`Source`].
#[derive(Debug, Clone)]
pub struct Model<'a> {
    config: Config,
    precision: Precision,
    sections: Bytes<'a>,
}

impl<'a> Model<'a> {
    /// Reads a model file in place.
    ///
    /// # Errors
    /// If it is not a model file of this version, whole and undamaged.
    pub fn parse(bytes: &'a [u8]) -> Result<Model<'a>, ModelError> {
        Model::read(Bytes::Here(bytes), &mut [])
    }

    /// Opens a model file that lies in a slow place. Its checksum is read through `scratch`, which
    /// holds nothing afterwards; [`Model::scratch_bytes`] tells what evaluation needs, and so does
    /// the error, if that is more.
    ///
    /// # Errors
    /// As for [`Model::parse`]; if the source fails; if `scratch` is too small.
    pub fn open(source: &'a dyn Source, scratch: &mut [u8]) -> Result<Model<'a>, ModelError> {
        let start = Bytes::There { source, start: 0, length: PREFIX };
        let [_, _, length, _] = prefix(start)?;
        let length = length as usize;
        let needed = PREFIX + CHECKSUM;
        if scratch.len() < needed {
            return Err(ModelError::Scratch { needed, actual: scratch.len() });
        }
        Model::read(Bytes::There { source, start: 0, length }, scratch)
    }

    #[inline(never)] // so that its code is counted as what it is
    fn read(file: Bytes<'a>, scratch: &mut [u8]) -> Result<Model<'a>, ModelError> {
        let frame = Frame::read(file, scratch)?;
        let length = frame.header.len();
        if file.buffer(length) > scratch.len() {
            return Err(ModelError::Scratch { needed: length, actual: scratch.len() });
        }
        let (header, entries) = Header::decode(file.get(frame.header, scratch)?)?;
        header.config.validate()?;
        let expected = hash(&header.config);
        if header.hash != expected {
            return Err(ModelError::Architecture { file: header.hash, expected });
        }
        check_entries(&header, entries, &frame.sections)?;
        let sections = file.part(frame.sections).ok_or(ModelError::Header)?;
        let model = Model { config: header.config, precision: header.precision, sections };
        let needed = file.buffer(model.scratch_bytes());
        if needed > scratch.len() {
            return Err(ModelError::Scratch { needed, actual: scratch.len() });
        }
        model.check_sections()?;
        Ok(model)
    }

    /// A network whose sections lie in `sections`, as [`Model::sections`] had them: what a program
    /// that keeps a network among its own data makes of it each time, without the checksum.
    ///
    /// # Errors
    /// If the sections do not fit the configuration, or a shift is out of range.
    pub fn of_sections(
        config: Config,
        precision: Precision,
        sections: &'a [u8],
    ) -> Result<Model<'a>, ModelError> {
        config.validate()?;
        let model = Model { config, precision, sections: Bytes::Here(sections) };
        model.check_sections()?;
        Ok(model)
    }

    /// The bytes of all sections, padding included, if they lie in memory.
    pub const fn sections(&self) -> Option<&'a [u8]> {
        match self.sections {
            Bytes::Here(bytes) => Some(bytes),
            Bytes::There { .. } => None,
        }
    }

    /// Reads a model file that must hold the architecture of `config`.
    ///
    /// # Errors
    /// As for [`Model::parse`], and if it holds another architecture.
    pub fn parse_as(bytes: &'a [u8], config: &Config) -> Result<Model<'a>, ModelError> {
        let model = Model::parse(bytes)?;
        let (file, expected) = (hash(&model.config), hash(config));
        if file == expected { Ok(model) } else { Err(ModelError::Architecture { file, expected }) }
    }

    /// The network's configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// With how many bits its matrices work.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Bytes of scratch that [`Model::evaluate`] needs: in memory [`scratch_bytes`], otherwise as
    /// many more as the largest layer has beside its weights, and the curves.
    pub fn scratch_bytes(&self) -> usize {
        let staged = if self.sections.are_here() { 0 } else { self.staged_bytes() };
        scratch_bytes(&self.config) + staged
    }

    /// Bytes of the curves, and of the largest layer beside what is read in parts.
    fn staged_bytes(&self) -> usize {
        let whole = |section: &Section| match section.is_read_in_parts() {
            true => 0,
            false => section.bytes().next_multiple_of(4),
        };
        let mut most = 0;
        for layer in layers(&self.config) {
            let parts = layer_sections(layer, &self.config, self.precision.weights);
            most = parts.iter().map(whole).sum::<usize>().max(most);
        }
        curve_sections().map(|section| whole(&section)).sum::<usize>() + most
    }

    /// A reader at the first section.
    pub(crate) const fn reader(&self) -> Reader<'a> {
        Reader::new(self.sections, self.precision)
    }

    /// Checks that all sections are there, and the shifts in them, so that evaluation meets no
    /// wrong value.
    fn check_sections(&self) -> Result<(), ModelError> {
        let mut place = Place::START;
        for_each_section(&self.config, self.precision.weights, &mut |section| {
            let bytes = place.take(self.sections, section)?;
            let Some(range) = section.part.shifts() else { return Ok(()) };
            let mut buffer = [0; 4];
            let shift = bytes.get(0..buffer.len(), &mut buffer)?.first_chunk();
            let good = shift.is_some_and(|&shift| range.contains(&i32::from_le_bytes(shift)));
            if good { Ok(()) } else { Err(ModelError::Shift(section.part)) }
        })
    }
}

/// Checks that the sections, which begin and end as `place` says, are those that the
/// configuration has.
fn check_entries(
    header: &Header,
    mut entries: &[u8],
    place: &Range<usize>,
) -> Result<(), ModelError> {
    let table = |visit: &mut dyn FnMut(Section) -> Result<(), ModelError>| {
        for_each_section(&header.config, header.precision.weights, visit)
    };
    let mut count = 0;
    table(&mut |_| {
        count += 1;
        Ok(())
    })?;
    if header.sections != count {
        return Err(ModelError::SectionCount { file: header.sections, expected: count });
    }
    let (mut offset, mut index) = (place.start as u64, 0);
    table(&mut |section| {
        let entry = Entry::decode(&mut entries)?;
        let length = section.bytes() as u64;
        if u64::from(entry.offset) != offset || u64::from(entry.length) != length {
            return Err(ModelError::Section { index, part: section.part });
        }
        offset += length.next_multiple_of(ALIGNMENT as u64);
        index += 1;
        Ok(())
    })?;
    if !entries.is_empty() {
        return Err(ModelError::Header);
    }
    let end = place.end as u64;
    if offset == end { Ok(()) } else { Err(ModelError::Length { stated: offset, actual: end }) }
}
