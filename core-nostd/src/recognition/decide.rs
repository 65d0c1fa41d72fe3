//! What follows from how the board stands, once it is quiet.
use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, Position as _, Square, uci::UciMove};

use super::{
    CASTLING_MS, Event, RESULT_MS, Recogniser, State, WRONG_MS, gesture,
    hands::Hands,
    journey::{Journey, toggled},
    lines::{Pair, View},
    question::{Asked, Question},
};
use crate::{game::Maker, legal, moves::castling_squares};

/// Squares that a knock leaves and a single move does not.
const KNOCKED: usize = 3;
/// The squares of the first position.
const SET_UP: Bitboard = Bitboard(0xffff_0000_0000_ffff);

/// What the board shows.
enum Explanation {
    /// A move, and perhaps a man of the other side lifted since.
    Move(Move, Option<Square>),
    /// A move and the reply.
    Pair(Move, Move),
    /// Something to be asked.
    Ask(Question),
    /// So many moves taken back.
    TakenBack(usize),
    /// The last move was this one instead.
    Amended(Move),
    /// All men set up.
    NewGame,
}

impl Recogniser {
    /// Judges the board after so many milliseconds without a change.
    pub(super) fn judge(&mut self, quiet: u32) {
        self.judgements = self.judgements.wrapping_add(1);
        let seen = self.hands.occupied();
        if seen == self.home() {
            return self.agree();
        }
        if let State::Asked(question) = &self.state
            && seen == self.asked_about
        {
            return self.judge_answer(question.asked, question.answer(self.pressed), quiet);
        }
        if let Some(outcome) = gesture::result(self.game.position(), &self.hands) {
            return self.hear_result(outcome, quiet);
        }
        if let Some(explanation) = self.explain(&self.hands) {
            return self.follow(explanation);
        }
        if self.may_be_turned()
            && let Some(explanation @ (Explanation::Move(..) | Explanation::Pair(..))) =
                self.explain(&self.hands.turned())
        {
            self.turn();
            self.tell(Event::Turned);
            return self.follow(explanation);
        }
        self.look_on(quiet);
    }

    /// The men stand as the game has it.
    fn agree(&mut self) {
        self.hands.settle(None);
        if self.is_disturbed || matches!(self.state, State::Wrong { .. }) {
            self.tell(Event::Agrees);
        }
        self.is_disturbed = false;
        self.before_answer = None;
        self.state = match self.told {
            None => State::Ready,
            Some(mv) => {
                let (home, end) = (self.home(), self.occupied_after(mv));
                State::Unfinished { lift: home & !end, place: end & !home }
            }
        };
    }

    /// Looks at what was pressed, a question being open.
    fn judge_answer(&mut self, asked: Asked, answer: Option<Move>, quiet: u32) {
        self.pressed = Bitboard::EMPTY;
        match answer {
            Some(mv)
                if matches!(asked, Asked::Capture | Asked::Replaced)
                    && mv.promotion().is_some()
                    && self.told.is_none() =>
            {
                return self.ask(Question::promotion(mv, self.game.position().turn()));
            }
            Some(mv) if self.shows(mv) => return self.accept(mv),
            _ if asked != Asked::Castling => return,
            _ => {}
        }
        // The rook's move stands first, and is the one that the board shows.
        let rook = match &self.state {
            State::Asked(question) => question.answers.first().map(|answer| answer.mv),
            _ => None,
        };
        match rook {
            Some(mv) if quiet >= CASTLING_MS => self.accept(mv),
            _ => self.judge_at = Some(CASTLING_MS),
        }
    }

    fn hear_result(&mut self, outcome: crate::game::Outcome, quiet: u32) {
        if quiet < RESULT_MS {
            self.judge_at = Some(RESULT_MS);
            self.state = State::Moving;
            return;
        }
        self.told = None;
        self.is_disturbed = true;
        self.state = State::Moving;
        self.tell(Event::Result(outcome));
    }

    /// What explains the board, if hands did this.
    fn explain(&self, hands: &Hands) -> Option<Explanation> {
        let view = View { hands, told: self.told, by_hand: self.by_hand };
        let position = self.game.position();
        let seen = hands.occupied();
        if seen == SET_UP && self.begins_anew() && hands.touched().any() {
            return Some(Explanation::NewGame);
        }
        let back = view.taken_back(&self.game);
        let taken_back = back.map(|back| Explanation::TakenBack(back.plies));
        if self.is_disturbed {
            return taken_back;
        }
        let journey = Journey::none(self.home());
        let fits = view.fits(position, &journey);
        // Where moves taken back end alike, what was touched in vain tells.
        let is_back = |moves: &[Move]| {
            let idle = view.idle_after(moves, position);
            back.is_some_and(|back| back.explains_more_than(idle))
        };
        match fits.sure[..] {
            [] => {}
            [mv] if is_back(&[mv]) => return taken_back,
            [mv] => return Some(self.one(mv)),
            _ => return Some(Explanation::Ask(Question::capture(Asked::Capture, &fits.sure))),
        }
        if let Some(Pair { first, second, is_doubtful }) = view.pair(position, &journey) {
            if is_back(&[first, second]) {
                return taken_back;
            }
            // A man in the air on its way back may look like one that has replaced another unseen.
            if !(is_doubtful && view.is_going_back(&self.game)) {
                return Some(Explanation::Pair(first, second));
            }
        }
        let lifted = || {
            let (mv, lifted) = view.and_lifted(position, &journey)?;
            Some(Explanation::Move(mv, Some(lifted)))
        };
        let doubtful = || {
            let is_any = !fits.doubtful.is_empty();
            is_any.then(|| Explanation::Ask(Question::capture(Asked::Replaced, &fits.doubtful)))
        };
        taken_back
            .or_else(lifted)
            .or_else(|| view.amended(&self.game).map(Explanation::Amended))
            .or_else(doubtful)
            .or_else(|| (seen == SET_UP).then_some(Explanation::NewGame))
    }

    /// What follows from the one move that fits.
    fn one(&self, mv: Move) -> Explanation {
        let position = self.game.position();
        if self.told.is_some() {
            Explanation::Move(mv, None)
        } else if mv.promotion().is_some() {
            Explanation::Ask(Question::promotion(mv, position.turn()))
        } else if let Some(castle) = begun_castling(position, mv) {
            Explanation::Ask(Question::castling(mv, castle))
        } else {
            Explanation::Move(mv, None)
        }
    }

    fn follow(&mut self, explanation: Explanation) {
        match explanation {
            Explanation::Move(mv, lifted) => {
                self.play(mv, self.maker());
                self.settle(lifted);
            }
            Explanation::Pair(first, second) if second.promotion().is_some() => {
                self.ask(Question::promotion(second, !self.game.position().turn()));
                self.before_answer = Some((first, self.maker()));
            }
            Explanation::Pair(first, second) => {
                self.play(first, self.maker());
                self.play(second, Maker::Hand);
                self.settle(None);
            }
            Explanation::Ask(question) => self.ask(question),
            Explanation::TakenBack(plies) => {
                self.take_back_by_hand(plies);
                self.settle(None);
            }
            Explanation::Amended(mv) => {
                self.take_back_by_hand(1);
                self.play(mv, Maker::Hand);
                self.settle(None);
            }
            Explanation::NewGame => {
                self.game.restart(Chess::default());
                self.told = None;
                self.tell(Event::NewGame);
                self.settle(None);
            }
        }
    }

    /// A move that answers a question is made.
    pub(super) fn accept(&mut self, mv: Move) {
        if let Some((first, maker)) = self.before_answer.take() {
            self.play(first, maker);
        }
        self.play(mv, self.maker());
        self.settle(None);
    }

    /// Whether the board shows the position after an answer.
    pub(super) fn shows(&self, mv: Move) -> bool {
        let position = self.game.position();
        let color = position.turn();
        let end = match self.before_answer {
            Some((first, _)) => toggled(toggled(self.home(), first, color), mv, !color),
            None => toggled(self.home(), mv, color),
        };
        end == self.hands.occupied()
    }

    fn occupied_after(&self, mv: Move) -> Bitboard {
        toggled(self.home(), mv, self.game.position().turn())
    }

    /// Who makes the next move.
    const fn maker(&self) -> Maker {
        if self.told.is_some() { Maker::Told } else { Maker::Hand }
    }

    fn play(&mut self, mv: Move, maker: Maker) {
        self.game.play(mv, maker);
        self.told = None;
        self.tell(match maker {
            Maker::Hand => Event::Moved(mv),
            Maker::Told => Event::Executed(mv),
        });
    }

    fn take_back_by_hand(&mut self, plies: usize) {
        self.taken_back.clear();
        let first = self.game.len().saturating_sub(plies.min(self.taken_back.capacity()));
        for (mv, _) in self.game.moves().skip(first) {
            // There is room for as many.
            let _ = self.taken_back.push(mv);
        }
        self.game.take_back(plies);
        self.told = None;
        self.tell(Event::TakenBack(plies));
    }

    /// The board shows the game's position, but for a man in the air.
    fn settle(&mut self, lifted: Option<Square>) {
        self.hands.settle(lifted);
        self.is_disturbed = false;
        self.before_answer = None;
        self.state = if lifted.is_some() { State::Moving } else { State::Ready };
        if let Some(ending) = self.game.ending() {
            self.tell(Event::Ended(ending));
        }
    }

    fn ask(&mut self, question: Question) {
        if question.asked == Asked::Castling {
            self.judge_at = Some(CASTLING_MS);
        }
        self.asked_about = self.hands.occupied();
        self.pressed = Bitboard::EMPTY;
        self.before_answer = None;
        self.state = State::Asked(question);
        self.tell(Event::Asked);
    }

    /// Nothing is made: something is being made, or is wrong.
    fn look_on(&mut self, quiet: u32) {
        let view = View { hands: &self.hands, told: self.told, by_hand: self.by_hand };
        let (home, seen) = (self.home(), self.hands.occupied());
        let (missing, extra) = (home & !seen, seen & !home);
        if !self.is_disturbed {
            let (is_under_way, rest) = view.under_way(self.game.position());
            let rest = rest.or_else(|| view.being_taken_back(&self.game));
            let is_turned_about = || self.may_be_turned() && self.is_under_way_turned();
            if let Some((lift, place)) = rest {
                self.state = State::Unfinished { lift, place };
                return;
            }
            let is_lifted = extra.is_empty() && missing.count() < KNOCKED;
            let may_rest = is_under_way || is_turned_about();
            if is_lifted || may_rest && quiet < WRONG_MS {
                self.state = State::Moving;
                if !is_lifted {
                    self.judge_at = Some(WRONG_MS);
                }
                return;
            }
            self.is_disturbed = missing.count() >= KNOCKED;
        }
        let state = State::Wrong { missing, extra };
        if state != self.state {
            self.state = state;
            self.tell(Event::Wrong);
        }
    }

    /// Whether men set up now begin a new game rather than take the present one back.
    fn begins_anew(&self) -> bool {
        self.is_disturbed || self.game.ending().is_some()
    }

    /// Whether nothing yet tells at which end White's men stand.
    fn may_be_turned(&self) -> bool {
        self.game.is_empty() && self.home() == SET_UP && !self.is_disturbed
    }

    fn is_under_way_turned(&self) -> bool {
        let hands = self.hands.turned();
        let view = View { hands: &hands, told: self.told, by_hand: self.by_hand };
        view.under_way(self.game.position()).0
    }
}

/// Castling, where a rook's move may be its beginning.
fn begun_castling(position: &Chess, mv: Move) -> Option<Move> {
    let color: Color = position.turn();
    let Move::Normal { from, to, .. } = mv else { return None };
    let king = position.board().king_of(color)?;
    let side = CastlingSide::from_queen_side(from < king);
    let is_its_rook = position.castles().rook(color, side) == Some(from);
    let (king_to, rook_to) = castling_squares(king, from, color);
    if !is_its_rook || to != rook_to {
        return None;
    }
    legal::named(position, &UciMove::Normal { from: king, to: king_to, promotion: None })
        .filter(|castle| castle.is_castle())
}
