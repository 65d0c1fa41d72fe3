//! How many positions may still be looked at: a count, not a time, so that every machine stops
//! alike.
use core::cell::Cell;

/// Positions that may still be looked at. A position counts when an exchange search enters it,
/// and when it follows a legal move that is listed to be looked at.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u32>,
    short: Cell<bool>,
}

impl Budget {
    /// As many as this.
    pub const fn new(positions: u32) -> Budget {
        Budget { left: Cell::new(positions), short: Cell::new(false) }
    }

    /// More than anything needs.
    pub const fn unlimited() -> Budget {
        Budget::new(u32::MAX)
    }

    /// How many are left.
    pub const fn left(&self) -> u32 {
        self.left.get()
    }

    /// Whether something was left out for lack of positions.
    pub const fn fell_short(&self) -> bool {
        self.short.get()
    }

    /// Notes that something is left out.
    pub fn fall_short(&self) {
        self.short.set(true);
    }

    /// Takes off what was looked at.
    pub fn take(&self, positions: u32) {
        self.left.set(self.left().saturating_sub(positions));
    }

    /// Whether something may be looked at at all; if not, it is noted as left out.
    pub fn allows(&self) -> bool {
        if self.left() == 0 {
            self.fall_short();
        }
        self.left() > 0
    }

    /// Sets a part aside, this many at most.
    pub fn part(&self, positions: u32) -> Budget {
        let part = positions.min(self.left());
        self.take(part);
        Budget::new(part)
    }

    /// Takes back what is left of a part.
    pub fn put_back(&self, part: &Budget) {
        self.left.set(self.left().saturating_add(part.left()));
        self.short.set(self.fell_short() || part.fell_short());
    }
}
