//! A game and its settings in flash, which outlive the loss of power at any moment.
//!
//! A [`Storage`] keeps a log in at least two pages of a chip's flash. A page begins with a header,
//! which is written last, and a record of the whole game; behind it one small record follows for
//! every change, as a rule a move: eight bytes, where the chip writes so few. Where a page has no
//! room left the next begins, in turn, so that all are worn alike.
//!
//! A record holds if its checksum does, and it holds whole or not at all: what was saved before it
//! is never touched. So whenever power fails, the game that is loaded is the one saved last or the
//! one that was being saved.
//!
//! - `layout`: what lies where.
//! - `stream`: bytes out of flash and into it, with their checksum.
//! - `record`: what a record and a header hold.
//! - `ply`, `start`: a move and a position in few bytes.
//! - `saved`: what flash holds, and so what has changed since.
//!
//! A chip that writes whole words or rows wastes the rest of the last; a flash that takes several
//! writes to one row (most chips on an SPI bus, 256 bytes) is better described by a `WRITE_SIZE` of
//! 1, its driver leaving the other bytes of the row at 0xff.
mod layout;
mod ply;
mod record;
mod saved;
mod start;
mod stream;

use core::fmt;
use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use crate::game::Game;
use layout::Area;
use record::{Applied, Found};
use saved::{Change, Saved};

/// Bytes that the settings may have.
pub const MAX_SETTINGS: usize = 64;

/// Why a game could not be saved or loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Error<E> {
    /// The chip's driver failed.
    Flash(E),
    /// The range of flash does not begin and end where the chip's erased parts do, or reaches
    /// beyond its end.
    Range,
    /// The range has fewer bytes than two pages of the log.
    TooSmall {
        /// Bytes that it must have at least.
        needed: u32,
    },
    /// More than [`MAX_SETTINGS`] bytes of settings; so many.
    Settings(usize),
    /// What was written does not read back, on no page.
    Worn,
}

impl<E: fmt::Debug> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Flash(error) => write!(f, "the flash's driver failed: {error:?}"),
            Error::Range => f.write_str("the range for saved games does not fit the flash's parts"),
            Error::TooSmall { needed } => {
                write!(f, "the range for saved games is too small; it needs {needed} bytes")
            }
            Error::Settings(bytes) => {
                write!(f, "{bytes} bytes of settings; {MAX_SETTINGS} are allowed")
            }
            Error::Worn => f.write_str("the flash no longer keeps what is written; replace it"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}

/// How a log ended that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Loaded {
    /// Nothing was ever saved; the game is as it was.
    Nothing,
    /// Every record holds.
    Whole,
    /// The last record is damaged, as after a loss of power: the game is the one saved before.
    Cut,
    /// The newest page is damaged: the game is the last of the page before it.
    Older,
    /// A record holds, yet says what the rules forbid, as after a change of the firmware: the game
    /// ends before it.
    Illegal,
}

/// Saved games in a range of flash.
#[derive(Debug, Clone)]
pub struct Storage<F> {
    flash: F,
    area: Area,
    /// The page that the game is on.
    page: Option<u32>,
    /// The highest number that a page has.
    sequence: u32,
    /// Where the page's next record begins, if it may take one.
    tail: Option<u32>,
    saved: Saved,
}

impl<F: NorFlash> Storage<F> {
    /// Takes over a range of the flash's bytes, for nothing else to be written there. A game that
    /// is there is to be [loaded](Storage::load) before one is saved; otherwise the first to be
    /// saved replaces it.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::TooSmall`].
    pub fn mount(flash: F, range: Range<u32>) -> Result<Self, Error<F::Error>> {
        let area = Area::new::<F>(&flash, range)?;
        Ok(Self { flash, area, page: None, sequence: 0, tail: None, saved: Saved::unknown() })
    }

    /// Gives the flash back.
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// The settings that flash holds; none before [`Storage::load`] or [`Storage::save`].
    pub fn settings(&self) -> &[u8] {
        self.saved.settings()
    }

    /// Brings `game` to where it was saved last.
    ///
    /// # Errors
    /// [`Error::Flash`]; the game may then be any.
    pub fn load(&mut self, game: &mut Game) -> Result<Loaded, Error<F::Error>> {
        self.saved.forget();
        (self.page, self.sequence, self.tail) = (None, 0, None);
        let mut newer = None;
        while let Some((page, sequence)) = self.newest_below(newer)? {
            self.sequence = self.sequence.max(sequence);
            if let Some(end) = self.replay(page, game)? {
                self.page = Some(page);
                self.saved.keep(game);
                if newer.is_none() {
                    return Ok(end);
                }
                // Records are appended to the newest page alone.
                self.tail = None;
                return Ok(Loaded::Older);
            }
            newer = Some(sequence);
        }
        Ok(Loaded::Nothing)
    }

    /// Saves `game` and settings, at most [`MAX_SETTINGS`] bytes of whatever meaning: nothing is
    /// written where neither has changed, and only what has.
    ///
    /// # Errors
    /// [`Error::Flash`], [`Error::Settings`], [`Error::Worn`]. What was saved before is still there,
    /// and the next call tries again.
    pub fn save(&mut self, game: &Game, settings: &[u8]) -> Result<(), Error<F::Error>> {
        if settings.len() > MAX_SETTINGS {
            return Err(Error::Settings(settings.len()));
        }
        let change = self.saved.change(game, settings);
        if change.is_nothing() {
            return Ok(());
        }
        if !self.append(game, settings, &change)? {
            self.begin_page(game, settings)?;
        }
        self.saved.keep(game);
        self.saved.keep_settings(settings);
        Ok(())
    }

    /// The page whose number is the highest of those below `bound`.
    fn newest_below(&mut self, bound: Option<u32>) -> Result<Option<(u32, u32)>, Error<F::Error>> {
        let mut newest = None;
        for page in 0..self.area.pages() {
            let Some(sequence) = record::read_header(&mut self.flash, self.area.start(page))?
            else {
                continue;
            };
            let is_candidate = bound.is_none_or(|bound| sequence < bound);
            if is_candidate && newest.is_none_or(|(_, newest)| sequence > newest) {
                newest = Some((page, sequence));
            }
        }
        Ok(newest)
    }

    /// Plays what a page's records say; `None` if the first does not hold.
    fn replay(&mut self, page: u32, game: &mut Game) -> Result<Option<Loaded>, Error<F::Error>> {
        let end = self.area.end(page);
        let first = self.area.first_record::<F>(page);
        let mut at = first;
        loop {
            let record = match record::find(&mut self.flash, at, end)? {
                Found::Record(record) if at > first || record.is_whole_game() => record,
                Found::Record(_) => return Ok(None),
                Found::Blank if at == first => return Ok(None),
                Found::Blank if record::is_blank(&mut self.flash, at, end)? => {
                    self.tail = Some(at);
                    return Ok(Some(Loaded::Whole));
                }
                Found::Full => return Ok(Some(Loaded::Whole)),
                Found::Blank | Found::Damaged => {
                    return Ok((at > first).then_some(Loaded::Cut));
                }
            };
            match record::apply(&mut self.flash, &record, game, &mut self.saved)? {
                Applied::Whole => at = record.end,
                Applied::Refused if at == first => return Ok(None),
                Applied::Refused | Applied::Illegal => return Ok(Some(Loaded::Illegal)),
            }
        }
    }

    /// Adds a record to the page; whether there was room for it and it holds.
    fn append(
        &mut self,
        game: &Game,
        settings: &[u8],
        change: &Change,
    ) -> Result<bool, Error<F::Error>> {
        let (Some(page), Some(at)) = (self.page, self.tail) else { return Ok(false) };
        if change.begins && at > self.area.middle(page) {
            // To erase takes up to a second or two: better now than amid a game.
            return Ok(false);
        }
        let end = self.area.end(page);
        let Some(next) = record::end_of::<F>(at, change, settings).filter(|&next| next <= end)
        else {
            return Ok(false);
        };
        // What fails has perhaps written a part.
        self.tail = None;
        record::write(&mut self.flash, at, game, settings, change)?;
        let holds = self.holds(at, end, next)?;
        self.tail = holds.then_some(next);
        Ok(holds)
    }

    /// Whether a record reads back from `at` to `next`.
    fn holds(&mut self, at: u32, end: u32, next: u32) -> Result<bool, Error<F::Error>> {
        let found = record::find(&mut self.flash, at, end)?;
        Ok(matches!(found, Found::Record(record) if record.end == next))
    }

    /// Writes all there is to another page, the next that keeps it.
    fn begin_page(&mut self, game: &Game, settings: &[u8]) -> Result<(), Error<F::Error>> {
        let pages = self.area.pages();
        if self.page.is_none() {
            self.look_for_pages()?;
        }
        // All but the one that the game is on.
        let (last, others) = match self.page {
            Some(page) => (page, pages.saturating_sub(1)),
            None => (pages.saturating_sub(1), pages),
        };
        self.tail = None;
        for step in 1..=others {
            let page = self.area.after(last, step);
            if self.try_page(page, game, settings)? {
                return Ok(());
            }
        }
        Err(Error::Worn)
    }

    /// Where nothing was loaded: the page to be spared is the newest.
    fn look_for_pages(&mut self) -> Result<(), Error<F::Error>> {
        if let Some((page, sequence)) = self.newest_below(None)? {
            (self.page, self.sequence) = (Some(page), sequence);
        }
        Ok(())
    }

    /// Erases a page and writes all there is to it; whether it reads back.
    fn try_page(
        &mut self,
        page: u32,
        game: &Game,
        settings: &[u8],
    ) -> Result<bool, Error<F::Error>> {
        let (start, end) = (self.area.start(page), self.area.end(page));
        self.flash.erase(start, end).map_err(Error::Flash)?;
        let at = self.area.first_record::<F>(page);
        let change = Change::everything(game);
        let Some(next) = record::end_of::<F>(at, &change, settings) else { return Ok(false) };
        record::write(&mut self.flash, at, game, settings, &change)?;
        if !self.holds(at, end, next)? {
            return Ok(false);
        }
        // No two pages have one number, whatever comes of this one.
        let sequence = self.sequence.saturating_add(1);
        self.sequence = sequence;
        record::write_header(&mut self.flash, start, sequence)?;
        if record::read_header(&mut self.flash, start)? != Some(sequence) {
            return Ok(false);
        }
        (self.page, self.tail) = (Some(page), Some(next));
        Ok(true)
    }
}
