//! The Chess Peripheral Protocol (CPP), after its description of that name: text between an app, the
//! central, and a board, the peripheral. The central keeps the rules, the peripheral sees to it that
//! the pieces stand as the game does.
//!
//! A message is a command in lower case, a space, its parameters. The description has it that each
//! write to a BLE characteristic is one message; over a serial line, of which it says nothing, a line
//! feed ends a message here ([`Link`]).
//!
//! | from | message | meaning |
//! | --- | --- | --- |
//! | c | `feature NAME`, `variant NAME` | is it supported? `ok` or `nok` |
//! | c | `set_variant NAME` | the next game's; only `standard` is supported |
//! | c | `begin FEN` | a game begins; answered by `sync FEN` or `unsync FEN` |
//! | p | `sync FEN`, `unsync FEN` | the pieces stand as the game does, or they do not |
//! | p | `state FEN` | what stands there, after a change of a board that is not in order |
//! | c, p | `move UCI` | castling as the king's two steps; the central answers the board's by `ok` or `nok` |
//! | c | `promote UCI` | instead of `ok`, where a move is to be a promotion |
//! | c | `end REASON` | the game ended |
//! | c, p | `err TEXT` | for people; never answered |
//!
//! and with the features of that name, once the central asked for them ([`Feature`]):
//! `undo UCI` (c, p; the central answers the board's as a move), `last_move UCI`, `check SQUARE`,
//! `side w|b|?` (c), `moved`, `resign` (p), `draw_offer` (c, p; the other answers), `get_state` (c;
//! answered by `state`), more reasons of `end` (`draw_reason`), `state` at each change
//! (`state_stream`).
//!
//! A FEN of the board's is its first two fields, a piece that is not known being `?`. Of the
//! central's, the first field suffices: White moves, and kings and rooks at home may castle.
//!
//! A message that is not understood is answered by `err` and changes nothing; one longer than
//! [`MAX_LINE`] is passed over to its end. Later editions of the description have `undo FEN`, which
//! is understood, and other features, which are declined.
mod command;
mod features;
mod round;

use core::{fmt, mem};

use heapless::Vec;

use super::{Asked, Order, Report, Sink, Unsent};
use command::{Command, Fault};
use round::Round;

pub use command::MAX_LINE;
pub use features::{Feature, Features};

/// The only kind of chess.
const VARIANT: &[u8] = b"standard";

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Link {
    /// A serial line: a line feed, a carriage return or a zero byte ends a message, and a line feed is
    /// sent after each.
    Serial,
    /// Packets, as over BLE: each is one message, and nothing is sent after it.
    Packets,
}

/// The state of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpp {
    link: Link,
    /// What this board can do.
    offered: Features,
    /// What of it the central asked for.
    enabled: Features,
    line: Vec<u8, MAX_LINE>,
    is_too_long: bool,
    /// Whether the central has chosen a kind of chess that is not supported.
    is_other_variant: bool,
    /// A game goes on.
    round: Option<Round>,
    /// The central asked for the state outside a game, and may be told of changes until `begin`.
    is_watched: bool,
    /// The central waits for the state.
    owes_state: bool,
}

impl Cpp {
    /// At the beginning: a board that can do this.
    pub const fn new(link: Link, offered: Features) -> Self {
        Cpp {
            link,
            offered,
            enabled: Features::NONE,
            line: Vec::new(),
            is_too_long: false,
            is_other_variant: false,
            round: None,
            is_watched: false,
            owes_state: false,
        }
    }

    /// Takes a byte; at a message's end, answers what needs no look at the board, or returns what is
    /// ordered.
    pub fn receive(&mut self, byte: u8, out: &mut impl Sink) -> Option<Order> {
        if self.link == Link::Serial && matches!(byte, b'\n' | b'\r' | 0) {
            return self.end_of_message(out);
        }
        self.is_too_long |= self.line.push(byte).is_err();
        None
    }

    /// A packet ended; over a serial line that means nothing.
    pub fn end_of_packet(&mut self, out: &mut impl Sink) -> Option<Order> {
        if self.link == Link::Packets { self.end_of_message(out) } else { None }
    }

    fn end_of_message(&mut self, out: &mut impl Sink) -> Option<Order> {
        let line = mem::take(&mut self.line);
        let order = if mem::take(&mut self.is_too_long) {
            Err(Fault::TooLong)
        } else {
            Command::read(&line).and_then(|command| self.obey(command, out))
        };
        order.unwrap_or_else(|fault| {
            let _ = self.send(format_args!("err {fault}"), out);
            None
        })
    }

    /// The order in a command, if this state of the conversation has a place for it.
    fn obey(&mut self, command: Command<'_>, out: &mut impl Sink) -> Result<Option<Order>, Fault> {
        match command {
            Command::Nothing => {}
            Command::Feature(name) => {
                let feature = Feature::from_name(name).filter(|&f| self.offered.contains(f));
                if let Some(feature) = feature {
                    self.enabled = self.enabled.with(feature);
                }
                self.answer(feature.is_some(), out);
            }
            Command::Variant(name) => self.answer(name == VARIANT, out),
            Command::SetVariant(name) => self.is_other_variant = name != VARIANT,
            Command::Begin(position) => {
                if self.is_other_variant {
                    return Err(Fault::OtherVariant);
                }
                self.round = Some(Round::default());
                self.is_watched = false;
                return Ok(Some(Order::Begin(position)));
            }
            Command::GetState => {
                self.need(Feature::GetState)?;
                (self.owes_state, self.is_watched) = (true, self.round.is_none());
                return Ok(Some(Order::TellState));
            }
            Command::Side(side) => {
                self.need(Feature::Side)?;
                return Ok(Some(Order::Side(side)));
            }
            Command::End(reason) => return Ok(self.round.take().map(|_| Order::End(reason))),
            other => return self.obey_in_round(other).map(Some),
        }
        Ok(None)
    }

    /// The order in a command that belongs to a game.
    fn obey_in_round(&mut self, command: Command<'_>) -> Result<Order, Fault> {
        let round = self.round.as_mut().ok_or(Fault::NoRound)?;
        match command {
            Command::Ok => return round.asked.take().map(Order::Accepted).ok_or(Fault::Unasked),
            Command::Nok => return round.asked.take().map(Order::Refused).ok_or(Fault::Unasked),
            Command::Promote(uci) => return round.promote(uci).ok_or(Fault::Unasked),
            Command::Move(uci) => return Ok(Order::Move(uci)),
            _ => {}
        }
        let (feature, order) = match command {
            Command::Undo(uci) => (Feature::Undo, Order::Undo(uci)),
            Command::Restore(position) => (Feature::Undo, Order::Restore(position)),
            Command::LastMove(uci) => (Feature::LastMove, Order::LastMove(uci)),
            Command::Check(square) => (Feature::Check, Order::Check(square)),
            Command::DrawOffer => (Feature::DrawOffer, Order::DrawOffer),
            _ => return Err(Fault::Unknown),
        };
        self.need(feature)?;
        if let (Order::DrawOffer, Some(round)) = (&order, &mut self.round) {
            round.owes_draw = true;
        }
        Ok(order)
    }

    fn need(&self, feature: Feature) -> Result<(), Fault> {
        if self.enabled.contains(feature) { Ok(()) } else { Err(Fault::NotEnabled(feature)) }
    }

    /// Sends what happened at the board.
    ///
    /// # Errors
    /// Why it is not sent; see [`Unsent`].
    pub fn report(&mut self, report: &Report<'_>, out: &mut impl Sink) -> Result<(), Unsent> {
        match *report {
            Report::State(view) => {
                let in_disorder = self.round.is_some_and(|round| !round.is_synced);
                let streams = self.enabled.contains(Feature::StateStream) && self.round.is_some();
                if !(self.owes_state || self.is_watched || in_disorder || streams) {
                    return Err(Unsent::NotWanted);
                }
                self.send(format_args!("state {view}"), out)?;
                self.owes_state = false;
                Ok(())
            }
            Report::Error(text) => self.send(format_args!("err {text}"), out),
            Report::Occupancy(_) | Report::Dump(_) => Err(Unsent::NotWanted),
            _ => {
                let mut round = self.round.ok_or(Unsent::NotWanted)?;
                self.report_in_round(report, &mut round, out)?;
                self.round = Some(round);
                Ok(())
            }
        }
    }

    /// Sends what belongs to a game; `round` becomes what it is once that is sent.
    fn report_in_round(
        &self,
        report: &Report<'_>,
        round: &mut Round,
        out: &mut impl Sink,
    ) -> Result<(), Unsent> {
        let wants = |feature| {
            if self.enabled.contains(feature) { Ok(()) } else { Err(Unsent::NotWanted) }
        };
        match *report {
            Report::Sync(view) => {
                round.is_synced = true;
                self.send(format_args!("sync {view}"), out)
            }
            Report::Unsync(view) => {
                round.is_synced = false;
                self.send(format_args!("unsync {view}"), out)
            }
            Report::Move(uci) => {
                round.ask(Asked::Move(uci))?;
                self.send(format_args!("move {uci}"), out)
            }
            Report::Undo(uci) => {
                wants(Feature::Undo).map_err(|_| Unsent::NotAllowed)?;
                round.ask(Asked::Undo(uci))?;
                self.send(format_args!("undo {uci}"), out)
            }
            Report::DrawOffer => {
                wants(Feature::DrawOffer)?;
                round.ask(Asked::Draw)?;
                self.send(format_args!("draw_offer"), out)
            }
            Report::DrawAnswer(answer) if round.owes_draw => {
                round.owes_draw = false;
                self.send(yes_or_no(answer), out)
            }
            Report::Moved => {
                wants(Feature::Moved)?;
                self.send(format_args!("moved"), out)
            }
            Report::Resign => {
                wants(Feature::Resign)?;
                self.send(format_args!("resign"), out)
            }
            _ => Err(Unsent::NotWanted),
        }
    }

    fn answer(&self, answer: bool, out: &mut impl Sink) {
        let _ = self.send(yes_or_no(answer), out);
    }

    /// Sends a message.
    fn send(&self, text: fmt::Arguments<'_>, out: &mut impl Sink) -> Result<(), Unsent> {
        let mut message = Vec::<u8, MAX_LINE>::new();
        fmt::write(&mut message, text).map_err(|_| Unsent::TooLong)?;
        if self.link == Link::Serial {
            message.push(b'\n').map_err(|_| Unsent::TooLong)?;
        }
        Ok(out.send(&message)?)
    }

    /// The link was lost: the game and what the central asked for are forgotten.
    pub fn disconnected(&mut self) {
        *self = Cpp::new(self.link, self.offered);
    }
}

/// The protocol's word.
fn yes_or_no(answer: bool) -> fmt::Arguments<'static> {
    if answer { format_args!("ok") } else { format_args!("nok") }
}
