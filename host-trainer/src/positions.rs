//! When two positions are the same.
use kibitzer_core::shakmaty::{Chess, EnPassantMode, Position as _, zobrist::Zobrist128};

/// The name of a position: the same pieces, side to move, castling rights and legal captures in
/// passing have the same, by whatever moves and at whatever move number.
pub fn key(position: &Chess) -> u128 {
    let hash: Zobrist128 = position.zobrist_hash(EnPassantMode::Legal);
    hash.into()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    #[test]
    fn counters_and_idle_en_passant_squares_do_not_tell_positions_apart() {
        let key = |fen: &str| key(&parse_fen(fen).unwrap());
        let plain = key("4k3/8/8/8/4P3/8/8/4K2R b K - 0 1");
        assert_eq!(plain, key("4k3/8/8/8/4P3/8/8/4K2R b K e3 7 30"));
        assert_ne!(plain, key("4k3/8/8/8/4P3/8/8/4K2R b - - 0 1"));
        assert_ne!(plain, key("4k3/8/8/8/4P3/8/8/4K2R w K - 0 1"));
        let passing = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1";
        assert_ne!(key(passing), key("4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1"));
    }
}
