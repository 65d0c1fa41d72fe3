//! What the network reads of a position, and the numbers of its moves.
use kibitzer_core::shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Role, Square,
};

/// Tokens and scalars.
pub struct Inputs {
    pub tokens: [usize; 64],
    pub scalars: [i128; 7],
}

/// Whether the network sees the board mirrored.
fn is_mirrored(position: &Chess, mover: bool) -> bool {
    mover && position.turn() == Color::Black
}

/// The number of a square, as the network sees it.
fn square_number(square: Square, mirrored: bool) -> usize {
    square.to_usize() ^ if mirrored { 56 } else { 0 }
}

impl Inputs {
    pub fn of(position: &Chess, mover: bool) -> Inputs {
        let mirrored = is_mirrored(position, mover);
        let color = |color: Color| if mirrored { !color } else { color };
        let mut tokens = [0; 64];
        for (square, piece) in position.board().clone() {
            let kinds =
                [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
            let kind = kinds.iter().position(|&kind| kind == piece.role).unwrap();
            let black = color(piece.color) == Color::Black;
            tokens[square_number(square, mirrored)] = 1 + kind + if black { 6 } else { 0 };
        }
        let right = |of, side| i128::from(position.castles().has(color(of), side));
        let passing = position.ep_square(EnPassantMode::Legal);
        let scalars = [
            i128::from(color(position.turn()) == Color::White),
            right(Color::White, CastlingSide::KingSide),
            right(Color::White, CastlingSide::QueenSide),
            right(Color::Black, CastlingSide::KingSide),
            right(Color::Black, CastlingSide::QueenSide),
            passing.map_or(-7, |square| i128::from(square.file().to_u32())),
            i128::from(position.halfmoves().min(100)),
        ];
        Inputs { tokens, scalars }
    }
}

/// A move's number, and the square that it leads to.
pub fn move_number(position: &Chess, mv: Move, mover: bool) -> (usize, usize) {
    let mirrored = is_mirrored(position, mover);
    let from = square_number(mv.from().unwrap(), mirrored);
    let to = match mv {
        Move::Castle { king, rook } if rook > king => square_number(king, mirrored) + 2,
        Move::Castle { king, .. } => square_number(king, mirrored) - 2,
        _ => square_number(mv.to(), mirrored),
    };
    let files = to as i32 % 8 - from as i32 % 8;
    let ranks = to as i32 / 8 - from as i32 / 8;
    let small = |kind: usize| 64 + 3 * kind + (files + 1) as usize;
    let plane = match mv.promotion() {
        Some(Role::Knight) => small(0),
        Some(Role::Bishop) => small(1),
        Some(Role::Rook) => small(2),
        _ => plane(files, ranks),
    };
    (73 * from + plane, to)
}

/// The plane of a move so many files to the right and ranks up.
fn plane(files: i32, ranks: i32) -> usize {
    let jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    if let Some(jump) = jumps.iter().position(|&jump| jump == (files, ranks)) {
        return 56 + jump;
    }
    let directions = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
    let direction = (files.signum(), ranks.signum());
    let d = directions.iter().position(|&other| other == direction).unwrap();
    7 * d + files.abs().max(ranks.abs()) as usize - 1
}
