//! Which groups are held out.
use crate::{
    error::UserError,
    pgn::{Date, Tags},
};

/// Share of the games or openings that is held out where nothing else is said.
pub const DEFAULT_SHARE: f64 = 0.05;

/// Whether the group (a game, an opening) with this hash is held out of training when `share`
/// (0 to 1) of all groups is. A group's side depends on its hash alone: it is the same in every
/// file and every order.
pub fn is_held_out(hash: u64, share: f64) -> bool {
    // The hash is remixed, so that the split is independent of any other use of it.
    let mixed = (hash ^ hash >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
}

/// How a file of records is split: its positions are merged over the games of one side only, so
/// that no game is on both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// By the games' hashes: this share of them is held out.
    Share(f64),
    /// By date: the games from this day on are held out.
    From(Date),
}

impl Split {
    /// By hash, with a share from 0 to 1, not 1.
    ///
    /// # Errors
    /// [`UserError`] that names the flag.
    pub fn by_share(share: f64) -> Result<Split, UserError> {
        if (0.0..1.0).contains(&share) {
            return Ok(Split::Share(share));
        }
        Err(UserError::new("a share out of range", "--held-out", "give 0 or more, below 1"))
    }

    /// Whether a game is held out; `None` if its date does not tell.
    pub fn holds_out(&self, game_hash: u64, tags: &Tags) -> Option<bool> {
        match self {
            Split::Share(share) => Some(is_held_out(game_hash, *share)),
            Split::From(start) => {
                let date = tags.date?;
                let (start, first, last) = (start.first(), date.first(), date.last());
                (first >= start || last < start).then_some(first >= start)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_kept_and_nothing_is_held_out_at_zero() {
        let hashes = (0..20_000u64).map(|i| i.wrapping_mul(0x0123_4567_89ab_cdef));
        let held = hashes.clone().filter(|&h| is_held_out(h, 0.1)).count();
        assert!((1_800..2_200).contains(&held), "{held}");
        assert!(!hashes.clone().any(|h| is_held_out(h, 0.0)));
        assert!(hashes.clone().all(|h| is_held_out(h, 1.0)));
    }

    #[test]
    fn a_date_that_may_be_on_either_side_tells_nothing() {
        let split = Split::From("2018.03".parse().unwrap());
        let held =
            |date: &str| split.holds_out(1, &Tags { date: date.parse().ok(), ..Tags::default() });
        assert_eq!(held("2018.03.01"), Some(true));
        assert_eq!(held("2018.02.28"), Some(false));
        assert_eq!(held("2019.??.??"), Some(true));
        assert_eq!(held("2018.??.??"), None);
        assert_eq!(held("????.??.??"), None);
        assert!(Split::by_share(1.0).is_err() && Split::by_share(f64::NAN).is_err());
    }
}
