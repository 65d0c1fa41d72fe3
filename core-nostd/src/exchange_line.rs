//! Where the exchanges end: the position after the best captures of both sides.
use heapless::Vec;
use shakmaty::{Board, Chess, Color, Move, Position as _, Square};

use crate::{
    budget::Budget,
    exchange::{balance, piece_points, reaches_within},
    insertion, legal,
    position::after,
};

/// No legal position has more captures than this.
const MAX_CAPTURES: usize = 80;
/// No line has more captures than there are men to take.
pub const MAX_PLIES: usize = 30;

/// The position at the end of the exchanges; see [`play_out`].
pub fn settle(position: &Chess, value: i32) -> Chess {
    settle_within(position, value, &Budget::unlimited())
}

/// [`settle`], as far as the budget allows.
pub(crate) fn settle_within(position: &Chess, value: i32, budget: &Budget) -> Chess {
    let mut position = position.clone();
    play_out_within(&mut position, value, budget, |_| ());
    position
}

/// Plays out the exchanges that [`exchanges`](crate::exchange::exchanges) sees from `position`,
/// at most [`MAX_PLIES`] captures, and tells `each`: both sides take what is best by material,
/// and stop as soon as taking gains nothing. `value` is what it says: the balance that the side
/// to move reaches, in points.
///
/// Of captures that are equally good, the bigger victim is taken, then by the cheaper piece,
/// then farther ahead and nearer the middle: colours and wings do not matter.
pub fn play_out(position: &mut Chess, value: i32, each: impl FnMut(Move)) {
    play_out_within(position, value, &Budget::unlimited(), each);
}

/// [`play_out`], as far as the budget allows.
pub(crate) fn play_out_within(
    position: &mut Chess,
    mut value: i32,
    budget: &Budget,
    mut each: impl FnMut(Move),
) {
    for _ in 0..MAX_PLIES {
        if value == balance(position) {
            break;
        }
        let Some(mv) = play_best(position, value, budget) else { break };
        each(mv);
        value = -value;
    }
}

/// Plays the first capture that keeps `value` for the side to move, if there is one (an exchange
/// search that was cut short may promise what no capture keeps).
#[inline(never)] // the list of captures must not stay on the caller's stack
fn play_best(position: &mut Chess, value: i32, budget: &Budget) -> Option<Move> {
    for mv in captures(position) {
        if !budget.allows() {
            break;
        }
        budget.take(1);
        let next = after(position, mv);
        if !reaches_within(&next, 1 - value, budget) {
            *position = next;
            return Some(mv);
        }
    }
    None
}

/// The legal captures, in the order of trial.
#[inline(never)] // all moves must not stay on the caller's stack
fn captures(position: &Chess) -> Vec<Move, MAX_CAPTURES> {
    let mut list = Vec::new();
    for mv in legal::captures(position) {
        if list.push(mv).is_err() {
            break;
        }
    }
    insertion::sort_by_key(&mut list, |&mv| order(position.board(), position.turn(), mv));
    list
}

/// The place of a capture in the order of trial; promotions to knight and bishop share one.
fn order(board: &Board, us: Color, mv: Move) -> (i32, i32, Place, Place) {
    let gain = mv.capture().map_or(0, piece_points) + mv.promotion().map_or(0, piece_points);
    let place = |square| place(board, us, square);
    (-gain, piece_points(mv.role()), place(mv.to()), place(mv.from().unwrap_or(mv.to())))
}

/// See [`place`].
type Place = (u32, u32, u32);

/// Ranks to the last one, files to the middle, files to our king: together they name one square,
/// and the mirrored square on the mirrored board.
fn place(board: &Board, us: Color, square: Square) -> Place {
    let rank = us.fold_wb(square.rank(), square.rank().flip_vertical()).to_u32();
    let file = square.file().to_u32();
    let king = board.king_of(us).map_or(0, |king| king.file().to_u32());
    (7 - rank, file.max(7 - file), file.abs_diff(king))
}
