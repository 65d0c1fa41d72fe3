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

use super::{
    Config, hash,
    infer::{Faults, scratch_bytes},
    layers,
};
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
        let faults = Faults::default();
        let [_, _, length, _] = faults.outcome(prefix(start, &faults), ModelError::Header)?;
        let length = length as usize;
        let needed = PREFIX + CHECKSUM;
        if scratch.len() < needed {
            return Err(ModelError::Scratch { needed, actual: scratch.len() });
        }
        Model::read(Bytes::There { source, start: 0, length }, scratch)
    }

    #[inline(never)] // so that its code is counted as what it is
    fn read(file: Bytes<'a>, scratch: &mut [u8]) -> Result<Model<'a>, ModelError> {
        let faults = Faults::default();
        // What nobody noted is a header that says nothing.
        faults.outcome(Model::read_noting(file, scratch, &faults), ModelError::Header)
    }

    /// The same, faults noted.
    fn read_noting(file: Bytes<'a>, scratch: &mut [u8], faults: &Faults) -> Option<Model<'a>> {
        let frame = Frame::read(file, scratch, faults)?;
        let (length, actual) = (frame.header.len(), scratch.len());
        if file.buffer(length) > actual {
            return faults.refuse(ModelError::Scratch { needed: length, actual });
        }
        let header = file.read(frame.header, scratch, Some(faults))?;
        let (header, bytes) = Header::decode(header)?;
        let Header { config, hash: stated, precision, sections: count } = header;
        let start = frame.sections.start;
        let model = Model { config, precision, sections: file.part(frame.sections)? };
        if let Err(error) = model.config.validate() {
            return faults.refuse(ModelError::Config(error));
        }
        let expected = hash(&model.config);
        if stated != expected {
            return faults.refuse(ModelError::Architecture { file: stated, expected });
        }
        let expected = model.count_sections();
        if count != expected {
            return faults.refuse(ModelError::SectionCount { file: count, expected });
        }
        model.check_sections(Some(Entries { bytes, start }), faults)?;
        let needed = file.buffer(model.scratch_bytes());
        if needed > actual {
            return faults.refuse(ModelError::Scratch { needed, actual });
        }
        Some(model)
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
        let faults = Faults::default();
        faults.outcome(model.check_sections(None, &faults), ModelError::Header)?;
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

    /// Sections that the configuration has.
    fn count_sections(&self) -> u32 {
        let mut count = 0;
        self.for_each_section(&mut |_| {
            count += 1;
            Some(())
        });
        count
    }

    /// Checks that the sections, and what a file's header says of them, are those that the
    /// configuration has, and the shifts in them, so that evaluation meets no wrong value.
    fn check_sections(&self, mut entries: Option<Entries<'_>>, faults: &Faults) -> Option<()> {
        let mut place = Place::START;
        self.for_each_section(&mut |section| {
            if let Some(entries) = &mut entries {
                entries.check_next(section, place, faults)?;
            }
            let bytes = place.take(self.sections, section, Some(faults))?;
            let Some(range) = section.part.shifts() else { return Some(()) };
            let mut buffer = [0; 4];
            let shift = bytes.read(0..buffer.len(), &mut buffer, Some(faults))?.first_chunk()?;
            if range.contains(&i32::from_le_bytes(*shift)) {
                return Some(());
            }
            faults.refuse(ModelError::Shift(section.part))
        })?;
        if entries.is_some_and(|entries| !entries.bytes.is_empty()) {
            return None;
        }
        let (stated, actual) = (place.offset, self.sections.len());
        if stated == actual {
            return Some(());
        }
        faults.refuse(ModelError::Length { stated, actual })
    }

    fn for_each_section(&self, visit: &mut dyn FnMut(Section) -> Option<()>) -> Option<()> {
        for_each_section(&self.config, self.precision.weights, visit)
    }
}

/// What a file's header says of its sections.
struct Entries<'a> {
    /// What is left of it.
    bytes: &'a [u8],
    /// Where the first section begins in the file.
    start: usize,
}

impl Entries<'_> {
    /// Checks that the next entry is that of `section`, at `place`.
    fn check_next(&mut self, section: Section, place: Place, faults: &Faults) -> Option<()> {
        let entry = Entry::decode(&mut self.bytes)?;
        let is_there = entry.offset as usize == self.start + place.offset;
        if is_there && entry.length as usize == section.bytes() {
            return Some(());
        }
        faults.refuse(ModelError::Section { index: place.index, part: section.part })
    }
}
