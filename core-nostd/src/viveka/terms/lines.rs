//! Lines: pins, skewers, what a moving piece uncovers, and batteries.
use shakmaty::{Bitboard, Board, Piece, Position as _, Role, Square, attacks};

use super::Term;
use crate::{
    exchange::piece_points,
    viveka::{
        facts::{Side, dearest, pinned},
        glance::{Glance, pawns},
    },
};

pub(super) const ROWS: &[Term] = &[
    term!(
        "own_pins",
        worked_out,
        bad,
        own_pins,
        "more of our pieces pinned to our king than before",
        "walks into {n:pin}",
        "slips out of {n:pin}"
    ),
    term!(
        "makes_pins",
        glance,
        good,
        makes_pins,
        "more of their pieces pinned to their king than before",
        "pins {n:more piece} to their king",
        "gives up {n:pin}"
    ),
    term!(
        "queen_pins",
        glance,
        good,
        queen_pins,
        "more of their pieces pinned to a queen, by something cheaper, than before",
        "pins {n:more piece} to their queen",
        "gives up {n:pin} to their queen"
    ),
    term!(
        "attacks_pinned",
        glance,
        good,
        attacks_pinned,
        "pieces pinned to their king that the moved piece newly attacks as well",
        "attacks {n:pinned piece}"
    ),
    term!(
        "skewer",
        glance,
        good,
        skewer,
        "value in pawns of the dearest piece behind a king or a dearer piece that the mover hits",
        "skewers a piece worth {n:pawn}"
    ),
    term!(
        "discovered_check",
        glance,
        good,
        discovered_check,
        "1 for a check by a piece that did not move",
        "uncovers a check"
    ),
    term!("double_check", glance, good, double_check, "1 for a double check", "gives double check"),
    term!(
        "discovered_attack",
        glance,
        good,
        discovered_attack,
        "value in pawns of the dearest piece that a line newly opened attacks and could win",
        "uncovers an attack on something worth {n:pawn}"
    ),
    term!(
        "opens_lines",
        glance,
        good,
        opens_lines,
        "squares reached by our bishops, rooks and queens that did not move, after minus before",
        "opens {n:square} to our other pieces",
        "stands in the way of {n:square} of our other pieces"
    ),
    term!(
        "closes_lines",
        glance,
        good,
        closes_lines,
        "squares reached by their bishops, rooks and queens that stay, before minus after",
        "closes {n:square} to their pieces",
        "opens {n:square} to their pieces"
    ),
    term!(
        "battery",
        glance,
        good,
        battery,
        "1 if the moved piece newly backs another along a file or a diagonal",
        "lines the {piece} up with another piece"
    ),
];

/// Pieces of `side` pinned to its king.
fn pinned_to_king(board: &Board, side: &Side) -> Bitboard {
    pinned(board, side.king, side.color, board.sliders())
}

/// How many more pieces a count finds after the move than before it.
fn gained(g: &Glance, count: impl Fn(&Board) -> usize) -> i32 {
    count(g.after.board()) as i32 - count(g.before.position.board()) as i32
}

fn own_pins(g: &Glance) -> i32 {
    let after = pinned_to_king(g.after.board(), &g.facts.us).count() as i32;
    after - pinned_to_king(g.before.position.board(), &g.before.facts.us).count() as i32
}

fn makes_pins(g: &Glance) -> i32 {
    gained(g, |board| pinned_to_king(board, &g.facts.them).count())
}

fn queen_pins(g: &Glance) -> i32 {
    let them = g.facts.them.color;
    gained(g, |board| {
        let queens = board.queens() & board.by_color(them);
        let snipers = board.sliders() & !board.queens();
        queens.into_iter().map(|queen| pinned(board, queen, them, snipers).count()).sum()
    })
}

fn attacks_pinned(g: &Glance) -> i32 {
    let board = g.before.position.board();
    let newly = g.after.board().attacks_from(g.to) & !board.attacks_from(g.from);
    (pinned_to_king(board, &g.before.facts.them) & newly).count() as i32
}

fn skewer(g: &Glance) -> i32 {
    if g.lands_loose() {
        return 0;
    }
    let (board, them) = (g.after.board(), &g.facts.them);
    let mover = Piece { color: g.facts.us.color, role: g.landed_role() };
    let dearer = |square: &Square| dearest(board, (*square).into()) > piece_points(mover.role);
    let reach = board.attacks_from(g.to) & them.pieces;
    let front: Bitboard =
        reach.into_iter().filter(|square| *square == them.king || dearer(square)).collect();
    let left = board.occupied() & !front;
    let exposed = attacks::attacks(g.to, mover, left) & left & them.pieces & !reach;
    let guarded = |square: &Square| (board.attacks_to(*square, them.color, left) & left).any();
    let won = (exposed & !board.pawns()).into_iter().filter(|s| dearer(s) || !guarded(s)).collect();
    pawns(dearest(board, won))
}

fn discovered_check(g: &Glance) -> i32 {
    // The rook of castling did move.
    i32::from(!g.mv.is_castle() && g.after.checkers().without(g.to).any())
}

fn double_check(g: &Glance) -> i32 {
    i32::from(g.after.checkers().more_than_one())
}

/// Bishops, rooks and queens of a side, given before and after the move, that stay in place.
fn staying(g: &Glance, before: &Side, after: &Side) -> Bitboard {
    let sliders = g.before.position.board().sliders() & g.after.board().sliders();
    sliders & before.pieces & after.pieces
}

fn discovered_attack(g: &Glance) -> i32 {
    let (board, before) = (g.after.board(), g.before.position.board());
    let targets = g.facts.them.pieces & !board.kings();
    let value = |square: Square| {
        let own = dearest(board, square.into());
        let newly = board.attacks_from(square) & !before.attacks_from(square) & targets;
        let loose = dearest(board, newly & g.facts.their_loose);
        let any = dearest(board, newly);
        if any > own { any } else { loose }
    };
    let best = staying(g, &g.before.facts.us, &g.facts.us).into_iter().map(value).max();
    pawns(best.unwrap_or(0))
}

/// Squares that `sliders` reach, with multiplicity, without those that their own side occupies.
fn reached(board: &Board, sliders: Bitboard, own: Bitboard) -> i32 {
    sliders.into_iter().map(|square| (board.attacks_from(square) & !own).count() as i32).sum()
}

/// Squares that the sliders of a side that stay in place gain.
fn lines_gained(g: &Glance, before: &Side, after: &Side) -> i32 {
    let sliders = staying(g, before, after);
    reached(g.after.board(), sliders, after.pieces)
        - reached(g.before.position.board(), sliders, before.pieces)
}

fn opens_lines(g: &Glance) -> i32 {
    lines_gained(g, &g.before.facts.us, &g.facts.us)
}

fn closes_lines(g: &Glance) -> i32 {
    -lines_gained(g, &g.before.facts.them, &g.facts.them)
}

/// Own pieces that `role` on `square` backs along a file or a diagonal.
fn partners(board: &Board, square: Square, role: Role, own: Bitboard) -> usize {
    let file = attacks::rook_attacks(square, board.occupied())
        & Bitboard::from_file(square.file())
        & board.rooks_and_queens();
    let diagonal = attacks::bishop_attacks(square, board.occupied()) & board.bishops_and_queens();
    let partners = match role {
        Role::Bishop => diagonal,
        Role::Rook => file,
        Role::Queen => file | diagonal,
        Role::Pawn | Role::Knight | Role::King => Bitboard::EMPTY,
    };
    (partners & own).count()
}

fn battery(g: &Glance) -> i32 {
    let after = partners(g.after.board(), g.to, g.landed_role(), g.facts.us.pieces);
    let before = g.before.position.board();
    i32::from(after > partners(before, g.from, g.role, g.before.facts.us.pieces))
}
