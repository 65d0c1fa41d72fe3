//! What a page's header and its records hold.
//!
//! A header: the mark `KBLG`, the format's version (16 bits) and zero (16 bits), the page's number
//! (32 bits), which grows by one from page to page, the checksum.
//!
//! A record: its length and its kind, then, as the kind says, a packed start of a game; settings,
//! behind their length (8 bits); a number of moves taken back (16 bits); and moves played, to the
//! record's end (16 bits each); the checksum. Numbers have their low byte first.
use embedded_storage::nor_flash::NorFlash;

use crate::game::{Game, MAX_PLIES};

use super::layout::aligned;
use super::saved::{Change, Saved};
use super::stream::{CRC_BYTES, ERASED, Reader, Writer};
use super::{Error, MAX_SETTINGS, ply, start};

const MARK: [u8; 4] = *b"KBLG";
const VERSION: u16 = 1;
/// Bytes of a header.
pub const HEADER_BYTES: u32 = 12 + CRC_BYTES;

/// Bytes of the length and the kind.
const HEAD_BYTES: u32 = 2;
/// The length has the lower bits, the kind three more.
const LENGTH: u16 = 0x1fff;
const START: u16 = 1 << 13;
const SETTINGS: u16 = 1 << 14;
const BACK: u16 = 1 << 15;
/// Where nothing is written.
const BLANK: u16 = u16::from_le_bytes([ERASED; 2]);
/// The longest body.
const MAX_BODY: u32 = start::BYTES as u32 + 1 + MAX_SETTINGS as u32 + 2 + 2 * MAX_PLIES as u32;
/// The longest record.
pub const MAX_RECORD: u32 = HEAD_BYTES + MAX_BODY + CRC_BYTES;
// No record can be taken for a blank.
const _: () = assert!(MAX_BODY < LENGTH as u32);

/// The number of the page whose header begins at `at`, if it has one.
pub fn read_header<F: NorFlash>(flash: &mut F, at: u32) -> Result<Option<u32>, Error<F::Error>> {
    let mut reader = Reader::new(flash, at, HEADER_BYTES);
    let mark = reader.take()?;
    let version = reader.take()?.map(u16::from_le_bytes);
    let zero = reader.take()?;
    let number = reader.take()?.map(u32::from_le_bytes);
    let is_ours = mark == Some(MARK) && version == Some(VERSION) && zero == Some([0; 2]);
    Ok(if reader.checks()? && is_ours { number } else { None })
}

/// Writes the header of the page with this number.
pub fn write_header<F: NorFlash>(
    flash: &mut F,
    at: u32,
    number: u32,
) -> Result<(), Error<F::Error>> {
    let mut writer = Writer::new(flash, at);
    writer.put(&MARK)?;
    writer.put(&VERSION.to_le_bytes())?;
    writer.put(&[0; 2])?;
    writer.put(&number.to_le_bytes())?;
    writer.finish()
}

/// What lies where a record may begin.
pub enum Found {
    /// A record that holds.
    Record(Record),
    /// Nothing so far.
    Blank,
    /// Something that is no record.
    Damaged,
    /// The page's end.
    Full,
}

/// A record's place, and its kind.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    kind: u16,
    body: u32,
    length: u32,
    /// Where the next may begin.
    pub end: u32,
}

impl Record {
    /// Whether it needs no other before it.
    pub const fn is_whole_game(&self) -> bool {
        self.kind & (START | SETTINGS) == START | SETTINGS
    }
}

/// Looks for a record at `at` on a page that ends at `end`.
pub fn find<F: NorFlash>(flash: &mut F, at: u32, end: u32) -> Result<Found, Error<F::Error>> {
    let room = end.saturating_sub(at);
    if room < aligned::<F>(HEAD_BYTES + CRC_BYTES) {
        return Ok(Found::Full);
    }
    let head = Reader::new(flash, at, HEAD_BYTES).take()?.map(u16::from_le_bytes);
    let Some(head) = head.filter(|&head| head != BLANK) else { return Ok(Found::Blank) };
    let length = u32::from(head & LENGTH);
    let bytes = HEAD_BYTES + length + CRC_BYTES;
    if length > MAX_BODY || aligned::<F>(bytes) > room {
        return Ok(Found::Damaged);
    }
    let mut reader = Reader::new(flash, at, bytes);
    for _ in 0..HEAD_BYTES + length {
        reader.take::<1>()?;
    }
    if !reader.checks()? {
        return Ok(Found::Damaged);
    }
    let (body, end) = (at.wrapping_add(HEAD_BYTES), at.wrapping_add(aligned::<F>(bytes)));
    Ok(Found::Record(Record { kind: head & !LENGTH, body, length, end }))
}

/// Whether nothing is written from `at` to `end`.
pub fn is_blank<F: NorFlash>(flash: &mut F, at: u32, end: u32) -> Result<bool, Error<F::Error>> {
    let mut reader = Reader::new(flash, at, end.saturating_sub(at));
    while let Some(byte) = reader.next()? {
        if byte != ERASED {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What came of a record.
pub enum Applied {
    /// All of it.
    Whole,
    /// Nothing: it makes no sense.
    Refused,
    /// A part, up to what the rules forbid.
    Illegal,
}

/// Does to `game` and to the settings what a record says.
pub fn apply<F: NorFlash>(
    flash: &mut F,
    record: &Record,
    game: &mut Game,
    saved: &mut Saved,
) -> Result<Applied, Error<F::Error>> {
    let mut reader = Reader::new(flash, record.body, record.length);
    if record.kind & START > 0 {
        let packed = reader.take()?;
        let Some(start) = packed.as_ref().and_then(start::unpack) else {
            return Ok(Applied::Refused);
        };
        game.restart(start);
    }
    if record.kind & SETTINGS > 0 {
        let Some([length]) = reader.take()? else { return Ok(Applied::Illegal) };
        let mut settings = [0; MAX_SETTINGS];
        let Some(settings) = settings.get_mut(..usize::from(length)) else {
            return Ok(Applied::Illegal);
        };
        for byte in &mut *settings {
            let Some([read]) = reader.take()? else { return Ok(Applied::Illegal) };
            *byte = read;
        }
        saved.keep_settings(settings);
    }
    if record.kind & BACK > 0 {
        let back = reader.take()?.map(u16::from_le_bytes).map(usize::from);
        let Some(back) = back.filter(|&back| back <= game.len()) else {
            return Ok(Applied::Illegal);
        };
        game.take_back(back);
    }
    while let Some(word) = reader.take()? {
        let Some((mv, maker)) = ply::unpack(u16::from_le_bytes(word), game.position()) else {
            return Ok(Applied::Illegal);
        };
        game.play(mv, maker);
    }
    Ok(Applied::Whole)
}

/// The bytes of a body.
fn body_bytes(change: &Change, settings: &[u8]) -> usize {
    let start = if change.start { start::BYTES } else { 0 };
    let settings = if change.settings { 1 + settings.len() } else { 0 };
    let back = if change.back > 0 { 2 } else { 0 };
    start + settings + back + 2 * change.plies
}

/// Where a record ends that begins at `at`; `None` if it were too long for any.
pub fn end_of<F: NorFlash>(at: u32, change: &Change, settings: &[u8]) -> Option<u32> {
    let body = u32::try_from(body_bytes(change, settings)).ok().filter(|&body| body <= MAX_BODY)?;
    at.checked_add(aligned::<F>(HEAD_BYTES + body + CRC_BYTES))
}

/// Writes a record that tells a change that led to `game` and `settings`.
pub fn write<F: NorFlash>(
    flash: &mut F,
    at: u32,
    game: &Game,
    settings: &[u8],
    change: &Change,
) -> Result<(), Error<F::Error>> {
    let flag = |is_there, kind| if is_there { kind } else { 0 };
    let kind =
        flag(change.start, START) | flag(change.settings, SETTINGS) | flag(change.back > 0, BACK);
    let mut writer = Writer::new(flash, at);
    let length = body_bytes(change, settings) as u16 & LENGTH;
    writer.put(&(kind | length).to_le_bytes())?;
    if change.start {
        writer.put(&start::pack(game.start()))?;
    }
    if change.settings {
        writer.put(&[settings.len() as u8])?;
        writer.put(settings)?;
    }
    if change.back > 0 {
        writer.put(&(change.back as u16).to_le_bytes())?;
    }
    for (mv, maker) in game.moves().skip(change.kept) {
        writer.put(&ply::pack(mv, maker).to_le_bytes())?;
    }
    writer.finish()
}
