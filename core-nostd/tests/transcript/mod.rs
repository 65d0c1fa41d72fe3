//! Conversations of a board and an app as text, and what runs them.
//!
//! A line begins with who speaks: `>` the app, `<` the board, `!` what the board is ordered, `*` what
//! happens at the board, `#` a remark. CPP is written as text, the others as hexadecimal bytes, of
//! which `01*16` are sixteen. What the board says is compared byte by byte.
use kibitzer_core::{
    protocol::{Asked, Full, Order, Protocol, Report, Sink, Unsent, View},
    shakmaty::{
        Bitboard, Chess, EnPassantMode, Move, Position as _, Square, fen::Fen, uci::UciMove,
    },
};

/// Milliseconds between two lines of a conversation.
const STEP: u32 = 200;

/// Takes messages, one after the other.
#[derive(Default)]
pub struct Messages(pub Vec<Vec<u8>>);

impl Sink for Messages {
    fn send(&mut self, message: &[u8]) -> Result<(), Full> {
        self.0.push(message.to_vec());
        Ok(())
    }
}

/// A board that does what its lines say.
pub struct Stage {
    protocol: Protocol,
    /// The game as far as it is agreed, and as it was before each move.
    positions: Vec<Chess>,
    /// What stands on the board, whatever the game.
    occupied: Bitboard,
    now: u32,
    sent: Messages,
    orders: Vec<String>,
}

impl Stage {
    pub fn new(protocol: Protocol) -> Self {
        let start = Chess::default();
        let occupied = start.board().occupied();
        let (sent, orders) = (Messages::default(), vec![]);
        Stage { protocol, positions: vec![start], occupied, now: 0, sent, orders }
    }

    /// Runs a conversation to its end; nothing may be left unsaid.
    pub fn run(mut self, text: &str) {
        for (number, line) in text.lines().enumerate() {
            let place = format!("line {}: {line}", number + 1);
            let (who, what) = line.split_once(' ').unwrap_or((line, ""));
            match who {
                "" | "#" => {}
                ">" => {
                    self.nothing_is_left(&place);
                    self.hear(what);
                }
                "*" => {
                    self.nothing_is_left(&place);
                    self.happens(what, &place);
                }
                "!" => assert_eq!(self.orders.pop().as_deref(), Some(what), "{place}"),
                "<" => {
                    assert!(!self.sent.0.is_empty(), "{place}: nothing was said");
                    let message = self.sent.0.remove(0);
                    assert_eq!(self.written(&message), self.canonical(what), "{place}");
                }
                _ => panic!("{place}: who speaks?"),
            }
        }
        self.nothing_is_left("the end");
    }

    fn nothing_is_left(&self, place: &str) {
        let left: Vec<_> = self.sent.0.iter().map(|message| self.written(message)).collect();
        assert!(left.is_empty() && self.orders.is_empty(), "{place}: {left:?} {:?}", self.orders);
    }

    /// The app's bytes, all at once.
    fn hear(&mut self, what: &str) {
        self.now += STEP;
        let bytes = match &self.protocol {
            Protocol::Cpp(_) => format!("{what}\n").into_bytes(),
            _ => bytes(what),
        };
        for byte in bytes {
            if let Some(order) = self.protocol.receive(byte, self.now, &mut self.sent) {
                self.obey(&order);
                self.orders.push(describe(&order));
            }
        }
    }

    /// The game follows the app.
    fn obey(&mut self, order: &Order) {
        match order {
            Order::Begin(position) => self.positions = vec![position.clone()],
            Order::Move(uci) => self.play(*uci),
            Order::Promoted(uci) => {
                self.positions.pop();
                self.play(*uci);
            }
            Order::Refused(Asked::Move(_)) | Order::Accepted(Asked::Undo(_)) | Order::Undo(_) => {
                self.positions.pop();
            }
            _ => {}
        }
    }

    fn play(&mut self, uci: UciMove) {
        let mv: Move = uci.to_move(self.position()).expect("a legal move");
        let next = self.position().clone().play(mv).expect("a legal move");
        self.positions.push(next);
    }

    fn position(&self) -> &Chess {
        self.positions.last().expect("a game")
    }

    fn happens(&mut self, what: &str, place: &str) {
        let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
        let squares = || rest.split(' ').map(|name| name.parse::<Square>().expect("a square"));
        let uci = || rest.parse::<UciMove>().expect("a move");
        match verb {
            "lift" => squares().for_each(|square| self.occupied.discard(square)),
            "place" => squares().for_each(|square| self.occupied.add(square)),
            "carry" => self.occupied = self.position().board().occupied(),
            _ => {}
        }
        let position = self.position().clone();
        let view = View {
            occupied: self.occupied,
            known: self.occupied & position.board().occupied(),
            position: &position,
        };
        let whole = View::whole(&position);
        let report = match verb {
            "lift" | "place" | "carry" if matches!(self.protocol, Protocol::Cpp(_)) => return,
            "lift" | "place" | "carry" | "look" => Report::Occupancy(self.occupied),
            "dump" => Report::Dump(self.occupied),
            "sync" => Report::Sync(whole),
            "unsync" => Report::Unsync(view),
            "state" => Report::State(view),
            "play" => Report::Move(uci()),
            "undo" => Report::Undo(uci()),
            "moved" => Report::Moved,
            "resign" => Report::Resign,
            "draw?" => Report::DrawOffer,
            "draw" => Report::DrawAnswer(rest == "yes"),
            "err" => Report::Error(rest),
            // What an app asked for nothing of, it is not told.
            "unwanted" => return self.is_refused(Unsent::NotWanted, rest, view, place),
            "unanswered" => return self.is_refused(Unsent::Unanswered, rest, view, place),
            "forbidden" => return self.is_refused(Unsent::NotAllowed, rest, view, place),
            _ => panic!("{place}: what happens?"),
        };
        self.protocol.report(&report, &mut self.sent).expect(place);
        if verb == "play" {
            self.play(match uci() {
                // The app will say to what; until then any piece will do.
                UciMove::Normal { from, to, promotion: None }
                    if uci().to_move(&position).is_err() =>
                {
                    format!("{from}{to}q").parse().expect("a move")
                }
                uci => uci,
            });
        }
    }

    fn is_refused(&mut self, why: Unsent, verb: &str, view: View<'_>, place: &str) {
        let uci = "a2a3".parse().expect("a move");
        let report = match verb {
            "state" => Report::State(view),
            "sync" => Report::Sync(view),
            "move" => Report::Move(uci),
            "undo" => Report::Undo(uci),
            "moved" => Report::Moved,
            "resign" => Report::Resign,
            "draw?" => Report::DrawOffer,
            "draw" => Report::DrawAnswer(true),
            "look" => Report::Occupancy(self.occupied),
            _ => panic!("{place}: what is refused?"),
        };
        assert_eq!(self.protocol.report(&report, &mut self.sent), Err(why), "{place}");
    }

    /// A message as it is written in a conversation.
    fn written(&self, message: &[u8]) -> String {
        match &self.protocol {
            Protocol::Cpp(_) => {
                let text = String::from_utf8(message.to_vec()).expect("text");
                text.strip_suffix('\n').expect("a line").to_owned()
            }
            _ => message.iter().map(|byte| format!("{byte:02x} ")).collect(),
        }
    }

    fn canonical(&self, what: &str) -> String {
        match &self.protocol {
            Protocol::Cpp(_) => what.to_owned(),
            _ => self.written(&bytes(what)),
        }
    }
}

/// Hexadecimal bytes, `01*16` being sixteen of them; `"text"` without spaces is its characters.
pub fn bytes(text: &str) -> Vec<u8> {
    let word = |word: &str| {
        if let Some(text) = word.strip_prefix('"') {
            return text.trim_end_matches('"').replace('_', " ").into_bytes();
        }
        let (byte, times) = word.split_once('*').unwrap_or((word, "1"));
        let byte = u8::from_str_radix(byte, 16).expect("a byte");
        vec![byte; times.parse().expect("a number")]
    };
    text.split_whitespace().flat_map(word).collect()
}

/// An order in words.
pub fn describe(order: &Order) -> String {
    let fen = |position: &Chess| Fen::from_position(position, EnPassantMode::Legal).to_string();
    let asked = |asked: &Asked| match asked {
        Asked::Move(uci) => format!("move {uci}"),
        Asked::Undo(uci) => format!("undo {uci}"),
        Asked::Draw => "draw".to_owned(),
    };
    match order {
        Order::Begin(position) => format!("begin {}", fen(position)),
        Order::Restore(position) => format!("restore {}", fen(position)),
        Order::Side(side) => format!("side {side:?}"),
        Order::Move(uci) => format!("move {uci}"),
        Order::Accepted(what) => format!("accepted {}", asked(what)),
        Order::Refused(what) => format!("refused {}", asked(what)),
        Order::Promoted(uci) => format!("promoted {uci}"),
        Order::Undo(uci) => format!("undo {uci}"),
        Order::LastMove(uci) => format!("last move {uci}"),
        Order::Check(square) => format!("check {square}"),
        Order::DrawOffer => "draw offer".to_owned(),
        Order::End(end) => format!("end {end:?}"),
        Order::TellState => "tell state".to_owned(),
        Order::Dump => "dump".to_owned(),
        Order::Reset => "reset".to_owned(),
        Order::Lamps(lamps) => {
            let squares: Vec<_> = lamps.lit.into_iter().map(|s| s.to_string()).collect();
            let once = if lamps.once { " once" } else { "" };
            format!("lamps {}{once} level {}", squares.join(" "), lamps.level)
        }
    }
}
