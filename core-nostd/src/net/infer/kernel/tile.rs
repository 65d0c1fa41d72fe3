//! Activations at a matrix's input, as the inner loops read them.
use super::chosen;
use crate::net::{
    infer::{arithmetic::wide_limit, scratch::Arena},
    kbz::{GROUP, ModelError},
};

/// Words of scratch for the activations `[tokens, columns]`: tokens lie in pairs, each column of
/// a pair takes a word, on every target.
pub const fn tile_words(tokens: usize, columns: usize) -> usize {
    tokens.div_ceil(2) * columns.next_multiple_of(GROUP)
}

/// Words that this target's kernel takes of them.
#[cfg(kernels = "x86")]
use chosen::words;
#[cfg(not(kernels = "x86"))]
use tile_words as words;

/// A word of several tokens' activations that are zero.
#[cfg(kernels = "x86")]
use chosen::ZEROS;
#[cfg(not(kernels = "x86"))]
const ZEROS: u32 = 0;

/// Activations `[tokens, columns]`: of one token, or of an even number of them. Columns are
/// padded with zeros to whole groups.
#[derive(Debug)]
pub struct Tile<'s> {
    words: &'s mut [u32],
    columns: usize,
    tokens: usize,
}

impl<'s> Tile<'s> {
    /// Zeros.
    pub fn take(
        arena: &mut Arena<'s>,
        tokens: usize,
        columns: usize,
    ) -> Result<Tile<'s>, ModelError> {
        debug_assert!(tokens == 1 || tokens.is_multiple_of(2));
        let words = arena.take::<u32>(words(tokens, columns))?;
        words.fill(if tokens == 1 { 0 } else { ZEROS });
        Ok(Tile { words, columns, tokens })
    }

    /// Tokens.
    pub const fn tokens(&self) -> usize {
        self.tokens
    }

    /// Groups of columns.
    pub const fn groups(&self) -> usize {
        self.columns.div_ceil(GROUP)
    }

    /// The activations in the kernel's own order.
    pub const fn words(&self) -> &[u32] {
        self.words
    }

    /// Largest magnitude of an activation: of several tokens 127, so that two products fit 16
    /// bits; of one token what keeps its sums in 32 bits, at most 32,767.
    pub const fn limit(&self) -> i32 {
        match self.tokens {
            // No configuration has more than 65,536 columns, and 2^16 · 2^7 · 2^7 < 2^31.
            1 => wide_limit(self.columns),
            _ => 127,
        }
    }

    /// Bits that no sum over the columns uses: it is below 2^(31 − room) in magnitude.
    pub const fn room(&self) -> u32 {
        match self.tokens {
            1 => 0,
            // |weight · activation| < 2^14.
            _ => 17u32.saturating_sub(self.columns.next_power_of_two().ilog2()),
        }
    }

    /// Sets the activation of every token in `column`.
    pub fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        if self.tokens == 1 {
            return values.for_each(|value| chosen::set_single(self.words, column, value));
        }
        #[cfg(kernels = "x86")]
        chosen::set_column(self.words, self.tokens, column, values);
        #[cfg(not(kernels = "x86"))]
        {
            let (groups, mut values) = (self.groups(), values);
            let pairs = core::iter::from_fn(|| Some([values.next()?, values.next()?]));
            chosen::set_pairs(self.words, groups, column, pairs);
        }
    }

    /// Sets the activation of `token` in `column`, which is within [`Tile::limit`].
    pub fn set(&mut self, token: usize, column: usize, value: i16) {
        if self.tokens == 1 {
            return chosen::set_single(self.words, column, value);
        }
        #[cfg(kernels = "x86")]
        chosen::set_several(self.words, self.tokens, token, column, value);
        #[cfg(not(kernels = "x86"))]
        {
            let groups = self.groups();
            chosen::set_paired(self.words, groups, token, column, value);
        }
    }

    /// Sets columns of `token`, from `first` on: faster where that begins a group.
    pub fn set_row(&mut self, token: usize, first: usize, values: &[i16]) {
        #[cfg(kernels = "x86")]
        if self.tokens > 1 && first.is_multiple_of(GROUP) {
            return chosen::set_row(self.words, self.tokens, token, first, values);
        }
        values.iter().zip(first..).for_each(|(&x, column)| self.set(token, column, x));
    }

    /// Sets the activations of the only token.
    pub fn load(&mut self, values: &[i16]) {
        for (column, &value) in values.iter().enumerate() {
            self.set(0, column, value);
        }
    }
}
