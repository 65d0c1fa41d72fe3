//! The search: who can take what, on a placement that is changed and changed back.
//!
//! It answers one question, "does the side to move gain at least so much?", and no more than
//! that has to be carried along. The side to move may stop at once, so a capture that gains `g`
//! gains no more than `g` in the end: the opponent can stop there. That bound is exact, and rules
//! most captures out before they are looked for. Victims are looked at, not moves: first the
//! piece that has just captured, then the dearest; and of their attackers first the cheapest.
//!
//! The plies under way stand in an array instead of calling each other: a chessboard's stack
//! could not hold thirty calls.
use heapless::Vec;
use shakmaty::{Bitboard, Color, Move, Role, Square};

use super::{PAWN, piece_points};
use crate::placement::{Capture, Placement, squares};

/// What a promotion adds at most.
const BEST_PROMOTION: i32 = piece_points(Role::Queen) - PAWN;
/// The most that one capture gains.
pub(super) const MOST: i32 = piece_points(Role::Queen) + BEST_PROMOTION;
/// Pieces that can be taken, dearest first.
const VICTIMS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
/// Each capture takes one of thirty men; the ply after the last one has none.
const MAX_PLIES: usize = 31;

/// A search under way.
pub(super) struct Search {
    /// The pieces, as they stand in the position looked at.
    place: Placement,
    /// The positions that led there and that one, each with how far its captures are tried.
    line: Vec<Ply, MAX_PLIES>,
    /// Positions that may still be looked at; without any left every side stops where it is.
    nodes: u32,
}

/// One position of the line.
struct Ply {
    us: Color,
    /// Whether the targets are known to be in reach.
    in_reach: bool,
    /// What `us` has to gain, in points; more than 0.
    needed: i32,
    /// Pieces worth taking that are yet to be tried.
    targets: Bitboard,
    /// Attackers of the present victim that are yet to be tried.
    attackers: Bitboard,
    /// The capture that is tried now, or nothing but the present victim and its square.
    capture: Capture,
}

impl Search {
    /// A search from these pieces that looks at `nodes` positions at most.
    pub fn new(place: Placement, nodes: u32) -> Search {
        Search { place, line: Vec::new(), nodes }
    }

    /// Positions that may still be looked at.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether `us`, to move, gains at least `needed` points by captures.
    pub fn gains(&mut self, us: Color, needed: i32) -> bool {
        self.gains_after(us, needed, None)
    }

    /// [`Search::gains`] where a pawn that has just passed `square` can also be taken there.
    pub fn gains_in_passing(&mut self, us: Color, needed: i32, square: Square) -> bool {
        self.takes_in_passing(us, needed, square) || self.gains(us, needed)
    }

    fn takes_in_passing(&mut self, us: Color, needed: i32, square: Square) -> bool {
        if needed > PAWN {
            return false;
        }
        let pawns = self.place.attackers(square, us) & self.place.role(Role::Pawn);
        squares(pawns).any(|from| {
            let before = self.place.clone();
            self.place.play(us, Move::EnPassant { from, to: square });
            let last = Some((square, Role::Pawn));
            let gains = !self.place.is_check(us) && !self.gains_after(!us, PAWN - needed + 1, last);
            self.place = before;
            gains
        })
    }

    /// Whether `us`, to move, gains at least `needed`, where `last` has just captured: taking it
    /// is the likeliest answer.
    fn gains_after(&mut self, us: Color, needed: i32, last: Option<(Square, Role)>) -> bool {
        if needed <= 0 {
            return true;
        }
        if !self.enter(us, needed, last) {
            return false;
        }
        loop {
            let deeper = self.play_next();
            if let Some((us, needed, last)) = deeper
                && self.enter(us, needed, Some(last))
            {
                continue;
            }
            // Without a capture left the ply gains nothing; if the answer to its capture is not
            // looked at, that capture gains.
            if let Some(gains) = self.leave(deeper.is_some()) {
                return gains;
            }
        }
    }

    /// Adds a ply to the line, unless there is no room or nothing may be looked at any more.
    fn enter(&mut self, us: Color, needed: i32, last: Option<(Square, Role)>) -> bool {
        if self.nodes == 0 {
            return false;
        }
        let mut ply = Ply {
            us,
            in_reach: false,
            needed,
            targets: self.worth(!us, needed - self.best_promotion(us)),
            attackers: Bitboard::EMPTY,
            capture: Capture::NONE,
        };
        if let Some((square, victim)) = last
            && ply.targets.contains(square)
        {
            ply.aim(&self.place, square, victim);
        }
        self.nodes -= 1;
        self.line.push(ply).is_ok()
    }

    /// Plays the next legal capture of the last ply that may gain enough. Tells whose turn it is
    /// then, what they have to gain to refute it, and what has just captured.
    fn play_next(&mut self) -> Option<(Color, i32, (Square, Role))> {
        let ply = self.line.last_mut()?;
        while ply.next(&self.place) {
            let Capture { role, becomes, victim, to, .. } = ply.capture;
            let gain = piece_points(victim) + piece_points(becomes) - piece_points(role);
            if gain < ply.needed {
                continue;
            }
            if self.place.capture(ply.us, ply.capture) {
                return Some((!ply.us, gain - ply.needed + 1, (to, becomes)));
            }
            self.place.take_back(ply.us, ply.capture);
            // A capture that is illegal costs as much as one that is not.
            self.nodes = self.nodes.saturating_sub(1);
        }
        None
    }

    /// Takes back plies until one has to go on with its next capture. `holds` tells whether the
    /// last ply's capture stands and gains enough. The outcome, if the first ply is decided.
    fn leave(&mut self, mut holds: bool) -> Option<bool> {
        if holds && let Some(ply) = self.line.last() {
            self.place.take_back(ply.us, ply.capture);
        }
        loop {
            self.line.pop();
            let Some(ply) = self.line.last() else { return Some(holds) };
            self.place.take_back(ply.us, ply.capture);
            if holds {
                return None;
            }
            holds = true;
        }
    }

    /// Pieces of `color` that are worth at least this many points, its king excepted.
    #[inline]
    fn worth(&self, color: Color, points: i32) -> Bitboard {
        let mut pieces = self.place.color(color) & !self.place.role(Role::King);
        for role in Role::ALL {
            if piece_points(role) >= points {
                break;
            }
            pieces &= !self.place.role(role);
        }
        pieces
    }

    /// What a promotion may add to a capture.
    #[inline]
    fn best_promotion(&self, us: Color) -> i32 {
        let seventh = us.fold_wb(Bitboard(0x00ff_0000_0000_0000), Bitboard(0xff00));
        let pawns = self.place.role(Role::Pawn) & self.place.color(us);
        if (pawns & seventh).any() { BEST_PROMOTION } else { 0 }
    }
}

impl Ply {
    /// Makes the piece on `square` the present victim.
    #[inline]
    fn aim(&mut self, place: &Placement, square: Square, victim: Role) {
        self.targets.discard(square);
        self.attackers = place.attackers(square, self.us);
        self.capture.to = square;
        self.capture.victim = victim;
    }

    /// Goes on to the next capture, legal or not; whether there is one.
    #[inline]
    fn next(&mut self, place: &Placement) -> bool {
        if let Some(becomes) = self.capture.next_promotion() {
            self.capture.becomes = becomes;
            return true;
        }
        while self.attackers.is_empty() {
            if !self.in_reach {
                self.targets = place.attacked(self.us, self.targets);
                self.in_reach = true;
            }
            let dearest = VICTIMS.into_iter().find_map(|victim| {
                squares(place.role(victim) & self.targets).next().map(|square| (square, victim))
            });
            let Some((square, victim)) = dearest else { return false };
            self.aim(place, square, victim);
        }
        let cheapest = Role::ALL.into_iter().find_map(|role| {
            squares(place.role(role) & self.attackers).next().map(|from| (from, role))
        });
        let Some((from, role)) = cheapest else { return false };
        self.attackers.discard(from);
        self.capture.start(role, from);
        true
    }
}
