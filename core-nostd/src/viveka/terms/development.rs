//! Development and castling.
use shakmaty::{Bitboard, Board, Chess, Color, File, Position as _, Role, Square, attacks};

use super::Term;
use crate::viveka::{
    facts::{Side, rank_of, relative_rank, stop},
    glance::Glance,
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "development",
        glance,
        good,
        development,
        "1 if a knight or bishop leaves its first square",
        "develops the {piece}"
    ),
    term!(
        "undeveloped_queen",
        glance,
        bad,
        early_queen,
        "minor pieces still at home when the queen moves out",
        "moves the queen with {n:minor piece} at home"
    ),
    term!("castles", glance, good, castles, "1 for castling", "castles"),
    term!(
        "loses_castling",
        glance,
        bad,
        loses_castling,
        "castling rights given up without castling",
        "gives up {n:castling right}"
    ),
    term!(
        "clears_castling",
        glance,
        good,
        clears_castling,
        "fewer pieces between the king and the nearest rook it may castle with",
        "takes {n:piece} out of the way of castling",
        "puts {n:piece} in the way of castling"
    ),
    term!(
        "moves_developed",
        glance,
        bad,
        moves_developed,
        "minor pieces at home when another, already out, moves without taking",
        "moves the {piece} again with {n:minor piece} at home"
    ),
    term!(
        "goes_home",
        glance,
        bad,
        goes_home,
        "1 if a knight, bishop or queen goes back to the first rank in the middlegame",
        "takes the {piece} back to the first rank"
    ),
    term!(
        "blocks_centre_pawn",
        glance,
        bad,
        blocks_centre_pawn,
        "1 if a piece stands before a d- or e-pawn that has not moved",
        "blocks a centre pawn with the {piece}"
    ),
    term!(
        "knight_rim",
        glance,
        bad,
        knight_rim,
        "1 if a knight lands on the a- or h-file",
        "puts the knight on the rim"
    ),
    term!(
        "fianchetto",
        glance,
        good,
        fianchetto,
        "1 if a bishop lands on b2 or g2, for Black b7 or g7, in the middlegame",
        "puts the bishop on the long diagonal"
    ),
    term!(
        "connects_rooks",
        glance,
        good,
        connects_rooks,
        "1 if two rooks on the first rank newly guard each other",
        "connects the rooks"
    ),
];

/// Knights and bishops of `color` on their first squares.
pub(super) fn at_home(board: &Board, color: Color) -> Bitboard {
    let minors = (board.knights() | board.bishops()) & board.by_color(color);
    let files = Bitboard::from_square(Square::B1) | Square::C1 | Square::F1 | Square::G1;
    minors & color.fold_wb(files, files.flip_vertical())
}

fn development(g: &Glance) -> i32 {
    let home = at_home(g.before.position.board(), g.before.us());
    i32::from(g.before.is_middlegame() && home.contains(g.from))
}

fn early_queen(g: &Glance) -> i32 {
    let out = g.role == Role::Queen && relative_rank(g.to, g.before.us()) >= 2;
    let home = at_home(g.before.position.board(), g.before.us()).count() as i32;
    if out { home } else { 0 }
}

fn castles(g: &Glance) -> i32 {
    i32::from(g.mv.is_castle())
}

fn loses_castling(g: &Glance) -> i32 {
    if g.mv.is_castle() {
        return 0;
    }
    let rights = |position: &Chess| {
        let home = rank_of(0, g.before.us());
        (position.castles().castling_rights() & home).count() as i32
    };
    rights(g.before.position) - rights(&g.after)
}

/// Pieces between the king of the side that moves and the nearest rook it may castle with.
fn in_the_way(position: &Chess, us: &Side) -> Option<i32> {
    let rooks = position.castles().castling_rights() & rank_of(0, us.color);
    let occupied = position.board().occupied();
    let between = |rook| (attacks::between(us.king, rook) & occupied).count() as i32;
    rooks.into_iter().map(between).min()
}

fn clears_castling(g: &Glance) -> i32 {
    let before = in_the_way(g.before.position, &g.before.facts.us);
    before.zip(in_the_way(&g.after, &g.facts.us)).map_or(0, |(before, after)| before - after)
}

fn moves_developed(g: &Glance) -> i32 {
    let home = at_home(g.before.position.board(), g.before.us());
    let minor = matches!(g.role, Role::Knight | Role::Bishop);
    let again = minor && !home.contains(g.from) && !g.mv.is_capture() && g.before.is_middlegame();
    if again { home.count() as i32 } else { 0 }
}

fn goes_home(g: &Glance) -> i32 {
    let us = g.before.us();
    let piece = matches!(g.role, Role::Knight | Role::Bishop | Role::Queen);
    let back = relative_rank(g.to, us) == 0 && relative_rank(g.from, us) > 0;
    i32::from(piece && back && g.before.is_middlegame())
}

fn blocks_centre_pawn(g: &Glance) -> i32 {
    let us = g.before.us();
    let starts = Bitboard::from_square(Square::D2) | Square::E2;
    let pawns = us.fold_wb(starts, starts.flip_vertical()) & g.after.board().pawns();
    let blocked = |pawn| stop(pawn, us) == Some(g.to);
    i32::from(g.role != Role::Pawn && (pawns & g.facts.us.pieces).into_iter().any(blocked))
}

fn knight_rim(g: &Glance) -> i32 {
    i32::from(g.role == Role::Knight && matches!(g.to.file(), File::A | File::H))
}

fn fianchetto(g: &Glance) -> i32 {
    let corner = matches!(g.to.file(), File::B | File::G);
    let second = relative_rank(g.to, g.before.us()) == 1;
    i32::from(g.role == Role::Bishop && corner && second && g.before.is_middlegame())
}

/// Whether two rooks of `side` on its first rank guard each other.
fn connected(board: &Board, side: &Side) -> bool {
    let rank = rank_of(0, side.color);
    let rooks = board.rooks() & side.pieces & rank;
    rooks.into_iter().any(|rook| !board.attacks_from(rook).is_disjoint(rooks))
}

fn connects_rooks(g: &Glance) -> i32 {
    let before = connected(g.before.position.board(), &g.before.facts.us);
    i32::from(connected(g.after.board(), &g.facts.us) && !before)
}
