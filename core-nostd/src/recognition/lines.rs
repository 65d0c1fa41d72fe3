//! The moves that explain what the board shows.
use heapless::Vec;
use shakmaty::{Bitboard, ByColor, Chess, Move, Position as _, Role, Square};

use super::{
    hands::Hands,
    journey::{Journey, all_squares, men, toggled},
    question::ANSWERS,
};
use crate::{legal, moves::destination, placement::squares, position::after};

/// Moves that fit; there are seldom two.
pub(super) type Fitting = Vec<Move, ANSWERS>;

/// The legal moves after which the board looks as it does.
#[derive(Debug, Default)]
pub(super) struct Fits {
    /// Hands can have made these.
    pub sure: Fitting,
    /// Captures that hands can have made if the victim was replaced between two looks at the
    /// board, or that a knock looks like.
    pub doubtful: Fitting,
}

/// What hands did, and whose men they may move.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub hands: &'a Hands,
    /// The move that the side to move was told.
    pub told: Option<Move>,
    pub by_hand: ByColor<bool>,
}

/// A move and the reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub first: Move,
    pub second: Move,
    /// The first is a capture of which nothing was felt on the victim's square.
    pub is_doubtful: bool,
}

/// Pairs of moves: how many, and the last.
#[derive(Default)]
struct Pairs {
    count: u32,
    last: Option<(Move, Move)>,
}

impl Pairs {
    fn add(&mut self, first: Move, second: Move) {
        self.count = self.count.saturating_add(1);
        self.last = Some((first, second));
    }

    fn only(self, is_doubtful: bool) -> Option<Pair> {
        let (first, second) = self.last.filter(|_| self.count == 1)?;
        Some(Pair { first, second, is_doubtful })
    }
}

/// A move without the choice of a piece: of promotions, the queen's.
fn is_distinct(mv: Move) -> bool {
    mv.promotion().is_none_or(|role| role == Role::Queen)
}

impl View<'_> {
    /// The moves that may be made in a position: those told, or by hand.
    fn each(&self, position: &Chess, mut take: impl FnMut(Move)) {
        match self.told {
            Some(mv) => take(mv),
            None if *self.by_hand.get(position.turn()) => {
                legal::for_each(position, |mv| {
                    if is_distinct(mv) {
                        take(mv);
                    }
                });
            }
            None => {}
        }
    }

    /// The same for a side that is told nothing.
    pub(super) const fn untold(&self) -> View<'_> {
        View { told: None, ..*self }
    }

    /// The moves of `position`, which `journey` led to, that lead to what the board shows.
    pub(super) fn fits(&self, position: &Chess, journey: &Journey) -> Fits {
        let (color, hands) = (position.turn(), self.hands);
        let mut fits = Fits::default();
        self.each(position, |mv| {
            if toggled(journey.occupied(), mv, color) != hands.occupied() {
                return;
            }
            let mut end = journey.clone();
            end.play(mv, color);
            let is_knock = mv.is_capture()
                && hands.together().contains(destination(mv))
                && mv.from().is_some_and(|from| hands.together().contains(from));
            if end.fits(hands, None) && !is_knock {
                let _ = fits.sure.push(mv);
            } else if end.fits(hands, swapped(mv)) {
                let _ = fits.doubtful.push(mv);
            }
        });
        fits
    }

    /// Two moves, the second a fast reply, that lead to what the board shows; `None` where more
    /// than one pair does.
    pub(super) fn pair(&self, position: &Chess, journey: &Journey) -> Option<Pair> {
        let (color, hands) = (position.turn(), self.hands);
        // Those that account for all that was touched come before those that leave a man adjusted
        // in its place, and before those of which a part was not felt.
        let mut whole = Pairs::default();
        let (mut sure, mut doubtful) = (Pairs::default(), Pairs::default());
        self.each(position, |first| {
            let to = destination(first);
            let swapped = swapped(first);
            let is_felt = hands.touched().contains(to) || swapped.is_some();
            let is_chosen = self.told.is_some() || first.promotion().is_none();
            if !is_felt || !is_chosen || !was_left(first, hands) {
                return;
            }
            let mut middle = journey.clone();
            middle.play(first, color);
            let next = after(position, first);
            self.untold().each(&next, |second| {
                if !was_left(second, hands)
                    || toggled(middle.occupied(), second, !color) != hands.occupied()
                {
                    return;
                }
                let reply = destination(second);
                // Where the man is gone again, it was taken.
                let is_taken = to == reply || !hands.occupied().contains(to);
                let is_late = first.from().is_some_and(|from| hands.is_before(reply, from));
                let is_in_order = (is_taken || hands.is_before(to, reply)) && !is_late;
                let mut end = middle.clone();
                end.play(second, !color);
                if is_in_order && end.fits(hands, None) {
                    sure.add(first, second);
                    let squares = all_squares(first, color) | all_squares(second, !color);
                    if hands.touched().is_subset(squares) {
                        whole.add(first, second);
                    }
                } else if swapped.is_some() && to != reply && end.fits(hands, swapped) {
                    // After a reply, a man that was replaced unseen is not in the air.
                    doubtful.add(first, second);
                }
            });
        });
        match (whole.count, sure.count) {
            (0, 0) => doubtful.only(true),
            (0, _) => sure.only(false),
            _ => whole.only(false),
        }
    }

    /// A move, and a man of the other side that was lifted after it.
    pub(super) fn and_lifted(&self, position: &Chess, journey: &Journey) -> Option<(Move, Square)> {
        let (color, hands) = (position.turn(), self.hands);
        let (seen, them) = (hands.occupied(), position.them());
        let mut found = None;
        let mut lines = 0;
        let mut may_go_on = false;
        self.each(position, |mv| {
            let to = destination(mv);
            let next = toggled(journey.occupied(), mv, color);
            let lifted = (next & !seen).single_square();
            // It may as well be taken by the man that rests on its way.
            may_go_on |= self.told.is_none() && mv.is_capture() && self.is_on_the_way(mv, position);
            let Some(lifted) = lifted.filter(|&square| square != to && them.contains(square))
            else {
                return;
            };
            let mut end = journey.clone();
            end.play(mv, color);
            let is_whole = seen.is_subset(next) && mv.promotion().is_none();
            if is_whole && hands.is_before(to, lifted) && end.suits(hands, None) {
                lines += 1;
                found = Some((mv, lifted));
            }
        });
        if lines == 1 && !may_go_on { found } else { None }
    }

    /// Whether the board shows a move that is being made, and where there is one whose man has
    /// arrived, what is left to do: squares to leave, squares to fill.
    pub(super) fn under_way(&self, position: &Chess) -> (bool, Option<(Bitboard, Bitboard)>) {
        let color = position.turn();
        let (home, seen) = (position.board().occupied(), self.hands.occupied());
        let mut any = false;
        let mut rest = Fitting::new();
        self.each(position, |mv| {
            if !self.is_on_the_way(mv, position) {
                return;
            }
            any = true;
            let is_arrived = (seen & !home).contains(destination(mv));
            if is_arrived || self.told.is_some() {
                let _ = rest.push(mv);
            }
        });
        let rest = match rest[..] {
            // Where nothing is left to do, king and rook have changed places.
            [mv] => Some(toggled(home, mv, color)).filter(|&end| end != seen),
            _ => None,
        };
        (any, rest.map(|end| (seen & !end, end & !seen)))
    }

    /// Whether only the men of this move are not where they were, and where men were put down
    /// it may be they that rest there.
    fn is_on_the_way(&self, mv: Move, position: &Chess) -> bool {
        let hands = self.hands;
        let home = position.board().occupied();
        let (movers, victims) = men(mv, position.turn());
        let extra = hands.occupied() & !home;
        hands.displaced(home).is_subset(movers | victims)
            && extra.count() <= movers.count()
            && squares(extra).all(|square| hands.origins(square).intersects(movers))
    }
}

/// Whether the man of a move was lifted.
fn was_left(mv: Move, hands: &Hands) -> bool {
    mv.from().is_some_and(|from| hands.touched().contains(from))
}

/// The victim's square, where the victim can have been replaced between two looks at the board:
/// whatever was felt there tells nothing.
fn swapped(mv: Move) -> Option<Square> {
    matches!(mv, Move::Normal { capture: Some(_), .. }).then(|| mv.to())
}
