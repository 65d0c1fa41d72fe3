//! CRC-32 (ISO-HDLC, as in zip and PNG).
//!
//! It goes four bits at a time: a table of bytes would take a kilobyte of flash, and save a board
//! that opens a network a third of the checksum's time.

/// The polynomial, its bits reversed.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// What four bits make of the rest of a division.
static TABLE: [u32; 16] = table();

const fn table() -> [u32; 16] {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < table.len() {
        let mut rest = bits as u32;
        let mut step = 0;
        while step < 4 {
            rest = (rest >> 1) ^ (POLYNOMIAL * (rest & 1));
            step += 1;
        }
        table[bits] = rest;
        bits += 1;
    }
    table
}

/// The checksum of the bytes so far.
#[derive(Debug, Clone, Copy)]
pub struct Crc32(u32);

impl Crc32 {
    /// Of no bytes.
    pub const NOTHING: Self = Self(u32::MAX);

    /// Goes on with `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let rest = self.0 ^ u32::from(byte);
            let rest = rest >> 4 ^ TABLE[(rest & 15) as usize];
            self.0 = rest >> 4 ^ TABLE[(rest & 15) as usize];
        }
    }

    /// The checksum.
    pub const fn sum(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_have_the_checksum_of_the_definition() {
        let bytes: [u8; 256] = core::array::from_fn(|i| (i * i / 3 + i) as u8);
        let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
        for end in 0..=bytes.len() {
            let mut sum = Crc32::NOTHING;
            let (first, second) = bytes[..end].split_at(end / 3);
            sum.update(first);
            sum.update(second);
            assert_eq!(sum.sum(), crc.checksum(&bytes[..end]));
        }
    }
}
