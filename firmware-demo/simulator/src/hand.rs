//! A hand that makes moves, as hands do: in different orders, sliding, resting, correcting.
use kibitzer_core::moves::{castling_squares, destination, en_passant_victim};
use kibitzer_core::shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square, attacks};
use rand::{RngExt as _, rngs::ChaCha8Rng};

/// The order in which the men of a move are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The victim leaves first, the king castles first.
    VictimFirst,
    /// The mover is lifted first, then the victim taken away and the mover put down; castling
    /// begins with the rook lifted, then the king, and both are put down.
    MoverFirst,
    /// Both are in the air, and the mover arrives in the same look at the board in which it was
    /// last seen; castling is done with two hands, both men leave and arrive at once.
    AtOnce,
    /// The victim is replaced between two looks, so that its square never reads empty; castling
    /// begins with the rook put down beside the king, which follows within a second.
    Swap,
}

/// All orders.
pub const ORDERS: [Order; 4] = [Order::VictimFirst, Order::MoverFirst, Order::AtOnce, Order::Swap];

/// How a hand moves.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// In which order men are touched.
    pub order: Order,
    /// Whether a man is slid over the squares on its way.
    pub slides: bool,
    /// Milliseconds that it rests on its way, at most.
    pub rests_ms: u32,
    /// In how many of a hundred moves a man is adjusted in its place before.
    pub adjusts_percent: u32,
    /// Milliseconds between one touch and the next: least and most.
    pub pace_ms: (u32, u32),
}

impl Style {
    /// An order, done with a steady hand.
    pub const fn steady(order: Order) -> Self {
        Self { order, slides: false, rests_ms: 0, adjusts_percent: 0, pace_ms: (60, 250) }
    }
}

/// Something that a hand does at once: it waits, then touches squares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// Milliseconds before it.
    pub wait_ms: u32,
    /// Squares where a man is lifted or put down.
    pub touched: Vec<Square>,
}

/// Beats in the making.
struct Script<'a> {
    beats: Vec<Beat>,
    style: Style,
    rng: &'a mut ChaCha8Rng,
}

impl Script<'_> {
    fn touch(&mut self, squares: &[Square]) {
        let wait_ms = self.rng.random_range(self.style.pace_ms.0..=self.style.pace_ms.1);
        self.beats.push(Beat { wait_ms, touched: squares.to_vec() });
    }

    /// From a square that was left to one that is filled, over those between them.
    fn carry(&mut self, from: Square, to: Square, occupied: Bitboard) {
        let way = attacks::between(from, to);
        if way.any() && (way & occupied).is_empty() && self.style.slides {
            let mut way: Vec<Square> = way.into_iter().collect();
            if to < from {
                way.reverse();
            }
            let rest = self.rng.random_range(0..way.len());
            for (place, square) in way.into_iter().enumerate() {
                let rests = place == rest && self.style.rests_ms > 0;
                let most = if rests { self.style.rests_ms } else { 60 };
                let stays = self.rng.random_range(15..=most.max(15));
                self.beats.push(Beat { wait_ms: 20, touched: vec![square] });
                self.beats.push(Beat { wait_ms: stays, touched: vec![square] });
            }
        }
        self.touch(&[to]);
    }
}

/// How a hand makes a legal move of `position`.
pub fn make(position: &Chess, mv: Move, style: Style, rng: &mut ChaCha8Rng) -> Vec<Beat> {
    let occupied = position.board().occupied();
    let mut script = Script { beats: Vec::new(), style, rng };
    if script.rng.random_range(0..100) < style.adjusts_percent {
        adjust(&mut script, position);
    }
    match mv {
        Move::Castle { king, rook } => castle(&mut script, position, king, rook),
        Move::EnPassant { from, to } => {
            let victim = en_passant_victim(from, to);
            match style.order {
                Order::VictimFirst => {
                    script.touch(&[victim]);
                    script.touch(&[from]);
                    script.touch(&[to]);
                }
                Order::MoverFirst => {
                    script.touch(&[from]);
                    script.touch(&[to]);
                    script.touch(&[victim]);
                }
                Order::AtOnce => {
                    script.touch(&[from]);
                    script.touch(&[victim]);
                    script.touch(&[to]);
                }
                Order::Swap => script.touch(&[from, to, victim]),
            }
        }
        Move::Normal { from, to, capture: None, .. } => {
            script.touch(&[from]);
            script.carry(from, to, occupied);
        }
        Move::Normal { from, to, .. } => match style.order {
            Order::VictimFirst => {
                script.touch(&[to]);
                script.touch(&[from]);
                script.carry(from, to, occupied);
            }
            Order::MoverFirst => {
                script.touch(&[from]);
                script.touch(&[to]);
                script.touch(&[to]);
            }
            Order::AtOnce => {
                script.touch(&[to]);
                script.touch(&[from, to]);
            }
            Order::Swap => script.touch(&[from]),
        },
        Move::Put { .. } => {}
    }
    script.beats
}

fn castle(script: &mut Script<'_>, position: &Chess, king: Square, rook: Square) {
    let (king_to, rook_to) = castling_squares(king, rook, position.turn());
    match script.style.order {
        Order::VictimFirst => {
            script.touch(&[king]);
            script.touch(&[king_to]);
            script.touch(&[rook]);
            script.touch(&[rook_to]);
        }
        Order::MoverFirst => {
            script.touch(&[rook]);
            script.touch(&[king]);
            script.touch(&[king_to]);
            script.touch(&[rook_to]);
        }
        Order::AtOnce => {
            script.touch(&[king, rook]);
            script.touch(&[rook_to, king_to]);
        }
        Order::Swap => {
            script.touch(&[rook]);
            script.touch(&[rook_to]);
            script.beats.push(Beat { wait_ms: 600, touched: vec![king] });
            script.touch(&[king_to]);
        }
    }
}

/// Straightens a man in its place: one of those that stand.
fn adjust(script: &mut Script<'_>, position: &Chess) {
    let men: Vec<Square> = position.board().occupied().into_iter().collect();
    let square = men[script.rng.random_range(0..men.len())];
    script.touch(&[square]);
    script.touch(&[square]);
}

/// How a hand takes a move back, `before` being the position before it: the man goes home, the
/// victim comes from beside the board.
pub fn take_back(before: &Chess, mv: Move, style: Style, rng: &mut ChaCha8Rng) -> Vec<Beat> {
    let mut script = Script { beats: Vec::new(), style, rng };
    match mv {
        Move::Castle { king, rook } => {
            let (king_to, rook_to) = castling_squares(king, rook, before.turn());
            let [first, second] = match style.order {
                Order::VictimFirst | Order::AtOnce => [(king_to, king), (rook_to, rook)],
                Order::MoverFirst | Order::Swap => [(rook_to, rook), (king_to, king)],
            };
            for (from, to) in [first, second] {
                script.touch(&[from]);
                script.touch(&[to]);
            }
        }
        _ => {
            let (Some(from), to) = (mv.from(), destination(mv)) else { return script.beats };
            script.touch(&[to]);
            script.touch(&[from]);
            match mv {
                Move::EnPassant { .. } => {
                    script.touch(&[en_passant_victim(from, to)]);
                }
                _ if mv.is_capture() => script.touch(&[to]),
                _ => {}
            }
        }
    }
    script.beats
}

/// How a hand presses a square: its man is lifted and put back, or another put down and taken away.
pub fn press(square: Square) -> Vec<Beat> {
    vec![Beat { wait_ms: 150, touched: vec![square] }, Beat { wait_ms: 120, touched: vec![square] }]
}

/// Whether a move leaves a man whose kind no contact knows.
pub fn is_promotion(mv: Move) -> bool {
    mv.promotion().is_some_and(|role| role != Role::Pawn)
}
