//! Activations at a matrix's input, as the inner loops read them.
#[cfg(kernels = "armv6m")]
use super::packed;
use super::{Width, chosen};
use crate::net::{infer::scratch::Arena, kbz::GROUP};

/// Most tokens that have a word an activation where that is faster; of more, two share a word.
pub const WORD_TOKENS: usize = 16;

/// Whether so many tokens have a word an activation where that is faster.
pub const fn holds_words(tokens: usize) -> bool {
    tokens <= WORD_TOKENS
}

/// Words of scratch for the activations `[tokens, columns]` on every target.
pub const fn tile_words(tokens: usize, columns: usize) -> usize {
    let columns = columns.next_multiple_of(GROUP);
    match tokens {
        ..=1 => tokens * columns,
        _ if holds_words(tokens) => tokens.next_multiple_of(4) * columns,
        _ => tokens.next_multiple_of(4) / 2 * columns,
    }
}

/// Words that this target's kernel takes of them.
#[cfg(kernels = "x86")]
pub use chosen::words;
#[cfg(kernels = "armv6m")]
pub const fn words(tokens: usize, columns: usize, _: Width) -> usize {
    tile_words(tokens, columns)
}
#[cfg(not(any(kernels = "x86", kernels = "armv6m")))]
pub const fn words(tokens: usize, columns: usize, _: Width) -> usize {
    tokens.div_ceil(2) * columns.next_multiple_of(GROUP)
}

/// Activations `[tokens, columns]`: of one token, or of an even number of them. Columns are
/// padded with zeros to whole groups.
#[derive(Debug)]
pub struct Tile<'s> {
    words: &'s mut [u32],
    columns: usize,
    tokens: usize,
    width: Width,
    /// Whether the activations are bytes.
    #[cfg(kernels = "x86")]
    bytes: bool,
}

impl<'s> Tile<'s> {
    /// None if there is no room. Else activations of any value, but zeros in the columns that fill the last group. One token is
    /// [`Width::Single`], several are one of the others.
    pub fn take(arena: &mut Arena<'s>, tokens: usize, columns: usize, width: Width) -> Tile<'s> {
        debug_assert_eq!(tokens == 1, width == Width::Single);
        debug_assert!(tokens == 1 || tokens.is_multiple_of(2));
        let needed = words(tokens, columns, width);
        let words = arena.take::<u32>(needed);
        #[cfg(kernels = "x86")]
        let (bytes, zeros) = match chosen::are_bytes(width) {
            true => (true, chosen::ZEROS),
            false => (false, 0),
        };
        #[cfg(kernels = "armv6m")]
        let zeros = packed::zeros(tokens);
        #[cfg(not(any(kernels = "x86", kernels = "armv6m")))]
        let zeros = 0;
        let mut tile = Tile {
            words,
            columns,
            tokens,
            width,
            #[cfg(kernels = "x86")]
            bytes,
        };
        if tile.words.len() < needed {
            (tile.columns, tile.tokens) = (0, 0);
        } else if !columns.is_multiple_of(GROUP) {
            tile.words.fill(zeros);
        }
        tile
    }

    /// Whether the activations are bytes.
    #[cfg(kernels = "x86")]
    pub const fn are_bytes(&self) -> bool {
        self.bytes
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

    /// The same, to be written.
    #[cfg(any(kernels = "dsp", kernels = "x86"))]
    pub const fn words_mut(&mut self) -> &mut [u32] {
        self.words
    }

    /// Largest magnitude of an activation.
    pub const fn limit(&self) -> i32 {
        self.width.limit(self.columns)
    }

    /// Bits that no sum over the columns uses: it is below 2^(31 − room) in magnitude.
    pub const fn room(&self) -> u32 {
        self.width.room(self.columns)
    }

    /// Sets the activation of every token in `column`.
    pub fn set_column(&mut self, column: usize, values: impl Iterator<Item = i16>) {
        if self.width == Width::Single {
            return values.for_each(|value| chosen::set_single(self.words, column, value));
        }
        #[cfg(kernels = "x86")]
        match self.bytes {
            true => chosen::set_bytes(self.words, self.tokens, column, values, 0),
            false => chosen::set_column(self.words, self.tokens, column, values, 0),
        }
        #[cfg(not(kernels = "x86"))]
        {
            let (groups, mut values) = (self.groups(), values);
            let pairs = core::iter::from_fn(|| Some([values.next()?, values.next()?]));
            chosen::set_pairs(self.words, self.tokens, groups, column, pairs);
        }
    }

    /// Sets the activation of `token` in `column`, which is within [`Tile::limit`].
    pub fn set(&mut self, token: usize, column: usize, value: i16) {
        if self.width == Width::Single {
            return chosen::set_single(self.words, column, value);
        }
        #[cfg(kernels = "x86")]
        match self.bytes {
            true => {
                let value = core::iter::once(value);
                chosen::set_bytes(self.words, self.tokens, column, value, token);
            }
            false => chosen::set_several(self.words, self.tokens, token, column, value),
        }
        #[cfg(not(kernels = "x86"))]
        {
            let groups = self.groups();
            chosen::set_paired(self.words, self.tokens, groups, token, column, value);
        }
    }

    /// Sets columns of `token`, from `first` on: faster where that begins a group.
    #[cfg(not(kernels = "dsp"))]
    pub fn set_row(&mut self, token: usize, first: usize, values: &[i16]) {
        #[cfg(kernels = "x86")]
        if self.width != Width::Single && first.is_multiple_of(GROUP) {
            let (groups, rest) = values.as_chunks();
            match self.bytes {
                true => chosen::set_row_bytes(self.words, self.tokens, token, first, groups),
                false => chosen::set_row(self.words, self.tokens, token, first, groups),
            }
            let first = first + values.len() - rest.len();
            return rest.iter().zip(first..).for_each(|(&x, column)| self.set(token, column, x));
        }
        #[cfg(kernels = "armv6m")]
        if self.width != Width::Single && first.is_multiple_of(2) {
            let groups = self.groups();
            return packed::set_row(self.words, self.tokens, groups, (token, first), values);
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
