//! Typed views of sections: integers read in place, at any alignment.
use core::iter::Peekable;

use super::{ALIGNMENT, Curve, MAX_PARTS, Matrix, ModelError, Part, Section};
use crate::net::{
    Config, Layer,
    infer::{Linear, Shift, rescale},
};

/// Little-endian halfwords.
#[derive(Debug, Clone, Copy)]
pub struct Halves<'a>(&'a [[u8; 2]]);

impl<'a> Halves<'a> {
    pub const fn new(halves: &'a [[u8; 2]]) -> Halves<'a> {
        Halves(halves)
    }

    /// The halfwords as they lie in the file.
    #[cfg(kernels = "x86")]
    pub const fn bytes(self) -> &'a [[u8; 2]] {
        self.0
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
    pub fn chunks(self, length: usize) -> impl Iterator<Item = Halves<'a>> {
        self.0.chunks(length).map(Halves)
    }

    /// Row `row` of a matrix with `columns` columns.
    pub fn row(self, row: usize, columns: usize) -> Halves<'a> {
        Halves(&self.0[row * columns..][..columns])
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
        i32::from_le_bytes(self.0[index])
    }
}

/// A shift and the multipliers that share it.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a> {
    shift: Shift,
    multipliers: Words<'a>,
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
#[derive(Debug, Clone, Copy)]
pub struct NormScale {
    /// Added to the shift of the reciprocal root.
    pub shift: i32,
    /// D times the reference's epsilon, in squared units of the stream.
    pub epsilon: u32,
}

/// Reads the sections one after another.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    index: u32,
}

impl<'a> Reader<'a> {
    pub const fn new(sections: &'a [u8]) -> Reader<'a> {
        Reader { rest: sections, index: 0 }
    }

    /// The bytes of the next section, which is `section`.
    fn take(&mut self, section: Section) -> Result<&'a [u8], ModelError> {
        let wrong = ModelError::Section { index: self.index, part: section.part };
        let length = section.bytes();
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(wrong)?;
        let padding = length.next_multiple_of(ALIGNMENT) - length;
        self.rest = rest.get(padding..).ok_or(wrong)?;
        self.index += 1;
        Ok(bytes)
    }

    /// The curves, in the order of [`Curve::ALL`].
    pub fn curves(&mut self) -> Result<[Halves<'a>; Curve::ALL.len()], ModelError> {
        let mut curves = [Halves(&[]); Curve::ALL.len()];
        for (curve, section) in curves.iter_mut().zip(super::curve_sections()) {
            *curve = Halves::new(self.take(section)?.as_chunks().0);
        }
        Ok(curves)
    }

    /// The sections of `layer`, which must be the next.
    pub fn layer<'r>(&'r mut self, layer: Layer, config: &Config) -> LayerReader<'r, 'a> {
        let parts = super::layer_sections(layer, config).into_iter().peekable();
        LayerReader { reader: self, parts }
    }
}

/// Reads the sections of one layer.
pub struct LayerReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    parts: Peekable<heapless::vec::IntoIter<Section, MAX_PARTS, usize>>,
}

impl<'a> LayerReader<'_, 'a> {
    /// The next section, which must hold `part`.
    fn take(&mut self, part: Part) -> Result<&'a [u8], ModelError> {
        match self.parts.next_if(|section| section.part == part) {
            Some(section) => self.reader.take(section),
            None => Err(ModelError::Section { index: self.reader.index, part }),
        }
    }

    pub fn bytes(&mut self, part: Part) -> Result<&'a [i8], ModelError> {
        Ok(bytemuck::cast_slice(self.take(part)?))
    }

    pub fn halves(&mut self, part: Part) -> Result<Halves<'a>, ModelError> {
        Ok(Halves::new(self.take(part)?.as_chunks().0))
    }

    pub fn words(&mut self, part: Part) -> Result<Words<'a>, ModelError> {
        Ok(Words(self.take(part)?.as_chunks().0))
    }

    pub fn scale(&mut self, part: Part) -> Result<Scale<'a>, ModelError> {
        Scale::new(self.words(part)?).ok_or(ModelError::Shift(part))
    }

    pub fn norm_scale(&mut self) -> Result<NormScale, ModelError> {
        let words = self.words(Part::NormScale)?;
        let (shift, epsilon) = (words.get(0), words.get(1) as u32);
        let widest = i32::from(Shift::MOST);
        if (-widest..=widest).contains(&shift) {
            Ok(NormScale { shift, epsilon })
        } else {
            Err(ModelError::Shift(Part::NormScale))
        }
    }

    /// A matrix whose rows end in no bias.
    pub fn linear(&mut self, matrix: Matrix) -> Result<Linear<'a>, ModelError> {
        let weights = self.bytes(Part::Weights(matrix))?;
        Ok(Linear::new(weights, self.scale(Part::Scales(matrix))?))
    }

    /// A matrix with biases.
    pub fn linear_with_bias(&mut self, matrix: Matrix) -> Result<Linear<'a>, ModelError> {
        let linear = self.linear(matrix)?;
        Ok(linear.with_bias(self.words(Part::Bias(matrix))?))
    }
}
