//! Which groups are held out.

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
}
