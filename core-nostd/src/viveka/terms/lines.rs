//! Lines: pins, skewers, what a moving piece uncovers, and batteries.
use shakmaty::{Bitboard, Board, Color, Piece, Position as _, Role, Square, attacks};

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
        "leaves {ours} pinned to the king" => newly_pinned,
        "frees {ours_before} from a pin" => unpinned
    ),
    term!(
        "makes_pins",
        glance,
        good,
        makes_pins,
        "more of their pieces pinned to their king than before",
        "pins {theirs} to the king" => pins_made,
        "gives up the pin of {theirs_before}" => pins_lifted
    ),
    term!(
        "queen_pins",
        glance,
        good,
        queen_pins,
        "more of their pieces pinned to a queen, by something cheaper, than before",
        "pins {theirs} to the queen" => queen_pins_made,
        "gives up the pin of {theirs_before} to the queen" => queen_pins_lifted
    ),
    term!(
        "attacks_pinned",
        glance,
        good,
        attacks_pinned,
        "pieces pinned to their king that the moved piece newly attacks as well",
        "attacks {theirs}, pinned to the king" => pinned_targets
    ),
    term!(
        "skewer",
        glance,
        good,
        skewer,
        "value in pawns of the dearest piece behind a king or a dearer piece that the mover hits",
        "skewers {theirs}" => skewered
    ),
    term!(
        "discovered_check",
        glance,
        good,
        discovered_check,
        "1 for a check by a piece that did not move",
        "uncovers a check by {ours}" => uncovered_checkers
    ),
    term!("double_check", glance, good, double_check, "1 for a double check", "gives double check"),
    term!(
        "discovered_attack",
        glance,
        good,
        discovered_attack,
        "value in pawns of the dearest piece that a line newly opened attacks and could win",
        "uncovers an attack on {theirs}" => uncovered
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
        "lines the {piece} up with {ours}" => partners_after
    ),
];

/// Pieces of `side` pinned to its king.
fn pinned_to_king(board: &Board, side: &Side) -> Bitboard {
    pinned(board, side.king, side.color, board.sliders())
}

/// Our pieces pinned to our king, before the move and after it.
fn own_pinned(g: &Glance) -> (Bitboard, Bitboard) {
    let before = pinned_to_king(g.before.position.board(), &g.before.facts.us);
    (before, pinned_to_king(g.after.board(), &g.facts.us))
}

fn own_pins(g: &Glance) -> i32 {
    let (before, after) = own_pinned(g);
    after.count() as i32 - before.count() as i32
}

fn newly_pinned(g: &Glance) -> Bitboard {
    let (before, after) = own_pinned(g);
    after & !before
}

fn unpinned(g: &Glance) -> Bitboard {
    let (before, after) = own_pinned(g);
    before & !after
}

/// Their pieces pinned to their king, before the move and after it.
fn their_pinned(g: &Glance) -> (Bitboard, Bitboard) {
    let them = &g.facts.them;
    let before = pinned_to_king(g.before.position.board(), them);
    (before, pinned_to_king(g.after.board(), them))
}

fn makes_pins(g: &Glance) -> i32 {
    let (before, after) = their_pinned(g);
    after.count() as i32 - before.count() as i32
}

fn pins_made(g: &Glance) -> Bitboard {
    let (before, after) = their_pinned(g);
    after & !before
}

fn pins_lifted(g: &Glance) -> Bitboard {
    let (before, after) = their_pinned(g);
    before & !after
}

/// Pieces of `color` pinned to one of its queens by something cheaper: one set a queen.
fn pinned_to_queens(board: &Board, color: Color) -> impl Iterator<Item = Bitboard> {
    let queens = board.queens() & board.by_color(color);
    let snipers = board.sliders() & !board.queens();
    queens.into_iter().map(move |queen| pinned(board, queen, color, snipers))
}

fn queen_pins(g: &Glance) -> i32 {
    let them = g.facts.them.color;
    let count = |board| pinned_to_queens(board, them).map(Bitboard::count).sum::<usize>() as i32;
    count(g.after.board()) - count(g.before.position.board())
}

/// Their pieces pinned to a queen, before the move and after it.
fn queen_pinned(g: &Glance) -> (Bitboard, Bitboard) {
    let them = g.facts.them.color;
    let all = |board| pinned_to_queens(board, them).fold(Bitboard::EMPTY, |all, set| all | set);
    (all(g.before.position.board()), all(g.after.board()))
}

fn queen_pins_made(g: &Glance) -> Bitboard {
    let (before, after) = queen_pinned(g);
    after & !before
}

fn queen_pins_lifted(g: &Glance) -> Bitboard {
    let (before, after) = queen_pinned(g);
    before & !after
}

fn attacks_pinned(g: &Glance) -> i32 {
    pinned_targets(g).count() as i32
}

/// Pieces pinned to their king that the moved piece newly attacks.
fn pinned_targets(g: &Glance) -> Bitboard {
    let board = g.before.position.board();
    let newly = g.after.board().attacks_from(g.to) & !board.attacks_from(g.from);
    pinned_to_king(board, &g.before.facts.them) & newly
}

fn skewer(g: &Glance) -> i32 {
    if g.lands_loose() { 0 } else { pawns(dearest(g.after.board(), skewered(g))) }
}

/// Their pieces behind a king or a dearer piece that the moved piece hits.
fn skewered(g: &Glance) -> Bitboard {
    let (board, them) = (g.after.board(), &g.facts.them);
    let mover = Piece { color: g.facts.us.color, role: g.landed_role() };
    let dearer = |square: &Square| dearest(board, (*square).into()) > piece_points(mover.role);
    let reach = board.attacks_from(g.to) & them.pieces;
    let front: Bitboard =
        reach.into_iter().filter(|square| *square == them.king || dearer(square)).collect();
    let left = board.occupied() & !front;
    let exposed = attacks::attacks(g.to, mover, left) & left & them.pieces & !reach;
    let guarded = |square: &Square| (board.attacks_to(*square, them.color, left) & left).any();
    (exposed & !board.pawns()).into_iter().filter(|s| dearer(s) || !guarded(s)).collect()
}

fn discovered_check(g: &Glance) -> i32 {
    // The rook of castling did move.
    i32::from(!g.mv.is_castle() && uncovered_checkers(g).any())
}

fn uncovered_checkers(g: &Glance) -> Bitboard {
    g.after.checkers().without(g.to)
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
    pawns(dearest(g.after.board(), uncovered(g)))
}

/// Their pieces that a line newly opened attacks and could win.
fn uncovered(g: &Glance) -> Bitboard {
    let (board, before) = (g.after.board(), g.before.position.board());
    let targets = g.facts.them.pieces & !board.kings();
    let won = |square: Square| {
        let own = dearest(board, square.into());
        let newly = board.attacks_from(square) & !before.attacks_from(square) & targets;
        let dearer = |&target: &Square| {
            g.facts.their_loose.contains(target) || dearest(board, target.into()) > own
        };
        newly.into_iter().filter(dearer).collect::<Bitboard>()
    };
    let ours = staying(g, &g.before.facts.us, &g.facts.us);
    ours.into_iter().fold(Bitboard::EMPTY, |all, square| all | won(square))
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
fn partners(board: &Board, square: Square, role: Role, own: Bitboard) -> Bitboard {
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
    partners & own
}

fn battery(g: &Glance) -> i32 {
    let before = g.before.position.board();
    let count = partners(before, g.from, g.role, g.before.facts.us.pieces).count();
    i32::from(partners_after(g).count() > count)
}

fn partners_after(g: &Glance) -> Bitboard {
    partners(g.after.board(), g.to, g.landed_role(), g.facts.us.pieces)
}
