//! Typed views of sections: integers read in place, at any alignment.
use super::{
    ALIGNMENT, Bytes, Curve, InputBits, Matrix, ModelError, Part, Parts, Precision, Section,
};
use crate::net::{
    Config, Layer,
    infer::{Arena, Faults, Linear, Shift, Weights, part, rescale},
};

/// Little-endian halfwords.
#[derive(Debug, Clone, Copy)]
pub struct Halves<'a>(&'a [[u8; 2]]);

impl<'a> Halves<'a> {
    /// The halfwords that `bytes` are.
    pub const fn of(bytes: &'a [u8]) -> Halves<'a> {
        Halves(bytes.as_chunks().0)
    }

    /// The halfwords as they lie in the file.
    #[cfg(any(kernels = "dsp", kernels = "x86"))]
    pub const fn bytes(self) -> &'a [[u8; 2]] {
        self.0
    }

    /// Number of halfwords.
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Number `index` and the next, if there are both.
    pub fn pair(self, index: usize) -> Option<[i16; 2]> {
        let pair = self.0.get(index..)?.first_chunk::<2>()?;
        Some(pair.map(i16::from_le_bytes))
    }

    pub fn iter(self) -> impl Iterator<Item = i16> + 'a {
        self.0.iter().map(|&bytes| i16::from_le_bytes(bytes))
    }

    /// Parts of `length` halfwords, the last one shorter.
    #[cfg(not(kernels = "dsp"))]
    pub fn chunks(self, length: usize) -> impl Iterator<Item = Halves<'a>> {
        self.0.chunks(length).map(Halves)
    }

    /// Row `row` of a matrix with `columns` columns.
    pub fn row(self, row: usize, columns: usize) -> Halves<'a> {
        Halves(part(self.0, row * columns, columns))
    }
}

/// Little-endian words.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    pub const fn new(words: &'a [[u8; 4]]) -> Words<'a> {
        Words(words)
    }

    pub fn get(self, index: usize) -> i32 {
        self.0.get(index).map_or(0, |&word| i32::from_le_bytes(word))
    }
}

/// A shift and the multipliers that share it.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a> {
    shift: Shift,
    multipliers: Words<'a>,
}

/// One bit and no multipliers.
impl Default for Scale<'_> {
    fn default() -> Self {
        Scale { shift: Shift::saturating(1), multipliers: Words(&[]) }
    }
}

impl<'a> Scale<'a> {
    /// A shift, then the multipliers; `None` if the shift is out of range.
    pub fn new(words: Words<'a>) -> Option<Scale<'a>> {
        let (&[shift], multipliers) = words.0.split_first_chunk()?;
        let shift = Shift::new(i32::from_le_bytes(shift))?;
        Some(Scale { shift, multipliers: Words(multipliers) })
    }

    /// `x` in the units that multiplier `index` leads to, within `±limit`.
    pub fn apply(&self, index: usize, x: i32, limit: i32) -> i32 {
        rescale(x, self.multipliers.get(index), self.shift, 0, limit)
    }

    /// Multiplier `index`.
    pub fn multiplier(&self, index: usize) -> i32 {
        self.multipliers.get(index)
    }

    /// The multipliers from `first` on, little-endian.
    pub fn multipliers(&self, first: usize) -> &'a [[u8; 4]] {
        self.multipliers.0.get(first..).unwrap_or(&[])
    }

    /// Number of multipliers.
    pub const fn len(&self) -> usize {
        self.multipliers.0.len()
    }

    /// The shift alone.
    pub const fn shift(&self) -> Shift {
        self.shift
    }
}

/// A norm's section of scalars.
#[derive(Debug, Clone, Copy, Default)]
pub struct NormScale {
    /// Added to the shift of the reciprocal root.
    pub shift: i32,
    /// D times the reference's epsilon, in squared units of the stream.
    pub epsilon: u32,
}

/// Reads the sections one after another.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    sections: Bytes<'a>,
    precision: Precision,
    place: Place,
}

/// How far a reader is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Where the next section begins among the sections' bytes.
    pub offset: usize,
    /// Its number.
    pub index: u32,
}

impl Place {
    /// At the first section.
    pub const START: Place = Place { offset: 0, index: 0 };

    /// The bytes of the next section, which is `section`.
    pub fn take<'a>(
        &mut self,
        sections: Bytes<'a>,
        section: Section,
        faults: Option<&Faults>,
    ) -> Option<Bytes<'a>> {
        let end = self.offset + section.bytes();
        let next = end.next_multiple_of(ALIGNMENT);
        let found = sections.part(self.offset..end).filter(|_| next <= sections.len());
        if found.is_none() {
            faults?.note(ModelError::Section { index: self.index, part: section.part });
        }
        (self.offset, self.index) = (next, self.index + 1);
        found
    }
}

/// Bytes in memory: those that lie there, or read into the arena.
fn staged<'s, 'a: 's>(bytes: Bytes<'a>, arena: &mut Arena<'s>) -> Option<&'s [u8]> {
    let buffer = arena.take(bytes.buffer(bytes.len()));
    arena.outcome()?;
    bytes.read(0..bytes.len(), buffer, arena.faults())
}

impl<'a> Reader<'a> {
    pub const fn new(sections: Bytes<'a>, precision: Precision) -> Reader<'a> {
        Reader { sections, precision, place: Place::START }
    }

    /// The curves, in the order of [`Curve::ALL`], in `arena` if they do not lie in memory.
    pub fn curves<'s>(&mut self, arena: &mut Arena<'s>) -> Option<[Halves<'s>; Curve::ALL.len()]>
    where
        'a: 's,
    {
        let mut curves = [Halves(&[]); Curve::ALL.len()];
        for (curve, section) in curves.iter_mut().zip(super::curve_sections()) {
            let bytes = self.place.take(self.sections, section, arena.faults())?;
            *curve = Halves::of(staged(bytes, arena)?);
        }
        Some(curves)
    }

    /// The sections of `layer`, which must be the next. What does not lie in memory, and is not
    /// read in parts, lies in `arena` then.
    pub fn layer<'r, 's>(
        &'r mut self,
        layer: Layer,
        config: &Config,
        arena: Arena<'s>,
    ) -> LayerReader<'r, 's>
    where
        'a: 's,
    {
        let parts = super::layer_sections(layer, config, self.precision.weights);
        LayerReader {
            sections: self.sections,
            precision: self.precision,
            place: &mut self.place,
            arena,
            parts,
            next: 0,
            is_whole: true,
        }
    }
}

/// Reads the sections of one layer. A fault is noted, and [`LayerReader::finish`] tells; what is
/// read from there on is empty, so that a layer is read without asking after each section.
pub struct LayerReader<'r, 's> {
    sections: Bytes<'s>,
    precision: Precision,
    place: &'r mut Place,
    arena: Arena<'s>,
    parts: Parts,
    next: usize,
    is_whole: bool,
}

impl<'s> LayerReader<'_, 's> {
    /// What is free once all is read, if all that was read was there.
    pub fn finish(&mut self) -> Option<Arena<'s>> {
        self.is_whole.then(|| self.arena.rest())
    }

    /// What there is, or nothing.
    fn keep<T: Default>(&mut self, found: Option<T>) -> T {
        self.is_whole &= found.is_some();
        found.unwrap_or_default()
    }

    /// Notes a fault.
    #[cold]
    fn refuse(&mut self, error: ModelError) {
        self.is_whole = false;
        if let Some(faults) = self.arena.faults() {
            faults.note(error);
        }
    }

    /// The next section, which must hold `part`; to be read in parts.
    pub fn bytes(&mut self, part: Part) -> Bytes<'s> {
        let next = self.parts.get(self.next).filter(|section| section.part == part);
        let Some(&section) = next else {
            self.refuse(ModelError::Section { index: self.place.index, part });
            return Bytes::default();
        };
        self.next += 1;
        let found = self.place.take(self.sections, section, self.arena.faults());
        self.keep(found)
    }

    /// The next section, which must hold `part`, in memory.
    fn take(&mut self, part: Part) -> &'s [u8] {
        let bytes = self.bytes(part);
        let found = staged(bytes, &mut self.arena);
        self.keep(found)
    }

    pub fn halves(&mut self, part: Part) -> Halves<'s> {
        Halves::of(self.take(part))
    }

    pub fn words(&mut self, part: Part) -> Words<'s> {
        Words(self.take(part).as_chunks().0)
    }

    pub fn scale(&mut self, part: Part) -> Scale<'s> {
        let scale = Scale::new(self.words(part));
        if scale.is_none() {
            self.refuse(ModelError::Shift(part));
        }
        scale.unwrap_or_default()
    }

    pub fn norm_scale(&mut self) -> NormScale {
        let words = self.words(Part::NormScale);
        let (shift, epsilon) = (words.get(0), words.get(1) as u32);
        if !Part::NormScale.shifts().is_some_and(|shifts| shifts.contains(&shift)) {
            self.refuse(ModelError::Shift(Part::NormScale));
        }
        NormScale { shift, epsilon }
    }

    /// How wide the activations are that the squares' matrices read.
    pub const fn inputs(&self) -> InputBits {
        self.precision.inputs
    }

    /// A matrix whose rows end in no bias.
    pub fn linear(&mut self, matrix: Matrix) -> Linear<'s> {
        let weights = self.bytes(Part::Weights(matrix));
        let scales = self.scale(Part::Scales(matrix));
        let bits = matrix.bits(self.precision.weights);
        Linear::new(Weights::new(weights, scales.len(), bits), scales)
    }

    /// A matrix with biases.
    pub fn linear_with_bias(&mut self, matrix: Matrix) -> Linear<'s> {
        let linear = self.linear(matrix);
        linear.with_bias(self.words(Part::Bias(matrix)))
    }
}
