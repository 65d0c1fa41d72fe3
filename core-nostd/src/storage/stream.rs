//! Bytes out of flash and into it, in parts that it allows, with their checksum.
use embedded_storage::nor_flash::NorFlash;

use super::Error;
use super::layout::{CHUNK, align, aligned};
use crate::crc::Crc32;

/// Bytes of the checksum that ends what is written.
pub const CRC_BYTES: u32 = 4;
/// What erased flash reads.
pub const ERASED: u8 = 0xff;

/// Reads a stretch of flash from front to back.
pub struct Reader<'a, F> {
    flash: &'a mut F,
    at: u32,
    left: u32,
    crc: Crc32,
    /// What is read ahead, from `taken` to `filled`.
    buffer: [u8; CHUNK],
    filled: usize,
    taken: usize,
}

impl<'a, F: NorFlash> Reader<'a, F> {
    /// Reads `bytes` bytes from `at` on.
    pub fn new(flash: &'a mut F, at: u32, bytes: u32) -> Self {
        let crc = Crc32::NOTHING;
        Self { flash, at, left: bytes, crc, buffer: [ERASED; CHUNK], filled: 0, taken: 0 }
    }

    /// The next byte, `None` behind the last.
    pub fn next(&mut self) -> Result<Option<u8>, Error<F::Error>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.taken >= self.filled {
            self.fill()?;
        }
        let byte = self.buffer.get(self.taken).copied();
        self.taken += 1;
        self.at = self.at.wrapping_add(1);
        self.left -= 1;
        Ok(byte)
    }

    /// Reads ahead, from a place that the chip allows.
    fn fill(&mut self) -> Result<(), Error<F::Error>> {
        self.taken = (self.at & (align::<F>() - 1)) as usize;
        let from = self.at & !(align::<F>() - 1);
        let wanted = aligned::<F>(self.left.saturating_add(self.at & (align::<F>() - 1)));
        self.filled = usize::try_from(wanted).map_or(CHUNK, |wanted| wanted.min(CHUNK));
        let Some(buffer) = self.buffer.get_mut(..self.filled) else { return Ok(()) };
        self.flash.read(from, buffer).map_err(Error::Flash)
    }

    /// The next `N` bytes; `None` where there are not so many.
    pub fn take<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Error<F::Error>> {
        let mut bytes = [0; N];
        for to in &mut bytes {
            let Some(byte) = self.next()? else { return Ok(None) };
            self.crc.update(&[byte]);
            *to = byte;
        }
        Ok(Some(bytes))
    }

    /// Whether what was taken so far has the checksum that follows.
    pub fn checks(mut self) -> Result<bool, Error<F::Error>> {
        let computed = self.crc.sum();
        Ok(self.take()?.map(u32::from_le_bytes) == Some(computed))
    }
}

/// Writes from front to back.
pub struct Writer<'a, F> {
    flash: &'a mut F,
    /// Where the buffer goes.
    at: u32,
    crc: Crc32,
    buffer: [u8; CHUNK],
    filled: usize,
}

impl<'a, F: NorFlash> Writer<'a, F> {
    /// Writes from `at` on, a multiple of [`align`].
    pub fn new(flash: &'a mut F, at: u32) -> Self {
        Self { flash, at, crc: Crc32::NOTHING, buffer: [ERASED; CHUNK], filled: 0 }
    }

    /// Writes bytes, some of them at once.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        self.crc.update(bytes);
        self.put_raw(bytes)
    }

    fn put_raw(&mut self, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        for &byte in bytes {
            if let Some(to) = self.buffer.get_mut(self.filled) {
                *to = byte;
            }
            self.filled += 1;
            if self.filled >= CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the checksum and all that is left.
    pub fn finish(mut self) -> Result<(), Error<F::Error>> {
        let crc = self.crc.sum();
        self.put_raw(&crc.to_le_bytes())?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error<F::Error>> {
        let bytes = aligned::<F>(self.filled as u32);
        let buffer = self.buffer.get(..bytes as usize).unwrap_or(&[]);
        if !buffer.is_empty() {
            self.flash.write(self.at, buffer).map_err(Error::Flash)?;
        }
        self.at = self.at.wrapping_add(bytes);
        self.buffer = [ERASED; CHUNK];
        self.filled = 0;
        Ok(())
    }
}
