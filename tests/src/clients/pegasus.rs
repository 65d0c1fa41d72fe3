//! An app for a DGT Pegasus: it sees squares lifted and placed, finds the move in them, and shows its
//! own by lamps.
use std::{
    io::{Read, Write},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use kibitzer_core::shakmaty::{Chess, Move, Position as _, Role};

use super::Line;

/// Longer than a man rests on its way.
const QUIET: Duration = Duration::from_millis(400);

/// What stands on each square, a8 first as the protocol counts.
type Squares = [bool; 64];

/// A message of the board's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its type, without the highest bit.
    pub kind: u8,
    /// What follows the length.
    pub payload: Vec<u8>,
}

/// An app in a game.
#[derive(Debug)]
pub struct App<L> {
    line: Line<L>,
    squares: Squares,
    position: Chess,
    /// The squares that were touched since the last move, and whether placed on.
    touched: Vec<(usize, bool)>,
    /// How long nothing may change before a move is taken for made: a man that slides rests on its
    /// way, and may go on from where a legal move ends.
    pub quiet: Duration,
    /// What a pawn becomes: the board cannot say.
    pub promotion: Role,
}

impl<L: Read + Write> App<L> {
    /// Starts anew, and asks for what stands on the board and for each change.
    pub fn connect(link: L, patience: Duration) -> Result<Self> {
        let mut app = App {
            line: Line::new(link, patience),
            squares: [false; 64],
            position: Chess::default(),
            touched: vec![],
            quiet: QUIET,
            promotion: Role::Queen,
        };
        app.line.send(&[0x40])?;
        app.line.send(&[0x63, 0x07, 1, 2, 3, 4, 5, 6, 0x00])?;
        app.lamps_off()?;
        app.look()?;
        app.line.send(&[0x44])?;
        Ok(app)
    }

    /// The position of the game.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Asks for the version of the firmware: whole, fraction.
    pub fn version(&mut self) -> Result<[u8; 2]> {
        let payload = self.ask(0x4d, 0x13)?;
        payload.try_into().ok().context("a version has two bytes")
    }

    /// Asks for maker and versions, as text.
    pub fn trademark(&mut self) -> Result<String> {
        Ok(String::from_utf8(self.ask(0x47, 0x12)?)?)
    }

    /// Asks what stands on the board.
    pub fn look(&mut self) -> Result<()> {
        let payload = self.ask(0x42, 0x06)?;
        ensure!(payload.len() == 64 && payload.iter().all(|&byte| byte <= 1), "{payload:?}");
        for (square, byte) in self.squares.iter_mut().zip(payload) {
            *square = byte == 1;
        }
        Ok(())
    }

    /// Begins a game, and waits until its squares are those of the board.
    pub fn begin(&mut self, position: &Chess) -> Result<()> {
        self.position = position.clone();
        self.wait_until(|app| app.squares == occupied(&app.position))?;
        self.touched.clear();
        Ok(())
    }

    /// Waits for the player's move, until nothing changes any more.
    pub fn turn(&mut self) -> Result<Move> {
        loop {
            self.wait_until(|app| app.found().is_some())?;
            if self.line.is_quiet(self.quiet)? {
                break;
            }
            let message = self.message()?;
            self.update(&message)?;
        }
        let mv = self.found().context("it was just there")?;
        self.advance(mv)?;
        Ok(mv)
    }

    /// Shows the app's move by its squares, waits until it is carried out, and puts the lamps out.
    pub fn play(&mut self, mv: Move) -> Result<()> {
        let squares =
            mv.from().into_iter().chain([king_to(mv)]).map(|square| number(square.into()));
        let squares: Vec<u8> = squares.collect();
        let rest = [&[5, 4, 0, 2], squares.as_slice(), &[0]].concat();
        self.line.send(&[&[0x60, rest.len() as u8], rest.as_slice()].concat())?;
        let next = self.position.clone().play(mv)?;
        self.wait_until(|app| app.squares == occupied(&next) && app.has_arrived(mv))?;
        self.advance(mv)?;
        self.lamps_off()
    }

    fn lamps_off(&mut self) -> Result<()> {
        self.line.send(&[0x60, 2, 0, 0])
    }

    fn advance(&mut self, mv: Move) -> Result<()> {
        self.position = self.position.clone().play(mv)?;
        self.touched.clear();
        Ok(())
    }

    /// The one legal move after which the board stands as it does, by what was touched where the
    /// squares alone leave it open.
    fn found(&self) -> Option<Move> {
        let fits = |mv: &Move| {
            let next = self.position.clone().play(*mv).ok();
            let is_there = next.is_some_and(|next| occupied(&next) == self.squares);
            let promotion = mv.promotion().is_none_or(|piece| piece == self.promotion);
            is_there && promotion && self.has_arrived(*mv)
        };
        let moves: Vec<Move> = self.position.legal_moves().into_iter().filter(fits).collect();
        if let [mv] = moves.as_slice() { Some(*mv) } else { None }
    }

    /// Whether a move's piece was seen to leave, then to arrive, where what it took had left.
    fn has_arrived(&self, mv: Move) -> bool {
        let to = usize::from(number(king_to(mv).into()));
        let is_lift = |square| move |touch: &(usize, bool)| *touch == (square, false);
        // A board may have its player press the square that was left, to say what a pawn becomes.
        let left = mv.from().and_then(|from| {
            self.touched.iter().position(is_lift(usize::from(number(from.into()))))
        });
        let arrived = self.touched.iter().rposition(|&touch| touch == (to, true));
        let taken = mv.is_capture() && !mv.is_en_passant();
        left.is_some() && arrived > left && (!taken || self.touched.iter().any(is_lift(to)))
    }

    fn wait_until(&mut self, is_so: impl Fn(&Self) -> bool) -> Result<()> {
        while !is_so(self) {
            let message = self.message()?;
            self.update(&message)?;
        }
        Ok(())
    }

    /// A change of a square.
    fn update(&mut self, message: &Message) -> Result<()> {
        let (0x0e, &[number @ 0..64, state @ 0..=1]) = (message.kind, message.payload.as_slice())
        else {
            bail!("the board says {message:?}");
        };
        let (number, is_placed) = (usize::from(number), state == 1);
        ensure!(self.squares[number] != is_placed, "a square changed to what it was: {message:?}");
        self.squares[number] = is_placed;
        self.touched.push((number, is_placed));
        Ok(())
    }

    /// Sends one byte, and waits for its answer; what changed meanwhile is not lost.
    fn ask(&mut self, byte: u8, answer: u8) -> Result<Vec<u8>> {
        self.line.send(&[byte])?;
        loop {
            let message = self.message()?;
            if message.kind == answer {
                return Ok(message.payload);
            }
            self.update(&message)?;
        }
    }

    /// The board's next message.
    pub fn message(&mut self) -> Result<Message> {
        let mut byte = || self.line.byte()?.context("the board says nothing");
        let [kind, high, low] = [byte()?, byte()?, byte()?];
        ensure!(kind & 0x80 != 0 && (high | low) & 0x80 == 0, "{kind} {high} {low} is no message");
        let length = usize::from(high) << 7 | usize::from(low);
        ensure!(length >= 3, "a message's length counts itself");
        let payload = (3..length).map(|_| byte()).collect::<Result<_>>()?;
        Ok(Message { kind: kind & 0x7f, payload })
    }
}

/// Where the king or another piece arrives.
fn king_to(mv: Move) -> kibitzer_core::shakmaty::Square {
    use kibitzer_core::shakmaty::{File, Square};
    match mv {
        Move::Castle { king, rook } => {
            let file = if rook < king { File::C } else { File::G };
            Square::from_coords(file, king.rank())
        }
        _ => mv.to(),
    }
}

/// The protocol's number of a square that is counted from a1.
fn number(square: u8) -> u8 {
    (7 - square / 8) * 8 + square % 8
}

fn occupied(position: &Chess) -> Squares {
    let mut squares = [false; 64];
    for square in position.board().occupied() {
        squares[usize::from(number(square.into()))] = true;
    }
    squares
}
