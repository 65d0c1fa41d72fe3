//! Which move was made on a board whose squares know only whether something stands on them.
//!
//! A [`Recogniser`] is given what the contacts read and when; it keeps the game and tells what
//! happens as [`Event`]s, and how the board stands as a [`State`]. It never guesses: a move is taken
//! once the board shows the position after it, the men can have got there by what was lifted and
//! put down, and no other legal move fits. Where two fit, or what a pawn becomes is open, it
//! asks.
//!
//! - `sensors`: contacts bounce.
//! - `hands`: which man may stand where, from lifts and places.
//! - `journey`: where each man of a position comes from, to be compared with that.
//! - `lines`: the moves that explain what the board shows; `back`: those that are taken back.
//! - `decide`: what follows from it, once the board has been quiet for [`SETTLE_MS`].
//! - `question`: what is asked, and how it is answered at the board.
//! - `gesture`: results told by the kings.
mod back;
mod decide;
mod gesture;
mod hands;
mod journey;
mod lines;
mod question;
mod sensors;

use heapless::{Deque, Vec};
use shakmaty::{Bitboard, ByColor, Chess, Color, Move, Position as _, Square, uci::UciMove};

use crate::{
    game::{Ending, Game, Maker, Outcome},
    legal,
};
use hands::Hands;
pub use question::{ANSWERS, Answer, Asked, Question};
pub use sensors::DEBOUNCE_MS;
use sensors::Sensors;

/// Milliseconds without a change after which the board is judged: a hand that rests on its way for
/// less has not moved yet.
pub const SETTLE_MS: u32 = 300;
/// Milliseconds after which a man on a square that it cannot move to no longer rests on its way.
pub const WRONG_MS: u32 = 1_500;
/// Milliseconds after which a rook's move that might begin castling is a rook's move.
pub const CASTLING_MS: u32 = 2_000;
/// Milliseconds for which the kings must stand in the centre to tell the result.
pub const RESULT_MS: u32 = 1_000;
/// Events that wait at most; a look at the board makes five at most.
const EVENTS: usize = 8;

/// Moves taken back that are remembered.
const REMEMBERED: usize = 16;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Event {
    /// Contacts opened and closed: squares left and filled.
    Changed {
        /// Squares left.
        #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
        lifted: Bitboard,
        /// Squares filled.
        #[cfg_attr(feature = "defmt", defmt(Debug2Format))]
        placed: Bitboard,
    },
    /// A player made this move.
    Moved(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] Move),
    /// The move that was told is carried out.
    Executed(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] Move),
    /// So many moves were taken back, by hand.
    TakenBack(usize),
    /// Something is asked; [`State::Asked`] has it.
    Asked,
    /// The board shows no position that could follow; [`State::Wrong`] has the squares.
    Wrong,
    /// The board is again, or for the first time, as the game has it.
    Agrees,
    /// All men were set up again: a new game from the first position.
    NewGame,
    /// White's men stand at the other end than was thought. Squares have turned about.
    Turned,
    /// The kings told the result.
    Result(Outcome),
    /// The game is over by the rules.
    Ended(Ending),
}

/// How the board stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// As the game has it.
    Ready,
    /// Something is lifted, and nothing wrong so far.
    Moving,
    /// A move is known and not finished: castling's rook, a pawn taken in passing, a move that was
    /// told, a capture that is being taken back.
    Unfinished {
        /// Squares to be left.
        lift: Bitboard,
        /// Squares to be filled.
        place: Bitboard,
    },
    /// A question is open.
    Asked(Question),
    /// Not a position that could follow.
    Wrong {
        /// Squares that should be occupied.
        missing: Bitboard,
        /// Squares that should not.
        extra: Bitboard,
    },
}

/// Follows a game on a board.
#[derive(Debug, Clone)]
pub struct Recogniser {
    game: Game,
    /// A move to be carried out on the board.
    told: Option<Move>,
    /// Whether White's moves are made by hand, and Black's.
    by_hand: ByColor<bool>,
    sensors: Sensors,
    hands: Hands,
    /// White's men stand where the contacts of the eighth rank are.
    is_turned: bool,
    /// When to judge the board next, in milliseconds without a change.
    judge_at: Option<u32>,
    /// So much was moved that only putting it back helps.
    is_disturbed: bool,
    /// Squares that changed since the question was put, and what stood then.
    pressed: Bitboard,
    asked_about: Bitboard,
    /// A move that came before the one that is asked about.
    before_answer: Option<(Move, Maker)>,
    /// The moves that were last taken back by hand.
    taken_back: Vec<Move, REMEMBERED>,
    state: State,
    judgements: u32,
    events: Deque<Event, EVENTS>,
}

impl Default for Recogniser {
    fn default() -> Self {
        Self::new(Game::default())
    }
}

impl Recogniser {
    /// Follows `game` on a board of which nothing is known yet: the first event is
    /// [`Event::Agrees`] once its men are set up, or [`Event::Wrong`].
    pub fn new(game: Game) -> Self {
        Self::with_players(game, ByColor { black: true, white: true })
    }

    /// The same where only these sides' moves are made by hand.
    pub fn with_players(game: Game, by_hand: ByColor<bool>) -> Self {
        Self {
            game,
            told: None,
            by_hand,
            sensors: Sensors::new(),
            hands: Hands::at_home(Bitboard::EMPTY),
            is_turned: false,
            judge_at: Some(SETTLE_MS),
            is_disturbed: true,
            pressed: Bitboard::EMPTY,
            asked_about: Bitboard::EMPTY,
            before_answer: None,
            taken_back: Vec::new(),
            state: State::Moving,
            judgements: 0,
            events: Deque::new(),
        }
    }

    /// Goes on with a game that `load` puts in place of the present one.
    pub fn resume<T>(&mut self, load: impl FnOnce(&mut Game) -> T) -> T {
        let loaded = load(&mut self.game);
        self.guide();
        loaded
    }

    /// The game so far.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// How the board stands.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// How often the board was judged: while it stays the same, so does the state.
    pub const fn judgements(&self) -> u32 {
        self.judgements
    }

    /// The move to be carried out.
    pub const fn told(&self) -> Option<Move> {
        self.told
    }

    /// The squares that are occupied, contacts at rest.
    pub const fn occupied(&self) -> Bitboard {
        self.hands.occupied()
    }

    /// Squares of the game's men that nobody has lifted or put down since the board last was as
    /// the game has it are those that are not among these.
    pub const fn touched(&self) -> Bitboard {
        self.hands.touched()
    }

    /// The square that a square of the game has on the board, and the other way round: another
    /// one while [turned](Event::Turned).
    pub fn on_board(&self, square: Square) -> Square {
        if self.is_turned { square.rotate_180() } else { square }
    }

    /// Whether White's men stand at the other end.
    pub const fn is_turned(&self) -> bool {
        self.is_turned
    }

    /// Says where White's men stand, as a saved game knows it.
    pub fn set_turned(&mut self, turned: bool) {
        if turned != self.is_turned {
            self.turn();
        }
    }

    /// Takes in what the contacts read at `now`, a clock's milliseconds that may wrap around. To
    /// be called some ten milliseconds apart, changes or not; then [`Recogniser::next_event`]
    /// until there is none.
    pub fn frame(&mut self, now: u32, read: Bitboard) {
        let read = if self.is_turned { read.rotate_180() } else { read };
        let changes = self.sensors.frame(now, read);
        let changed = changes.lifted | changes.placed;
        if changed.any() {
            self.hands.change(now, changes.lifted, changes.placed);
            self.pressed |= changed;
            self.judge_at = Some(SETTLE_MS);
            self.tell(Event::Changed { lifted: changes.lifted, placed: changes.placed });
        }
        let quiet = self.sensors.quiet_for(now);
        if let Some(at) = self.judge_at
            && quiet >= at
        {
            self.judge_at = None;
            self.judge(quiet);
        }
    }

    /// For boards that report a man lifted from a square of the board: [`Recogniser::frame`] with
    /// it left.
    pub fn lift(&mut self, now: u32, square: Square) {
        let read = self.read();
        self.frame(now, read.without(square));
    }

    /// The same for one put down.
    pub fn place(&mut self, now: u32, square: Square) {
        let read = self.read();
        self.frame(now, read.with(square));
    }

    /// The same with nothing changed.
    pub fn tick(&mut self, now: u32) {
        let read = self.read();
        self.frame(now, read);
    }

    /// What happened next.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Says whether the moves of a side are made by hand. If not, its men move only as
    /// [told](Recogniser::tell_move); at first both sides' are.
    pub fn set_by_hand(&mut self, color: Color, by_hand: bool) {
        *self.by_hand.get_mut(color) = by_hand;
        self.judge_again();
    }

    /// A legal move that an engine or an application makes, and that is to be carried out on the
    /// board.
    pub fn tell_move(&mut self, mv: Move) {
        self.told = Some(mv);
        self.judge_again();
    }

    /// The move that was told is not to be made after all.
    pub fn cancel_told(&mut self) {
        self.told = None;
        self.judge_again();
    }

    /// Answers a question, as by a button. Whether it was one of the answers.
    pub fn answer(&mut self, mv: Move) -> bool {
        let State::Asked(question) = &self.state else { return false };
        let is_known = question.answers.iter().any(|answer| answer.mv == mv);
        let is_over = is_known && self.shows(mv);
        if is_over {
            self.accept(mv);
        }
        is_over
    }

    /// The moves that were last taken back by hand, the last sixteen of them, in the order in which
    /// they had been made.
    pub fn taken_back(&self) -> &[Move] {
        &self.taken_back
    }

    /// Makes moves that were taken back once more, as far as they are legal; their men are to be put
    /// where they belong.
    pub fn make_again<'a>(&mut self, moves: impl Iterator<Item = &'a UciMove>) {
        for uci in moves {
            if let Some(mv) = legal::named(self.game.position(), uci) {
                self.game.play(mv, Maker::Told);
                self.guide();
            }
        }
    }

    /// The pawn that was promoted last became something else: the last move is this one instead.
    pub fn correct_promotion(&mut self, mv: Move) {
        self.game.take_back(1);
        self.game.play(mv, Maker::Hand);
    }

    /// Takes back moves, as by a button; their men are to be put back.
    pub fn take_back(&mut self, plies: usize) {
        self.game.take_back(plies);
        self.guide();
    }

    /// Begins a game from `start`, whose men are to be set up.
    pub fn set_up(&mut self, start: Chess) {
        self.game.restart(start);
        self.guide();
    }

    /// What the contacts read, on the board.
    fn read(&self) -> Bitboard {
        let read = self.sensors.read();
        if self.is_turned { read.rotate_180() } else { read }
    }

    /// Other men are to be on the board: those that are there were touched by nobody.
    fn guide(&mut self) {
        self.told = None;
        self.is_disturbed = true;
        self.hands = Hands::at_home(self.hands.occupied());
        self.judge_again();
    }

    /// The game has changed under the men.
    fn judge_again(&mut self) {
        self.judge_at = Some(SETTLE_MS);
        self.judgements = self.judgements.wrapping_add(1);
        self.state = State::Moving;
    }

    /// The men of the game.
    fn home(&self) -> Bitboard {
        self.game.position().board().occupied()
    }

    fn tell(&mut self, event: Event) {
        if self.events.is_full() {
            // Nobody has asked for long. What is lost first is what was felt, not what was decided.
            let all = self.events.len();
            let mut dropped = false;
            for _ in 0..all {
                let Some(old) = self.events.pop_front() else { break };
                if !dropped && matches!(old, Event::Changed { .. }) {
                    dropped = true;
                } else {
                    let _ = self.events.push_back(old);
                }
            }
            if !dropped {
                self.events.pop_front();
            }
        }
        // There is room now.
        let _ = self.events.push_back(event);
    }

    /// White's men stand at the other end.
    fn turn(&mut self) {
        self.is_turned = !self.is_turned;
        self.hands = self.hands.turned();
        self.sensors = self.sensors.turned();
        self.pressed = self.pressed.rotate_180();
        self.asked_about = self.asked_about.rotate_180();
    }
}
