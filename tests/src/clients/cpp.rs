//! The central of the Chess Peripheral Protocol: it keeps the rules and accepts or refuses what the
//! board says.
use std::{
    io::{Read, Write},
    time::Duration,
};

use anyhow::{Result, bail, ensure};
use kibitzer_core::shakmaty::{
    CastlingMode, Chess, EnPassantMode, Move, Position as _, Role, fen::Fen, uci::UciMove,
};

use super::Line;

/// The features that this app makes use of.
const WANTED: [&str; 6] = ["undo", "moved", "check", "side", "draw_offer", "resign"];

/// What a board says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The pieces stand as the game does.
    Sync(String),
    /// They do not.
    Unsync(String),
    /// What stands on the board.
    State(String),
    /// The player's move.
    Move(String),
    /// The player's takeback.
    Undo(String),
    /// The app's move is carried out.
    Moved,
    /// The player gives up.
    Resign,
    /// The player offers a draw.
    DrawOffer,
    /// Yes.
    Ok,
    /// No.
    Nok,
    /// A fault, for people.
    Err(String),
}

/// What the player did at their turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Moved, and it was accepted.
    Played(Move),
    /// Moved, and it was refused: no legal move is written like this.
    Refused(String),
    /// Took the last move back, and it was accepted.
    TakenBack,
    /// Gave up.
    Resigned,
    /// Offers a draw; to be answered by [`Central::answer`].
    OffersDraw,
}

/// An app in a game.
#[derive(Debug)]
pub struct Central<L> {
    line: Line<L>,
    /// The features that the board has.
    features: Vec<&'static str>,
    /// The game's positions, the present one last.
    positions: Vec<Chess>,
    /// The moves between them.
    moves: Vec<Move>,
    /// What a pawn becomes where the board leaves it open.
    pub promotion: Role,
}

impl<L: Read + Write> Central<L> {
    /// Asks the board what it can do.
    pub fn connect(link: L, patience: Duration) -> Result<Self> {
        let mut central = Central {
            line: Line::new(link, patience),
            features: vec![],
            positions: vec![Chess::default()],
            moves: vec![],
            promotion: Role::Queen,
        };
        for feature in WANTED {
            if central.ask(&format!("feature {feature}"))? {
                central.features.push(feature);
            }
        }
        ensure!(central.ask("variant standard")?, "the board does not play chess");
        Ok(central)
    }

    /// The features that the board has, of those that are wanted.
    pub fn features(&self) -> &[&'static str] {
        &self.features
    }

    /// The position of the game.
    pub fn position(&self) -> &Chess {
        self.positions.last().expect("there is always one")
    }

    /// The moves of the game.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Begins a game and waits until the pieces stand as it does; returns how often the board said
    /// that they did not yet.
    pub fn begin(&mut self, position: &Chess) -> Result<usize> {
        (self.positions, self.moves) = (vec![position.clone()], vec![]);
        if self.has("side") {
            self.send("side ?")?;
        }
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        self.send(&format!("begin {fen}"))?;
        let mut waits = 0;
        loop {
            match self.message()? {
                Said::Sync(fen) => {
                    self.agrees(&fen)?;
                    return Ok(waits);
                }
                Said::Unsync(_) | Said::State(_) => waits += 1,
                other => bail!("the board answers `begin` by {other:?}"),
            }
        }
    }

    /// The app moves, and waits until the board has carried it out, where it says so.
    pub fn play(&mut self, mv: Move) -> Result<()> {
        self.send(&format!("move {}", mv.to_uci(CastlingMode::Standard)))?;
        self.advance(mv)?;
        self.wait_for_moved()
    }

    /// The app takes the last move back, and waits until the board has, where it says so.
    pub fn take_back(&mut self) -> Result<()> {
        ensure!(self.has("undo"), "the board cannot take back");
        let Some(mv) = self.moves.pop() else { bail!("there is no move to take back") };
        self.positions.pop();
        self.send(&format!("undo {}", mv.to_uci(CastlingMode::Standard)))?;
        self.tell_check()?;
        self.wait_for_moved()
    }

    /// Waits for what the player does, and accepts it where it is legal.
    pub fn turn(&mut self) -> Result<Turn> {
        loop {
            match self.message()? {
                Said::Move(uci) => return self.accept(&uci),
                Said::Undo(uci) => return self.accept_undo(&uci),
                Said::Resign => return Ok(Turn::Resigned),
                Said::DrawOffer => return Ok(Turn::OffersDraw),
                // A piece in the air, or knocked over and put back.
                Said::State(_) | Said::Unsync(_) | Said::Sync(_) => {}
                other => bail!("the board says {other:?} at its turn"),
            }
        }
    }

    /// Answers the player's offer of a draw.
    pub fn answer(&mut self, answer: bool) -> Result<()> {
        self.send(if answer { "ok" } else { "nok" })
    }

    /// Offers the player a draw; returns the answer.
    pub fn offer_draw(&mut self) -> Result<bool> {
        ensure!(self.has("draw_offer"), "the board knows no offers");
        self.ask("draw_offer")
    }

    /// Ends the game.
    pub fn end(&mut self, reason: &str) -> Result<()> {
        self.send(&format!("end {reason}"))
    }

    /// The board's next message.
    pub fn message(&mut self) -> Result<Said> {
        let mut line = vec![];
        loop {
            match self.line.byte()? {
                Some(b'\n') => break,
                Some(byte) => line.push(byte),
                None => bail!("the board says nothing, after {:?}", String::from_utf8_lossy(&line)),
            }
        }
        let line = String::from_utf8(line)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let rest = rest.to_owned();
        Ok(match word {
            "sync" => Said::Sync(rest),
            "unsync" => Said::Unsync(rest),
            "state" => Said::State(rest),
            "move" => Said::Move(rest),
            "undo" => Said::Undo(rest),
            "moved" => Said::Moved,
            "resign" => Said::Resign,
            "draw_offer" => Said::DrawOffer,
            "ok" => Said::Ok,
            "nok" => Said::Nok,
            "err" => Said::Err(rest),
            _ => bail!("the board says {line:?}, which is no message"),
        })
    }

    /// Sends a message.
    pub fn send(&mut self, message: &str) -> Result<()> {
        self.line.send(format!("{message}\n").as_bytes())
    }

    /// Sends a message that is answered by yes or no.
    fn ask(&mut self, message: &str) -> Result<bool> {
        self.send(message)?;
        loop {
            match self.message()? {
                Said::Ok => return Ok(true),
                Said::Nok => return Ok(false),
                Said::State(_) | Said::Unsync(_) | Said::Sync(_) => {}
                other => bail!("the board answers {message:?} by {other:?}"),
            }
        }
    }

    fn has(&self, feature: &str) -> bool {
        self.features.contains(&feature)
    }

    fn advance(&mut self, mv: Move) -> Result<()> {
        let next = self.position().clone().play(mv)?;
        self.positions.push(next);
        self.moves.push(mv);
        self.tell_check()
    }

    fn tell_check(&mut self) -> Result<()> {
        let position = self.position();
        match position.board().king_of(position.turn()) {
            Some(king) if position.is_check() && self.has("check") => {
                self.send(&format!("check {king}"))
            }
            _ => Ok(()),
        }
    }

    fn wait_for_moved(&mut self) -> Result<()> {
        while self.has("moved") {
            match self.message()? {
                Said::Moved => break,
                Said::State(_) | Said::Unsync(_) | Said::Sync(_) => {}
                other => bail!("the board says {other:?} while it carries out a move"),
            }
        }
        Ok(())
    }

    /// Accepts a move, with a piece where it is a promotion without one.
    fn accept(&mut self, text: &str) -> Result<Turn> {
        let Ok(uci) = text.parse::<UciMove>() else { return self.refuse(text) };
        if let Ok(mv) = uci.to_move(self.position()) {
            self.send("ok")?;
            self.advance(mv)?;
            return Ok(Turn::Played(mv));
        }
        let piece = self.promotion.char();
        match format!("{text}{piece}").parse::<UciMove>().map(|uci| uci.to_move(self.position())) {
            Ok(Ok(mv)) => {
                self.send(&format!("promote {text}{piece}"))?;
                self.advance(mv)?;
                Ok(Turn::Played(mv))
            }
            _ => self.refuse(text),
        }
    }

    fn refuse(&mut self, text: &str) -> Result<Turn> {
        self.send("nok")?;
        Ok(Turn::Refused(text.to_owned()))
    }

    fn accept_undo(&mut self, text: &str) -> Result<Turn> {
        let last = self.moves.last().map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
        if last.as_deref() != Some(text) {
            return self.refuse(text);
        }
        self.moves.pop();
        self.positions.pop();
        self.send("ok")?;
        Ok(Turn::TakenBack)
    }

    /// Whether what the board sees may be the position: it need not know every piece.
    fn agrees(&self, fen: &str) -> Result<()> {
        let board = fen.split(' ').next().unwrap_or_default();
        let ours = Fen::from_position(self.position(), EnPassantMode::Legal).to_string();
        let ours = ours.split(' ').next().unwrap_or_default();
        let is_like = |(theirs, ours): (char, char)| match theirs {
            '?' => ours != '.',
            'u' => ours.is_ascii_lowercase(),
            'U' => ours.is_ascii_uppercase(),
            theirs => theirs == ours,
        };
        let [theirs, ours] = [board, ours].map(squares);
        let agrees = theirs.len() == ours.len() && theirs.into_iter().zip(ours).all(is_like);
        ensure!(agrees, "the board says it is in sync with {fen:?}, which is not the game");
        Ok(())
    }
}

/// The squares of a FEN's first field, `.` where nothing stands.
fn squares(board: &str) -> Vec<char> {
    let square = |c: char| match c.to_digit(10) {
        Some(count) => vec!['.'; count as usize],
        None => vec![c],
    };
    board.chars().flat_map(square).collect()
}
