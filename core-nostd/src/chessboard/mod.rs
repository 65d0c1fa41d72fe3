//! A whole electronic chessboard above its wires: contacts in, lamps out; an opponent, a coach, or an
//! app at the other end of a line.
//!
//! Whoever has the wires calls, in one loop:
//! - [`Chessboard::frame`] with what the contacts read, every ten milliseconds or so: cheap;
//! - [`Chessboard::receive`] with each byte from the line, [`Chessboard::press`] for each button;
//! - [`Chessboard::think`] while [`Chessboard::wants_to_think`]: dear, some tenths of a second;
//! - and shows [`Chessboard::lamps`] and [`Chessboard::signal`], sends
//!   [`Chessboard::next_byte`], and saves the game when [`Chessboard::is_to_be_saved`].
//!
//! While an app keeps the game nothing is thought and nothing is graded: no help of any kind leaves
//! the board. So it stays when the line is down, since the game may go on elsewhere, until the next
//! game begins.
//!
//! - `local`: what happens at the board, and what is thought of it.
//! - `thoughts`: what is known of a turn.
//! - `remote`: what the app says, and is told; `line`: the line to it.
//! - `show`: which lamp has which colour.
//! - `words`: the same in words, for a display or a terminal.
//! - `settings`: who plays, how strong, with how much help.
mod line;
mod local;
mod remote;
mod settings;
mod show;
mod thoughts;
mod words;

use heapless::String;
use shakmaty::{Bitboard, ByColor, Chess, Color};

use crate::{
    coach::{Chance, Coach, Mind},
    game::{Game, Outcome},
    lamps::Frame,
    protocol::Protocol,
    recognition::Recogniser,
};
use line::Remote;
pub use local::Task;
pub use settings::{Player, SETTINGS_BYTES, Settings};
use thoughts::Thoughts;

/// Milliseconds for which Viveka waits with its answer to a move that was warned of, so that it may
/// be taken back.
pub const WARNING_MS: u32 = 5_000;
/// Bytes of the longest message in words.
const MESSAGE: usize = 224;

/// A button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Button {
    /// Shows the best move, as one of the turn's hints.
    Hint,
    /// Takes back the last move, with Viveka's answer to it.
    TakeBack,
    /// Begins a new game.
    NewGame,
    /// Changes sides: Viveka plays Black, White, nobody.
    Side,
    /// The next level, for whoever plays against Viveka.
    Level,
    /// Yes: takes a draw that is offered; offers one to an app otherwise.
    Yes,
    /// No: declines a draw that is offered; gives up a game with an app otherwise.
    No,
}

/// A chessboard.
#[derive(Debug)]
pub struct Chessboard<'a> {
    mind: Mind<'a>,
    settings: Settings,
    recogniser: Recogniser,
    coach: Coach,
    thoughts: Thoughts,
    chance: Chance,
    remote: Option<Remote>,
    now: u32,
    /// The result, when the game is over.
    outcome: Option<Outcome>,
    lamps: Frame,
    signal: bool,
    message: String<MESSAGE>,
    is_to_be_saved: bool,
}

impl<'a> Chessboard<'a> {
    /// A board before its first game. `seed` decides what weak opponents do.
    ///
    /// It has some 20 KB: better made in its place than on a small stack.
    pub fn new(mind: Mind<'a>, settings: Settings, seed: u32) -> Self {
        let by_hand = ByColor::new_with(|color| !settings.is_viveka(color));
        // Nothing is done to it here, for then it would be copied.
        Self {
            mind,
            settings,
            recogniser: Recogniser::with_players(Game::default(), by_hand),
            coach: Coach::new(),
            thoughts: Thoughts::default(),
            chance: Chance::new(seed),
            remote: None,
            now: 0,
            outcome: None,
            lamps: Frame::DARK,
            signal: false,
            message: String::new(),
            is_to_be_saved: false,
        }
    }

    /// Goes on with a game that was saved: `load` puts it in place of the one that has just begun,
    /// and says what the players had chosen. The men may stand where they like; if it is not where
    /// they belong, the lamps lead them there.
    pub fn resume<T>(&mut self, load: impl FnOnce(&mut Game, &mut Settings) -> T) -> T {
        let mut settings = self.settings;
        let loaded = self.recogniser.resume(|game| load(game, &mut settings));
        self.settings = settings;
        self.recogniser.set_turned(settings.is_turned);
        self.seat_players();
        self.begin_turn();
        self.outcome = self.game().outcome();
        loaded
    }

    /// There is a line to an app, which may say something in this protocol.
    pub fn speak(&mut self, protocol: Protocol) {
        self.disconnected();
        self.remote = Some(Remote::new(protocol));
        self.listen();
    }

    /// Where an app may keep a game by what it hears, it does.
    fn listen(&mut self) {
        if self.remote.as_ref().is_some_and(Remote::is_heard) {
            self.go_online();
        }
    }

    /// Takes in what the contacts read at `now`, a clock's milliseconds that may wrap around.
    pub fn frame(&mut self, now: u32, read: Bitboard) {
        self.now = now;
        let judgements = self.recogniser.judgements();
        self.recogniser.frame(now, read);
        let mut is_changed = self.recogniser.judgements() != judgements;
        while let Some(event) = self.recogniser.next_event() {
            self.happen(event);
            is_changed = true;
        }
        is_changed |= self.wait();
        if is_changed {
            self.show();
        }
        self.send();
    }

    /// Takes in a byte from the app.
    pub fn receive(&mut self, byte: u8) {
        if let Some(order) = self.remote.as_mut().and_then(|remote| remote.receive(byte, self.now))
        {
            self.obey(order);
            self.show();
        }
        self.listen();
    }

    /// A packet from the app ended here, as over BLE.
    pub fn end_of_packet(&mut self) {
        if let Some(order) = self.remote.as_mut().and_then(Remote::end_of_packet) {
            self.obey(order);
            self.show();
        }
    }

    /// The line to the app is down.
    pub fn disconnected(&mut self) {
        if let Some(remote) = &mut self.remote {
            remote.disconnected();
            self.recogniser.cancel_told();
            self.seat_players();
            self.begin_turn();
            self.outcome = self.game().outcome();
            self.show();
        }
    }

    /// The next byte for the app.
    pub fn next_byte(&mut self) -> Option<u8> {
        self.remote.as_mut()?.next_byte()
    }

    /// The colours of the lamps, by the squares of the board: turned where the men are.
    pub const fn lamps(&self) -> &Frame {
        &self.lamps
    }

    /// Whether the position is one to think about.
    pub const fn signal(&self) -> bool {
        self.signal
    }

    /// What is to be said in words, until the next thing happens.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Begins a game from a position, to which the lamps lead.
    pub fn set_up(&mut self, start: Chess) {
        self.recogniser.set_up(start);
        self.begin_game();
        self.is_to_be_saved = true;
        self.show();
    }

    /// The game.
    pub const fn game(&self) -> &Game {
        self.recogniser.game()
    }

    /// The result, when the game is over.
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// What recognises the moves.
    pub const fn recogniser(&self) -> &Recogniser {
        &self.recogniser
    }

    /// What the players have chosen.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes what the players have chosen; help that a game forbids is not among it.
    pub fn set(&mut self, settings: Settings) {
        self.settings = Settings { is_unaided: self.settings.is_unaided, ..settings };
        self.recogniser.set_turned(settings.is_turned);
        self.recogniser.cancel_told();
        self.seat_players();
        self.begin_turn();
        self.outcome = self.game().outcome();
        self.is_to_be_saved = true;
        self.show();
    }

    /// Whether the game or the settings have changed since [`Chessboard::saved`].
    pub const fn is_to_be_saved(&self) -> bool {
        self.is_to_be_saved
    }

    /// The game and the settings are saved.
    pub const fn saved(&mut self) {
        self.is_to_be_saved = false;
    }

    /// Whether an app keeps the game.
    pub fn is_online(&self) -> bool {
        self.remote.as_ref().is_some_and(Remote::is_online)
    }

    fn position(&self) -> &Chess {
        self.recogniser.game().position()
    }

    /// Whose moves are made by hand: everybody's but Viveka's, and everybody's in an app's game.
    fn seat_players(&mut self) {
        for color in Color::ALL {
            let by_hand = self.settings.is_unaided || !self.settings.is_viveka(color);
            self.recogniser.set_by_hand(color, by_hand);
        }
    }
}
