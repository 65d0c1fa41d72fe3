//! Moves as people and programs write them: SAN, and what comes near it.
//!
//! Long algebraic (`e2-e4`, `Ng1xf3`), UCI (`g1f3`, `e7e8q`), promotions in other dress (`a8Q`,
//! `a8/Q`, `a8(Q)`), `e.p.`, castling with zeros, figurines, signs for capture left out. Letters
//! of other languages are not guessed: `D` is a queen in German, but may be anything elsewhere.
use kibitzer_core::shakmaty::{
    CastlingSide, Chess, File, Move, Position as _, Rank, Role, Square, san::SanPlus,
};

/// Why a word is not taken for a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misspelt {
    /// It is none in any position.
    NoMove,
    /// It says that none is made, as `--` does.
    Null,
    /// The position does not allow it.
    Illegal,
    /// The position allows several.
    Ambiguous,
}

/// Bytes of the longest move that can be made sense of, dressed up by figurines and dashes.
const LONGEST: usize = 24;

/// The move that `word` names in `position`, whether SAN or near it. It must take something if
/// there is a sign for it.
///
/// # Errors
/// [`Misspelt`].
pub fn find(position: &Chess, word: &[u8]) -> Result<Move, Misspelt> {
    if let Some(mv) = SanPlus::from_ascii(word).ok().and_then(|san| san.san.to_move(position).ok())
    {
        return Ok(mv);
    }
    let mut found = all(position, word)?;
    if word.contains(&b'x') || word.contains(&b':') {
        found.retain(|mv| mv.is_capture());
    }
    match found[..] {
        [mv] => Ok(mv),
        [] => Err(Misspelt::Illegal),
        _ => Err(Misspelt::Ambiguous),
    }
}

/// All moves that `word` may name in `position`, whether or not there is a sign for a capture.
///
/// # Errors
/// [`Misspelt`], but not that it is ambiguous.
pub fn all(position: &Chess, word: &[u8]) -> Result<Vec<Move>, Misspelt> {
    let plain = plain(word).ok_or(Misspelt::NoMove)?;
    if matches!(plain.as_str(), "--" | "0000" | "Z0" | "null" | "pass" | "@@@@" | "<>") {
        return Err(Misspelt::Null);
    }
    let spelt = Spelt::parse(&plain).ok_or(Misspelt::NoMove)?;
    let moves = position.legal_moves().into_iter();
    let found: Vec<Move> = moves.filter(|&mv| spelt.may_be(mv)).collect();
    if found.is_empty() { Err(Misspelt::Illegal) } else { Ok(found) }
}

/// A word in ASCII: figurines as letters, all dashes alike, signs after the move left out; `None`
/// if that cannot be.
fn plain(word: &[u8]) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let letter = |c: char| match c {
        // White's figurines, then Black's.
        '\u{2654}'..='\u{265f}' => {
            Some(char::from(b"KQRBNP"[(u32::from(c) - 0x2654) as usize % 6]))
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{d7}' => Some('x'),
        _ => c.is_ascii_graphic().then_some(c),
    };
    let text: String =
        std::str::from_utf8(word).ok()?.chars().map(letter).collect::<Option<_>>()?;
    let signs: &[char] = &['+', '#', '!', '?'];
    let text = text.trim_end_matches(signs);
    let text = text.strip_suffix("e.p.").or_else(|| text.strip_suffix("ep")).unwrap_or(text);
    Some(text.trim_end_matches(signs).to_owned())
}

/// What a word says of the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelt {
    Castle(CastlingSide),
    Normal {
        /// `None` where only squares are given, as in UCI.
        role: Option<Role>,
        file: Option<File>,
        rank: Option<Rank>,
        to: Square,
        promotion: Option<Role>,
    },
}

impl Spelt {
    fn parse(plain: &str) -> Option<Spelt> {
        match plain {
            "O-O" | "0-0" | "o-o" => return Some(Spelt::Castle(CastlingSide::KingSide)),
            "O-O-O" | "0-0-0" | "o-o-o" => return Some(Spelt::Castle(CastlingSide::QueenSide)),
            _ => {}
        }
        let mut rest = plain.as_bytes();
        let role = match rest {
            [letter @ (b'K' | b'Q' | b'R' | b'B' | b'N' | b'P'), ..] => {
                rest = &rest[1..];
                Role::from_char(char::from(*letter))
            }
            _ => None,
        };
        let promotion = match promotion(&mut rest) {
            Some(letter) => Some(promoted(letter)?),
            None => None,
        };
        let (before, to) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let to = Square::from_ascii(to).ok()?;
        let before = before.strip_suffix(b"x").or(before.strip_suffix(b"-")).unwrap_or(before);
        let before = before.strip_suffix(b":").unwrap_or(before);
        let file = |byte: u8| File::from_char(char::from(byte));
        let rank = |byte: u8| Rank::from_char(char::from(byte));
        let (file, rank) = match *before {
            [] => (None, None),
            [byte] if byte.is_ascii_digit() => (None, Some(rank(byte)?)),
            [byte] => (Some(file(byte)?), None),
            [a, b] => (Some(file(a)?), Some(rank(b)?)),
            _ => return None,
        };
        // A square to move from tells the piece; else it is a pawn that has no letter.
        let squares_only = file.is_some() && rank.is_some();
        let role = role.or((!squares_only).then_some(Role::Pawn));
        Some(Spelt::Normal { role, file, rank, to, promotion })
    }

    fn may_be(self, mv: Move) -> bool {
        match self {
            Spelt::Castle(side) => mv.castling_side() == Some(side),
            Spelt::Normal { role, file, rank, to, promotion } => {
                let (Some(from), target) = ends(mv) else { return false };
                // Castling is spelt as a king's move only with both its squares.
                let whole = file.is_some() && rank.is_some();
                target == to
                    && role.is_none_or(|role| role == mv.role())
                    && file.is_none_or(|file| file == from.file())
                    && rank.is_none_or(|rank| rank == from.rank())
                    && promotion == mv.promotion()
                    && (whole || mv.castling_side().is_none())
            }
        }
    }
}

/// Where the piece stood, and where it stands after the move.
fn ends(mv: Move) -> (Option<Square>, Square) {
    match (mv, mv.castling_side()) {
        (Move::Castle { king, .. }, Some(side)) => {
            (Some(king), Square::from_coords(side.king_to_file(), king.rank()))
        }
        _ => (mv.from(), mv.to()),
    }
}

/// Cuts the promotion off a move, `=Q`, `/Q`, `(Q)` or `Q`, and returns its letter.
fn promotion(rest: &mut &[u8]) -> Option<u8> {
    let (before, letter) = match *rest {
        [before @ .., b'(', letter, b')'] | [before @ .., b'=' | b'/', letter] => (before, letter),
        [before @ .., letter] if before.ends_with(b"1") || before.ends_with(b"8") => {
            (before, letter)
        }
        _ => return None,
    };
    *rest = before;
    Some(*letter)
}

/// What a pawn may become.
fn promoted(letter: u8) -> Option<Role> {
    Role::from_char(char::from(letter)).filter(|role| !matches!(role, Role::King | Role::Pawn))
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;
    use crate::network::uci;

    fn spelt(fen: &str, word: &str) -> Result<String, Misspelt> {
        find(&parse_fen(fen).unwrap(), word.as_bytes()).map(uci)
    }

    #[test]
    fn a_move_is_found_however_it_is_spelt() {
        let fen = "r3k3/1P3pp1/8/3pPn2/8/5N2/1P1P4/R3K2R w KQq d6 0 1";
        for (words, mv) in [
            ("d2-d4 d2d4 d4 d2\u{2013}d4 Pd2-d4 d4! d4?!", "d2d4"),
            ("exd6 e5xd6 e5d6 e5:d6 ed6 exd6e.p. exd6ep e5-d6 e5xd6+e.p. e\u{d7}d6", "e5d6"),
            ("bxa8=Q bxa8Q bxa8/Q bxa8(Q) b7a8q b7xa8=Q+ bxa8=q ba8Q# b7-a8Q", "b7a8q"),
            ("b8=N b8N b8(N) b7b8n b8/n b7-b8=N", "b7b8n"),
            ("Nd4 Nf3-d4 Nf3d4 f3d4 f3-d4 \u{2658}d4 \u{265e}f3-d4 Nfd4 N3d4", "f3d4"),
            ("O-O 0-0 0\u{2013}0 o-o O-O+ e1g1 Ke1-g1 Ke1g1", "e1g1"),
            ("O-O-O 0-0-0 0-0-0# e1c1", "e1c1"),
            ("Rh8+ Rh8 Rh1-h8 Rhh8", "h1h8"),
        ] {
            for word in words.split(' ') {
                assert_eq!(spelt(fen, word).as_deref(), Ok(mv), "{word}");
            }
        }
    }

    #[test]
    fn what_is_no_move_not_legal_or_not_clear_is_told_apart() {
        let fen = "4k3/P7/8/8/8/2N3N1/8/4K3 w - - 0 1";
        for (words, why) in [
            (
                "Sf6 Df3 Tad1 e9 i4 N e x e4e5e6 a8=X a8=K a8=P Qd Nf exd 12 e4. \u{fc} a8= a8(",
                Misspelt::NoMove,
            ),
            ("-- 0000 Z0 null \u{2014}\u{2014} @@@@", Misspelt::Null),
            ("a8 Nb3 e4 Kg1 e1g1 O-O axb8=Q Nxb5 h7h8q Ke1e3", Misspelt::Illegal),
            ("Ne4 Ne2", Misspelt::Ambiguous),
        ] {
            for word in words.split(' ') {
                assert_eq!(spelt(fen, word), Err(why), "{word}");
            }
        }
        let both = all(&parse_fen(fen).unwrap(), b"Ne4").unwrap();
        assert_eq!(both.len(), 2);
        assert_eq!(find(&Chess::default(), &[0xff, 0xfe]), Err(Misspelt::NoMove));
    }
}
