//! What lies where in the flash.
use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use super::Error;
use super::record::{HEADER_BYTES, MAX_RECORD};

/// Bytes that are read or written at once.
pub const CHUNK: usize = 256;
/// Records that a page has room for behind the longest whole game.
const MIN_RECORDS: u32 = 8;

/// Bytes of whose multiples records begin.
pub const fn align<F: NorFlash>() -> u32 {
    const {
        assert!(F::WRITE_SIZE > 0 && CHUNK.is_multiple_of(F::WRITE_SIZE), "parts of 256 bytes");
        assert!(F::READ_SIZE > 0 && CHUNK.is_multiple_of(F::READ_SIZE), "parts of 256 bytes");
        assert!(F::ERASE_SIZE > 0 && F::ERASE_SIZE < 1 << 24, "16 MiB at most");
        if F::WRITE_SIZE > F::READ_SIZE { F::WRITE_SIZE as u32 } else { F::READ_SIZE as u32 }
    }
}

/// The least multiple of [`align`] that is no less.
pub const fn aligned<F: NorFlash>(bytes: u32) -> u32 {
    // A power of two, as it divides one.
    bytes.saturating_add(align::<F>() - 1) & !(align::<F>() - 1)
}

/// Pages in a range of flash.
#[derive(Debug, Clone, Copy)]
pub struct Area {
    first: u32,
    pages: u32,
    page_bytes: u32,
}

impl Area {
    /// Divides a range into as many pages as it has room for: each of as many parts that are erased
    /// at once as hold the longest game and some more records.
    pub fn new<F: NorFlash>(flash: &F, range: Range<u32>) -> Result<Self, Error<F::Error>> {
        let page_bytes = const {
            let least = aligned::<F>(HEADER_BYTES)
                + aligned::<F>(MAX_RECORD)
                + MIN_RECORDS * aligned::<F>(8);
            least.next_multiple_of(F::ERASE_SIZE as u32)
        };
        let is_multiple = |edge: u32| edge.is_multiple_of(const { F::ERASE_SIZE as u32 });
        let Some(bytes) = range.end.checked_sub(range.start) else { return Err(Error::Range) };
        if !is_multiple(range.start) || !is_multiple(range.end) {
            return Err(Error::Range);
        }
        if u32::try_from(flash.capacity()).is_ok_and(|capacity| range.end > capacity) {
            return Err(Error::Range);
        }
        let pages = bytes.checked_div(page_bytes).unwrap_or(0);
        if pages < 2 {
            return Err(Error::TooSmall { needed: 2 * page_bytes });
        }
        Ok(Self { first: range.start, pages, page_bytes })
    }

    /// How many pages there are, two at least.
    pub const fn pages(&self) -> u32 {
        self.pages
    }

    /// Where a page begins, with its header.
    pub const fn start(&self, page: u32) -> u32 {
        self.first.wrapping_add(page.wrapping_mul(self.page_bytes))
    }

    /// Where it ends.
    pub const fn end(&self, page: u32) -> u32 {
        self.start(page).wrapping_add(self.page_bytes)
    }

    /// Half way.
    pub const fn middle(&self, page: u32) -> u32 {
        self.start(page).wrapping_add(self.page_bytes / 2)
    }

    /// Where its first record begins.
    pub const fn first_record<F: NorFlash>(&self, page: u32) -> u32 {
        self.start(page).wrapping_add(aligned::<F>(HEADER_BYTES))
    }

    /// So many pages on, the first following the last.
    pub const fn after(&self, page: u32, steps: u32) -> u32 {
        match page.wrapping_add(steps).checked_rem(self.pages) {
            Some(page) => page,
            None => 0,
        }
    }
}
