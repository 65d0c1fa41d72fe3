//! What the app says, and is told.
use shakmaty::{CastlingMode, Chess, Position as _, uci::UciMove};

use super::{Button, Chessboard, line::Pending, thoughts::Thoughts};
use crate::{
    game::Outcome,
    legal,
    protocol::{Asked, LampsOrder, Order, Report, Unsent, View},
    recognition::{Event, State},
};

/// Milliseconds after which occupied squares are told again, for apps that wait for them.
const REPEAT_MS: u32 = 1_000;

impl Chessboard<'_> {
    /// Does what the app orders.
    pub(super) fn obey(&mut self, order: Order) {
        self.go_online();
        let Some(remote) = &mut self.remote else { return };
        match order {
            Order::Begin(position) => {
                remote.pending.clear();
                (remote.is_synced, remote.is_guided) = (true, false);
                self.recogniser.set_up(position);
                self.begin_game();
                self.is_to_be_saved = true;
            }
            Order::Side(side) => {
                for color in shakmaty::Color::ALL {
                    self.recogniser.set_by_hand(color, side.is_none_or(|side| side == color));
                }
            }
            Order::Move(uci) => match legal::named(self.recogniser.game().position(), &uci) {
                Some(mv) => self.recogniser.tell_move(mv),
                None => remote.note(Pending::Illegal),
            },
            Order::Accepted(_) | Order::LastMove(_) | Order::Check(_) => {}
            Order::Refused(Asked::Move(_)) => self.refuse(None),
            Order::Refused(Asked::Undo(uci)) => self.refuse(Some(uci)),
            Order::Refused(Asked::Draw) => {}
            Order::Promoted(uci) => self.promote(&uci),
            Order::Undo(uci) => self.undo(&uci),
            Order::Restore(position) => self.restore(position),
            Order::DrawOffer => self.thoughts.is_draw_offered = true,
            Order::End(end) => {
                self.thoughts.is_draw_offered = false;
                let known = self.recogniser.game().outcome().or(self.outcome);
                self.outcome = if end.is_draw() { Some(Outcome::Draw) } else { known };
            }
            Order::TellState => remote.note(Pending::State),
            Order::Dump => remote.note(Pending::Dump),
            Order::Lamps(LampsOrder { lit, .. }) => remote.lamps = Some(lit),
            Order::Reset => remote.lamps = Some(shakmaty::Bitboard::EMPTY),
        }
    }

    /// The app keeps the game from now on: nothing that was thought stays to be seen, and no move of
    /// Viveka's is waited for.
    pub(super) fn go_online(&mut self) {
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.is_online) else { return };
        remote.is_online = true;
        self.settings.is_unaided = true;
        self.is_to_be_saved = true;
        self.recogniser.cancel_told();
        self.seat_players();
        self.coach.forget();
        self.message.clear();
        self.thoughts = Thoughts::default();
        self.show();
    }

    /// The app refuses the move that it was asked about, or that `undone` is taken back.
    fn refuse(&mut self, undone: Option<UciMove>) {
        let Some(remote) = &mut self.remote else { return };
        let (on_top, again) = remote.refuse(undone);
        if on_top > 0 {
            self.recogniser.take_back(on_top);
        }
        self.recogniser.make_again(again.iter().rev());
        self.is_to_be_saved = true;
    }

    /// The app chose what a pawn becomes.
    fn promote(&mut self, uci: &UciMove) {
        if let State::Asked(_) = self.recogniser.state()
            && let Some(mv) = legal::named(self.position(), uci)
        {
            self.recogniser.answer(mv);
        } else if let Some(mv) = legal::named(self.game().previous(), uci) {
            self.recogniser.correct_promotion(mv);
        }
        self.is_to_be_saved = true;
    }

    /// The app takes the last move back.
    fn undo(&mut self, uci: &UciMove) {
        let last = self.game().moves().next_back().map(|(mv, _)| mv);
        let meant = legal::named(self.game().previous(), uci);
        let Some(remote) = &mut self.remote else { return };
        if last.is_none() || last != meant {
            return remote.note(Pending::Illegal);
        }
        remote.is_guided = true;
        self.recogniser.take_back(1);
        self.is_to_be_saved = true;
    }

    /// The app goes back to a position of the game, or begins from it.
    fn restore(&mut self, position: Chess) {
        let plies = self.game().plies_since(|other| {
            other.board() == position.board() && other.turn() == position.turn()
        });
        if let Some(remote) = &mut self.remote {
            remote.is_guided = true;
        }
        match plies {
            Some(plies) => self.recogniser.take_back(plies),
            None => self.recogniser.set_up(position),
        }
        self.is_to_be_saved = true;
    }

    /// Notes what the app is to be told of what happened.
    pub(super) fn report(&mut self, event: Event) {
        let taken_back = self.recogniser.taken_back();
        let Some(remote) = &mut self.remote else { return };
        let uci = |mv: shakmaty::Move| mv.to_uci(CastlingMode::Standard);
        match event {
            Event::Changed { .. } => {
                remote.note(Pending::Occupancy);
                if !remote.is_synced {
                    remote.note(Pending::State);
                }
            }
            Event::Moved(mv) => {
                if self.thoughts.is_draw_offered {
                    self.thoughts.is_draw_offered = false;
                    remote.note(Pending::DrawAnswer(false));
                }
                remote.note(Pending::Move(uci(mv)));
            }
            Event::Executed(_) => remote.note(Pending::Moved),
            Event::TakenBack(_) => {
                for &mv in taken_back.iter().rev() {
                    remote.note(Pending::Undo(uci(mv)));
                }
            }
            Event::Agrees if remote.is_guided => {
                remote.is_guided = false;
                remote.note(Pending::Moved);
            }
            Event::Agrees => {
                remote.is_synced = true;
                remote.note(Pending::Sync);
            }
            Event::Wrong if remote.is_guided => {}
            Event::Wrong if remote.is_synced => {
                remote.is_synced = false;
                remote.note(Pending::Unsync);
            }
            Event::Wrong => remote.note(Pending::State),
            Event::Result(outcome) if remote.is_online => remote.note(match outcome {
                Outcome::Draw => Pending::DrawOffer,
                Outcome::Win(_) => Pending::Resign,
            }),
            _ => {}
        }
    }

    /// A button in a game that an app keeps.
    pub(super) fn press_online(&mut self, button: Button) {
        let Some(remote) = &mut self.remote else { return };
        let is_offered = core::mem::take(&mut self.thoughts.is_draw_offered);
        match button {
            Button::Yes if is_offered => remote.note(Pending::DrawAnswer(true)),
            Button::No if is_offered => remote.note(Pending::DrawAnswer(false)),
            Button::Yes => remote.note(Pending::DrawOffer),
            Button::No => remote.note(Pending::Resign),
            // There is no help, and the game is the app's.
            _ => self.thoughts.is_draw_offered = is_offered,
        }
    }

    /// Tells the app what it is still to be told, as far as it is ready to hear it.
    pub(super) fn send(&mut self) {
        let now = self.now;
        let Some(remote) = &mut self.remote else { return };
        if remote.is_online && now.wrapping_sub(remote.told_at) >= REPEAT_MS {
            remote.told_at = now;
            // Those who speak of changes alone have none to tell.
            remote.note(Pending::Occupancy);
        }
        let position = self.recogniser.game().position();
        let occupied = self.recogniser.occupied();
        let known = position.board().occupied() & !self.recogniser.touched();
        let view = View { occupied, known: occupied & known, position };
        let on_board = if self.recogniser.is_turned() { occupied.rotate_180() } else { occupied };
        while let Some(&next) = remote.pending.front() {
            let report = match next {
                Pending::Sync => Report::Sync(View::whole(position)),
                Pending::Unsync => Report::Unsync(view),
                Pending::State => Report::State(view),
                Pending::Move(uci) => Report::Move(uci),
                Pending::Undo(uci) => Report::Undo(uci),
                Pending::Moved => Report::Moved,
                Pending::Dump => Report::Dump(on_board),
                Pending::Occupancy => Report::Occupancy(on_board),
                Pending::DrawOffer => Report::DrawOffer,
                Pending::DrawAnswer(answer) => Report::DrawAnswer(answer),
                Pending::Resign => Report::Resign,
                Pending::Illegal => Report::Error("no such move in this position"),
            };
            let sent = remote.protocol.report(&report, &mut remote.outbox);
            match sent {
                // Later, when there is room or the app has answered.
                Err(Unsent::Full | Unsent::Unanswered) => return,
                Ok(()) | Err(Unsent::NotWanted | Unsent::NotAllowed | Unsent::TooLong) => {
                    remote.pending.pop_front();
                }
            }
            if let (Pending::Undo(uci), Err(Unsent::NotAllowed)) = (next, sent) {
                // The app has the move still.
                return self.refuse(Some(uci));
            }
        }
    }
}
