//! A board in the same program, at the other end of an app's link.
use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, Read, Write},
    rc::Rc,
};

use kibitzer_core::{
    protocol::{Asked, Full, Order, Protocol, Report, Sink, View},
    shakmaty::{Bitboard, CastlingSide, Chess, Move, Position as _, Square},
};

/// A board: its protocol, the game as it knows it, the squares.
pub struct Board {
    protocol: Protocol,
    positions: Vec<Chess>,
    occupied: Bitboard,
    said: Said,
    now: u32,
    /// What was lit last.
    pub lit: Bitboard,
    pub end: Option<String>,
    /// Touches squares as a player's hand does, one after the other.
    pub hands: Vec<(Bitboard, bool)>,
}

/// What the board said.
#[derive(Default)]
struct Said(VecDeque<u8>);

impl Sink for Said {
    fn send(&mut self, message: &[u8]) -> Result<(), Full> {
        self.0.extend(message);
        Ok(())
    }
}

/// Either end's hold of the board.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<Board>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let said = &mut self.0.borrow_mut().said.0;
        let count = said.len().min(buffer.len());
        said.drain(..count).zip(buffer).for_each(|(byte, place)| *place = byte);
        Ok(count)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|&byte| self.0.borrow_mut().hear(byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    pub fn new(protocol: Protocol) -> Self {
        let start = Chess::default();
        let occupied = start.board().occupied();
        Shared(Rc::new(RefCell::new(Board {
            protocol,
            positions: vec![start],
            occupied,
            said: Said::default(),
            now: 0,
            lit: Bitboard::EMPTY,
            end: None,
            hands: vec![],
        })))
    }

    pub fn with<T>(&self, act: impl FnOnce(&mut Board) -> T) -> T {
        act(&mut self.0.borrow_mut())
    }
}

impl Board {
    fn hear(&mut self, byte: u8) {
        self.now += 1;
        let order = self.protocol.receive(byte, self.now, &mut self.said);
        let report = |board: &mut Board, report: &Report<'_>| {
            board.protocol.report(report, &mut board.said).expect("wanted");
        };
        match order {
            Some(Order::Begin(position)) => {
                self.occupied = position.board().occupied();
                self.positions = vec![position.clone()];
                report(self, &Report::Sync(View::whole(&position)));
            }
            Some(Order::Move(uci)) => {
                let mv = uci.to_move(self.position()).expect("legal");
                self.advance(mv);
                report(self, &Report::Moved);
            }
            Some(Order::Promoted(uci)) => {
                let mv = uci.to_move(self.position()).expect("legal");
                self.advance(mv);
            }
            Some(Order::Accepted(Asked::Move(uci))) => {
                let mv = uci.to_move(self.position()).expect("legal");
                self.advance(mv);
            }
            Some(Order::Accepted(Asked::Undo(_))) => drop(self.positions.pop()),
            Some(Order::Undo(_)) => {
                self.positions.pop();
                report(self, &Report::Moved);
            }
            Some(Order::DrawOffer) => report(self, &Report::DrawAnswer(false)),
            Some(Order::End(end)) => self.end = Some(format!("{end:?}")),
            Some(Order::Dump) => report(self, &Report::Dump(self.occupied)),
            Some(Order::Lamps(lamps)) => {
                self.lit = lamps.lit;
                // The hand carries out what the lamps show.
                for (squares, is_there) in std::mem::take(&mut self.hands) {
                    if !self.lit.is_empty() {
                        self.touch(squares, is_there);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn position(&self) -> &Chess {
        self.positions.last().expect("a game")
    }

    fn advance(&mut self, mv: Move) {
        let next = self.position().clone().play(mv).expect("legal");
        self.positions.push(next);
    }

    pub fn say(&mut self, report: &Report<'_>) {
        self.protocol.report(report, &mut self.said).expect("wanted");
    }

    pub fn touch(&mut self, squares: Bitboard, is_there: bool) {
        self.occupied = if is_there { self.occupied | squares } else { self.occupied & !squares };
        let report = Report::Occupancy(self.occupied);
        self.protocol.report(&report, &mut self.said).expect("wanted");
    }
}

/// What a hand does for a move: squares that are lifted and placed in turn.
pub fn hands(position: &Chess, mv: Move) -> Vec<(Bitboard, bool)> {
    let one = |square: Square, is_there| (Bitboard::from(square), is_there);
    match mv {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_queen_side(rook < king);
            let us = position.turn();
            let king_to = one(side.king_to(us), true);
            vec![one(king, false), king_to, one(rook, false), one(side.rook_to(us), true)]
        }
        Move::EnPassant { from, to } => {
            let taken = Square::from_coords(to.file(), from.rank());
            vec![one(from, false), one(to, true), one(taken, false)]
        }
        _ => {
            let from = mv.from().expect("a square");
            let taken = mv.is_capture().then(|| one(mv.to(), false));
            [one(from, false)].into_iter().chain(taken).chain([one(mv.to(), true)]).collect()
        }
    }
}
