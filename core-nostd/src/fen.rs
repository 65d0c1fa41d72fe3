//! A FEN's fields, read without a panic that a compiler could not rule out.
//!
//! What [`shakmaty`]'s own reader takes for other kinds of chess (pockets, remaining checks) is
//! refused.
use core::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, Color, File, Piece, Rank, Setup, Square,
    fen::ParseFenError::{
        self, InvalidBoard, InvalidCastling, InvalidEpSquare, InvalidFen, InvalidFullmoves,
        InvalidHalfmoveClock, InvalidTurn,
    },
};

/// Reads the fields, which spaces or underscores part; only the first must be there.
pub fn read(text: &[u8]) -> Result<Setup, ParseFenError> {
    let mut fields = text.split(|byte| matches!(byte, b' ' | b'_')).filter(|f| !f.is_empty());
    let mut setup = Setup::empty();
    setup.board = board(fields.next().ok_or(InvalidFen)?).ok_or(InvalidBoard)?;
    match fields.next() {
        Some(b"w") | None => (),
        Some(b"b") => setup.turn = Color::Black,
        Some(_) => return Err(InvalidTurn),
    }
    let is_given = |field: &&[u8]| *field != b"-";
    if let Some(field) = fields.next().filter(is_given) {
        setup.castling_rights = castling_rights(field, &setup.board).ok_or(InvalidCastling)?;
    }
    if let Some(field) = fields.next().filter(is_given) {
        setup.ep_square = Some(Square::from_ascii(field).map_err(|_| InvalidEpSquare)?);
    }
    if let Some(field) = fields.next() {
        setup.halfmoves = number(field).ok_or(InvalidHalfmoveClock)?;
    }
    if let Some(field) = fields.next() {
        let number = number(field).ok_or(InvalidFullmoves)?;
        setup.fullmoves = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    }
    if fields.next().is_some() { Err(InvalidFen) } else { Ok(setup) }
}

/// The board's ranks from the eighth down; a piece may be marked by `~` as promoted.
fn board(field: &[u8]) -> Option<Board> {
    let mut board = Board::empty();
    let mut ranks = field.split(|&byte| byte == b'/');
    for rank in Rank::ALL.into_iter().rev() {
        let mut files = File::ALL.into_iter();
        let mut after_piece = false;
        for &byte in ranks.next()? {
            match byte {
                b'~' if after_piece => after_piece = false,
                b'1'..=b'8' => {
                    files.nth(usize::from(byte - b'1'))?;
                    after_piece = false;
                }
                _ => {
                    let piece = Piece::from_char(char::from(byte))?;
                    board.set_piece_at(Square::from_coords(files.next()?, rank), piece);
                    after_piece = true;
                }
            }
        }
        if files.next().is_some() {
            return None;
        }
    }
    ranks.next().is_none().then_some(board)
}

/// The rooks that may castle: `K`, `Q` the outermost, or its file's letter; Black's in lower case.
fn castling_rights(field: &[u8], board: &Board) -> Option<Bitboard> {
    let mut rights = Bitboard::EMPTY;
    for &letter in field {
        let color = Color::from_white(letter.is_ascii_uppercase());
        let home = color.backrank();
        let men = (board.rooks() | board.kings()) & board.by_color(color) & home;
        let rook = |man: Option<Square>, corner| {
            man.filter(|&man| board.rooks().contains(man))
                .unwrap_or_else(|| Square::from_coords(corner, home))
        };
        rights.add(match letter.to_ascii_lowercase() {
            b'k' => rook(men.last(), File::H),
            b'q' => rook(men.first(), File::A),
            file => Square::from_coords(File::from_char(char::from(file))?, home),
        });
    }
    let many = |color: Color| (rights & color.backrank()).count() > 2;
    (!Color::ALL.into_iter().any(many)).then_some(rights)
}

/// A number in digits, or the largest there is.
fn number(field: &[u8]) -> Option<u32> {
    field.iter().try_fold(0u32, |number, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}
