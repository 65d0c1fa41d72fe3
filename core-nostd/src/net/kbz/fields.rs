//! The fields of a header, one after another, as postcard encodes them.
//!
//! By hand: what serde and postcard make of the header's types takes 2 KB of flash, a fifth of it
//! to tell errors apart that are the same one here.
use crate::net::Trunk;

/// Reads fields. What cannot be read is zero, and [`Fields::rest`] tells, so that a header is read
/// without asking after each field.
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    is_whole: bool,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, is_whole: true }
    }

    /// The bytes after the fields that were read, if these could be read.
    pub fn rest(self) -> Option<&'a [u8]> {
        self.is_whole.then_some(self.bytes)
    }

    /// Notes whether what was read is good; tells whether all was.
    fn require(&mut self, is_good: bool) -> bool {
        self.is_whole &= is_good;
        self.is_whole
    }

    #[inline(never)]
    fn byte(&mut self) -> u8 {
        let (byte, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        self.require(!self.bytes.is_empty());
        self.bytes = rest;
        *byte
    }

    /// A number of at most `bits` bits, seven of them a byte, the least first.
    #[inline(never)]
    fn varint(&mut self, bits: u32) -> u64 {
        let mut number = 0;
        for shift in (0..bits).step_by(7) {
            let byte = self.byte();
            let part = u64::from(byte & 0x7f);
            let room = bits - shift;
            self.require(room >= 7 || part >> room == 0);
            number |= part << shift;
            if byte < 0x80 {
                return number;
            }
        }
        self.require(false);
        0
    }

    pub fn u64(&mut self) -> u64 {
        self.varint(64)
    }

    pub fn u32(&mut self) -> u32 {
        self.varint(32) as u32
    }

    /// One of a type's variants, by its number.
    pub fn variant<T: Copy, const N: usize>(&mut self, variants: [T; N]) -> T {
        let number = self.u32() as usize;
        self.require(number < N);
        variants[number.min(N - 1)]
    }

    pub fn flag(&mut self) -> bool {
        let byte = self.byte();
        self.require(byte <= 1);
        byte == 1
    }

    /// Letters, of which the configuration knows two of ASCII's.
    pub fn letters(&mut self) -> Trunk {
        let mut letters = Trunk::new();
        for _ in 0..self.u32() {
            let byte = self.byte();
            let fits = byte.is_ascii() && letters.push(byte.into()).is_ok();
            if !self.require(fits) {
                break;
            }
        }
        letters
    }
}
