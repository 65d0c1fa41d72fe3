//! What happens at the board, and what is thought of it.
use shakmaty::{Bitboard, Chess, Color, Position as _, Square};

use super::{Button, Chessboard, Player, WARNING_MS, thoughts::Thoughts};
use crate::{
    coach::Level,
    game::{Game, Maker, Outcome},
    moves::destination,
    recognition::{Event, State},
    viveka::LastMove,
};

/// Milliseconds for which a man is in the air before its moves are graded: whoever knows what to
/// play has put it down by then.
const TOUCH_MS: u32 = 250;
/// Milliseconds after which a question is shown that whoever holds a man need not answer.
const QUESTION_MS: u32 = 2_000;

/// The squares of the last move but so many, of which some of Viveka's terms speak.
fn last_move(game: &Game, later: usize) -> Option<LastMove> {
    let (mv, _) = game.moves().rev().nth(later)?;
    Some(LastMove { from: mv.from()?, to: destination(mv) })
}

impl Chessboard<'_> {
    /// Takes in what happened at the board.
    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Changed { lifted, placed } => self.feel(lifted, placed),
            Event::Moved(mv) => {
                self.begin_turn();
                let is_known = self.thoughts.known == self.game().digest_before();
                self.thoughts.to_review = is_known.then_some(mv);
                self.thoughts.touched = self.in_the_air().map(|square| (square, self.now));
                self.is_to_be_saved = true;
            }
            Event::Executed(_) | Event::TakenBack(_) => {
                self.begin_turn();
                self.is_to_be_saved = true;
            }
            Event::NewGame => {
                self.begin_game();
                self.is_to_be_saved = true;
            }
            // Without help it is as if nothing was asked.
            Event::Asked if !self.settings.is_unaided => {
                self.thoughts.asked_at = Some(self.now);
                self.thoughts.is_question_shown = false;
            }
            // An app may decline the draw.
            Event::Result(outcome) if !self.is_online() => self.end(outcome),
            Event::Ended(ending) => self.end(ending.outcome(self.position().turn())),
            Event::Turned => {
                self.settings.is_turned = self.recogniser.is_turned();
                self.is_to_be_saved = true;
            }
            // The kings are back: the result they told counts no longer.
            Event::Agrees if !self.is_online() => self.outcome = self.game().outcome(),
            Event::Asked | Event::Result(_) | Event::Wrong | Event::Agrees => {}
        }
        self.word(event);
        self.report(event);
    }

    /// A button was pressed.
    pub fn press(&mut self, button: Button) {
        if self.is_online() {
            self.press_online(button);
            return self.show();
        }
        match button {
            Button::Hint => self.give_hint(),
            Button::TakeBack => self.take_back(),
            Button::NewGame => self.set_up(Chess::default()),
            Button::Side => {
                let players = &mut self.settings.players;
                (players.white, players.black) = match (players.white, players.black) {
                    (Player::Hand, Player::Viveka) => (Player::Viveka, Player::Hand),
                    (Player::Viveka, Player::Hand) => (Player::Hand, Player::Hand),
                    _ => (Player::Hand, Player::Viveka),
                };
                self.set(self.settings);
                self.word_settings();
            }
            Button::Level => {
                for color in Color::ALL {
                    let level = self.settings.levels.get_mut(color);
                    if *self.settings.players.get(!color) == Player::Viveka {
                        let is_last = *level == Level::STRONGEST;
                        let next = level.number().saturating_add(1);
                        *level = if is_last { Level::WEAKEST } else { Level::new(next) };
                    }
                }
                self.is_to_be_saved = true;
                self.word_settings();
            }
            Button::Yes | Button::No => {}
        }
        self.show();
    }

    /// Another turn begins: what was known of the last one counts no longer.
    pub(super) fn begin_turn(&mut self) {
        let known = self.thoughts.known;
        let hints = core::mem::take(&mut self.thoughts.hints);
        self.thoughts = Thoughts { known, hints, ..Thoughts::default() };
        self.outcome = None;
    }

    pub(super) fn begin_game(&mut self) {
        self.thoughts = Thoughts::default();
        self.coach.forget();
        self.outcome = self.game().outcome();
        if self.settings.is_unaided && !self.is_online() {
            self.settings.is_unaided = false;
            self.seat_players();
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
        self.is_to_be_saved = true;
    }

    /// Contacts opened or closed.
    fn feel(&mut self, lifted: Bitboard, placed: Bitboard) {
        self.thoughts.hint = None;
        let own = self.position().us() & lifted;
        // Without help every man in the air is looked at alike, whatever it may take.
        self.thoughts.asked_at = (self.settings.is_unaided && own.any()).then_some(self.now);
        self.thoughts.is_question_shown = false;
        if let Some((square, _)) = self.thoughts.touched
            && placed.contains(square)
        {
            self.thoughts.touched = None;
            self.thoughts.graded = None;
        }
        if let (None, Some(square)) = (self.thoughts.touched, own.single_square()) {
            self.thoughts.touched = Some((square, self.now));
        }
    }

    /// Time has passed; whether there is something new to show.
    pub(super) fn wait(&mut self) -> bool {
        let is_due = |at: u32| self.now.wrapping_sub(at) >= QUESTION_MS;
        let is_new = self.thoughts.asked_at.is_some_and(is_due);
        if is_new {
            self.thoughts.asked_at = None;
            self.thoughts.is_question_shown = true;
        }
        is_new
    }

    /// The man of the side to move that alone is missing.
    pub(super) fn in_the_air(&self) -> Option<Square> {
        (self.position().us() & !self.recogniser.occupied()).single_square()
    }

    /// A number of the turn in its game.
    fn turn(&self) -> u32 {
        let position = self.position();
        let black = u32::from(position.turn().is_black());
        position.fullmoves().get().saturating_mul(2).saturating_add(black)
    }

    /// Whether the turn has hints left.
    fn has_hints(&self) -> bool {
        let turn = self.turn();
        let mut given = self.thoughts.hints.iter().filter(|&&(other, _)| other == turn);
        given.next().map_or(0, |&(_, hints)| hints) < self.settings.hints
    }

    /// Whether any help is to be given.
    const fn assists(&self) -> bool {
        self.settings.hints > 0 || self.settings.warns
    }

    /// Whether the position on the board was thought about.
    fn is_known(&self) -> bool {
        self.coach.is_known() && self.thoughts.known == Some(self.game().digest())
    }

    /// Whether the position is critical, for the signal.
    pub(super) fn is_critical(&self) -> bool {
        let by_hand = !self.settings.is_viveka(self.position().turn());
        self.assists() && by_hand && self.is_known() && self.coach.is_critical()
    }

    /// What is to be thought about next.
    fn task(&self) -> Option<Task> {
        if self.settings.is_unaided || self.outcome.is_some() {
            return None;
        }
        let turn = self.position().turn();
        let is_viveka = self.settings.is_viveka(turn);
        if self.thoughts.to_review.is_some() && self.settings.warns {
            return Some(Task::Review);
        }
        if !self.is_known() && (is_viveka || self.assists()) {
            return Some(Task::Position);
        }
        let is_still = matches!(self.recogniser.state(), State::Ready);
        let is_held = self
            .thoughts
            .hold_until
            .is_some_and(|until| until.wrapping_sub(self.now) <= WARNING_MS);
        if is_viveka && self.recogniser.told().is_none() && is_still && !is_held {
            return Some(Task::Reply);
        }
        let (square, since) = self.thoughts.touched.filter(|_| !is_viveka)?;
        let is_long = self.now.wrapping_sub(since) >= TOUCH_MS;
        let is_allowed = self.thoughts.hinted.contains(square) || self.has_hints();
        (is_long && is_allowed && self.thoughts.graded.is_none()).then_some(Task::Grade(square))
    }

    /// Whether [`Chessboard::think`] has something to do.
    pub fn wants_to_think(&self) -> bool {
        self.task().is_some()
    }

    /// Thinks: looks at the move just made for what it gives away, at the position, at the moves
    /// of a touched man, or chooses Viveka's move; one of them a call, which is returned. `meanwhile` is called
    /// every few million instructions, for whoever must look at the contacts: what they read is to be
    /// handed to [`Chessboard::frame`] afterwards.
    pub fn think(&mut self, meanwhile: &mut dyn FnMut()) -> Option<Task> {
        let task = self.task()?;
        match task {
            Task::Review => self.review(),
            Task::Position => {
                let game = self.recogniser.game();
                let last = last_move(game, 0);
                self.coach.think(game.position(), last, &mut self.mind, meanwhile);
                self.thoughts.known = Some(self.game().digest());
            }
            Task::Reply => self.reply(),
            Task::Grade(square) => self.grade(square),
        }
        self.show();
        Some(task)
    }

    fn review(&mut self) {
        let Some(mv) = self.thoughts.to_review.take() else { return };
        let game = self.recogniser.game();
        let before = game.previous();
        let last = last_move(game, 1);
        self.thoughts.blunder = self.coach.review(before, last, mv, self.mind.weights);
        if let Some(blunder) = self.thoughts.blunder {
            self.message.clear();
            // What does not fit is left out.
            let _ = blunder.tell(before, last, self.mind.weights, &mut self.message);
            self.thoughts.hold_until = Some(self.now.wrapping_add(WARNING_MS));
        }
    }

    fn reply(&mut self) {
        let turn = self.position().turn();
        let level = self.settings.level_against(turn);
        if let Some(mv) = self.coach.choose(level, self.mind.weights, &mut self.chance) {
            self.recogniser.tell_move(mv);
            self.word_told(mv);
        }
    }

    fn grade(&mut self, square: Square) {
        if !self.thoughts.hinted.contains(square) {
            self.thoughts.hinted.add(square);
            self.thoughts.count_hint(self.turn());
        }
        let game = self.recogniser.game();
        let last = last_move(game, 0);
        let graded = self.coach.grade(game.position(), last, square, self.mind.weights);
        self.thoughts.graded = Some(graded);
    }

    fn give_hint(&mut self) {
        let is_allowed = self.has_hints() && self.outcome.is_none() && !self.settings.is_unaided;
        let by_hand = !self.settings.is_viveka(self.position().turn());
        if is_allowed && by_hand && self.is_known() && self.thoughts.hint.is_none() {
            self.thoughts.hint = self.coach.best();
            self.thoughts.count_hint(self.turn());
            self.word_hint();
        }
    }

    /// Takes back the last move that was made by hand, and Viveka's answer.
    fn take_back(&mut self) {
        let answered = self.game().moves().next_back();
        let plies = if matches!(answered, Some((_, Maker::Told))) { 2 } else { 1 };
        self.recogniser.take_back(plies);
        self.begin_turn();
        self.is_to_be_saved = true;
    }
}

/// Something to think about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// The move that was just made.
    Review,
    /// The position.
    Position,
    /// Viveka's move.
    Reply,
    /// The moves of the man on a square.
    Grade(Square),
}
