//! The CRC-32 of a checkpoint's files, by which damage is told from weights.
use std::io::{self, Write};

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// Passes on what is written, and sums it up.
pub struct Summing<W> {
    output: W,
    digest: Digest<'static, u32, Table<16>>,
}

impl<W: Write> Summing<W> {
    /// Sums what is written to `output`.
    pub fn new(output: W) -> Summing<W> {
        Summing { output, digest: CRC.digest() }
    }

    /// The checksum of all that was written, eight hexadecimal digits.
    pub fn finish(self) -> String {
        format!("{:08x}", self.digest.finalize())
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The checksum of `bytes`.
pub fn of(bytes: &[u8]) -> String {
    format!("{:08x}", CRC.checksum(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_up_as_the_whole() {
        let mut output = Vec::new();
        let mut summing = Summing::new(&mut output);
        summing.write_all(b"1234").unwrap();
        summing.write_all(b"56789").unwrap();
        // The check value that the CRC's definition gives for these digits.
        assert_eq!(summing.finish(), "cbf43926");
        assert_eq!(of(&output), "cbf43926");
    }
}
