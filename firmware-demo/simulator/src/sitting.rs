//! Somebody who sits at an emulated board: touches men, reads lamps, and writes down what is seen.
use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context as _, Result, anyhow, ensure};
use kibitzer_core::lamps::{Colour, Frame};
use kibitzer_core::moves::{castling_squares, destination, en_passant_victim};
use kibitzer_core::position::parse_fen;
use kibitzer_core::shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square};
use kibitzer_core::{board::uci, legal};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::contacts::Contacts;
use crate::emulated::Emulated;
use crate::hand::{self, Beat, Style};

/// Milliseconds after which a board has decided.
const DECIDED_MS: u32 = 350;

/// The dearest of each part of the work, in instructions, and how often it was done.
pub type Costs = BTreeMap<String, (u64, u64)>;

/// Somebody at the board.
pub struct Sitting {
    emulated: Emulated,
    /// The contacts.
    pub contacts: Contacts,
    /// How they move their men.
    pub style: Style,
    /// Chance.
    pub rng: ChaCha8Rng,
    /// The lamps.
    pub lamps: Frame,
    /// The signal.
    pub signal: bool,
    /// What the board said last.
    pub message: String,
    /// The position of its game.
    pub position: Chess,
    /// What the parts of its work took.
    pub costs: Costs,
    /// How many moves the game had that was saved last.
    pub saved: Option<usize>,
    transcript: Option<Box<dyn Write + Send>>,
}

impl Sitting {
    /// Sits down at a board whose men stand in the first position.
    ///
    /// # Errors
    /// The board is gone.
    pub fn new(emulated: Emulated, style: Style, scan_ms: u32, seed: u64) -> Result<Self> {
        let occupied = Chess::default().board().occupied();
        Self::with_men(emulated, style, Contacts::new(occupied, scan_ms), seed)
    }

    /// Sits down at a board whose men stand anywhere.
    ///
    /// # Errors
    /// The board is gone.
    pub fn with_men(
        emulated: Emulated,
        style: Style,
        contacts: Contacts,
        seed: u64,
    ) -> Result<Self> {
        let position = Chess::default();
        let mut sitting = Self {
            emulated,
            contacts,
            style,
            rng: ChaCha8Rng::seed_from_u64(seed),
            lamps: Frame::DARK,
            signal: false,
            message: String::new(),
            position,
            costs: Costs::new(),
            saved: None,
            transcript: None,
        };
        sitting.wait(DECIDED_MS)?;
        Ok(sitting)
    }

    /// Writes every frame of the lamps and every message down from now on.
    pub fn write_down(&mut self, transcript: Box<dyn Write + Send>) {
        self.transcript = Some(transcript);
    }

    /// Looks on for so long.
    ///
    /// # Errors
    /// The board is gone.
    pub fn wait(&mut self, ms: u32) -> Result<()> {
        let until = self.contacts.now().wrapping_add(ms);
        while until.wrapping_sub(self.contacts.now()) as i32 > 0 {
            let read = self.contacts.look();
            let now = self.contacts.now();
            let answer = self.emulated.look(now, read)?;
            for (part, instructions) in answer.costs {
                let (most, count) = self.costs.entry(part).or_default();
                *most = instructions.max(*most);
                *count += 1;
            }
            self.saved = answer.saved.or(self.saved);
            let mut seen = Vec::new();
            if let Some((lamps, signal)) = answer.lamps {
                (self.lamps, self.signal) = (lamps, signal);
                let mark = if signal { " signal" } else { "" };
                seen.push(format!("lamps {lamps}{mark}"));
            }
            if let Some(fen) = answer.position {
                self.position = parse_fen(&fen).map_err(|error| anyhow!("{fen}: {error}"))?;
                seen.push(format!("position {fen}"));
            }
            if let Some(message) = answer.message {
                seen.push(format!("says {message}"));
                self.message = message;
            }
            if let Some(transcript) = &mut self.transcript {
                for line in seen {
                    writeln!(transcript, "{now} {line}")?;
                }
            }
        }
        Ok(())
    }

    /// Does what a hand does.
    ///
    /// # Errors
    /// The board is gone.
    pub fn act(&mut self, beats: &[Beat]) -> Result<()> {
        for beat in beats {
            self.wait(beat.wait_ms)?;
            for &square in &beat.touched {
                self.contacts.touch(square, &mut self.rng);
            }
        }
        Ok(())
    }

    /// Lifts or puts down a man.
    ///
    /// # Errors
    /// The board is gone.
    pub fn touch(&mut self, square: Square) -> Result<()> {
        self.act(&[Beat { wait_ms: 120, touched: vec![square] }])
    }

    /// Presses a square.
    ///
    /// # Errors
    /// The board is gone.
    pub fn press_square(&mut self, square: Square) -> Result<()> {
        self.act(&hand::press(square))?;
        self.wait(DECIDED_MS)
    }

    /// Presses a button: `hint`, `back`, `new`, `side`, `level`, `yes`, `no`.
    ///
    /// # Errors
    /// The board is gone.
    pub fn press(&mut self, button: &str) -> Result<()> {
        self.emulated.press(button)?;
        self.wait(DECIDED_MS)
    }

    /// Chooses the protocol of the line to the app: `cpp`, `pegasus`, `certabo`.
    ///
    /// # Errors
    /// The board is gone.
    pub fn speak(&mut self, protocol: &str) -> Result<()> {
        self.emulated.speak(protocol)?;
        self.wait(DECIDED_MS)
    }

    /// Lets the program hang, until the watchdog starts it anew.
    ///
    /// # Errors
    /// The board is gone.
    pub fn hang(&mut self) -> Result<()> {
        self.emulated.hang()?;
        self.wait(DECIDED_MS)
    }

    /// Chooses a position to be set up by the lamps.
    ///
    /// # Errors
    /// The board is gone.
    pub fn set_up(&mut self, fen: &str) -> Result<()> {
        self.emulated.set_up(fen)?;
        self.wait(DECIDED_MS)
    }

    /// Makes a legal move and answers what the board asks, until it has taken it.
    ///
    /// # Errors
    /// The board is gone, or does not take the move.
    pub fn make(&mut self, mv: Move) -> Result<()> {
        let mut expected = self.position.clone();
        let mover = expected.turn();
        expected.play_unchecked(mv);
        let beats = hand::make(&self.position, mv, self.style, &mut self.rng);
        self.act(&beats)?;
        self.wait(DECIDED_MS)?;
        // What was taken is asked first, then what a pawn becomes, or whether a rook castles.
        for _ in 0..2 {
            if self.position.board() == expected.board() {
                break;
            }
            let violet = self.lamps.of(Colour::Violet);
            let to = destination(mv);
            if let (Some(role), true) = (mv.promotion(), violet.count() == 4) {
                let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
                let place = roles.iter().position(|&other| other == role).context("a piece")?;
                let step = mover.fold_wb(-8, 8) * (1 + i32::try_from(place)?);
                self.press_square(to.offset(step).context("a square of the file")?)?;
            } else if mv.is_capture() {
                self.press_square(to)?;
            } else {
                self.wait(2_400)?;
            }
        }
        ensure!(
            self.position.board() == expected.board(),
            "{} was not recognised: {} {}",
            uci(mv),
            self.lamps,
            self.message
        );
        Ok(())
    }

    /// The move that blue lamps ask for: where the lamps of one legal move are lit.
    pub fn asked_for(&self) -> Option<Move> {
        let blue = self.lamps.of(Colour::Blue);
        let color = self.position.turn();
        let squares = |mv: Move| {
            let from = mv.from().map_or(Bitboard::EMPTY, Bitboard::from);
            let more = match mv {
                Move::Castle { king, rook } => {
                    let (king, rook_to) = castling_squares(king, rook, color);
                    Bitboard::from(king) | rook | rook_to
                }
                Move::EnPassant { from, to } => en_passant_victim(from, to).into(),
                _ => Bitboard::EMPTY,
            };
            from | destination(mv) | more
        };
        legal::moves(&self.position).into_iter().find(|&mv| squares(mv) == blue)
    }

    /// Does what the lamps ask for: carries out a move, or takes men away and puts them back, one
    /// a call. Whether they asked for something.
    ///
    /// # Errors
    /// The board is gone, or does not take the move.
    pub fn follow(&mut self) -> Result<bool> {
        if let Some(mv) = self.asked_for() {
            self.make(mv)?;
            return Ok(true);
        }
        let (red, white) = (self.lamps.of(Colour::Red), self.lamps.of(Colour::White));
        let occupied = self.contacts.occupied();
        let square = (red & occupied).first().or((white & !occupied).first());
        if let Some(square) = square {
            self.touch(square)?;
            self.wait(DECIDED_MS)?;
        }
        Ok(square.is_some())
    }

    /// Gets up; the bytes of the board's deepest stack.
    ///
    /// # Errors
    /// The board did not end well.
    pub fn end(self) -> Result<u64> {
        self.emulated.end()
    }
}
