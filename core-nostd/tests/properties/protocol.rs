//! What must hold of whatever an app sends to a board, and of whatever happens there meanwhile.
use kibitzer_core::{
    protocol::{
        Certabo, Cpp, Full, Order, Pegasus, Protocol, Report, Sink, View, certabo,
        cpp::{Features, Link, MAX_LINE},
        pegasus::{self, Identity},
    },
    shakmaty::{Bitboard, Chess, Position as _},
};

/// The byte of a case after which comes something that happens at the board.
const EVENT: u8 = 0xf7;
/// The event that a packet of the link ended.
const PACKET: u8 = 0x0d;
/// Milliseconds from one byte to the next.
const STEP: u32 = 1;

/// Takes messages, or has no room.
#[derive(Default)]
struct Peer {
    messages: Vec<Vec<u8>>,
    is_full: bool,
}

impl Sink for Peer {
    fn send(&mut self, message: &[u8]) -> Result<(), Full> {
        if self.is_full {
            return Err(Full);
        }
        self.messages.push(message.to_vec());
        Ok(())
    }
}

/// The protocol that a case begins with.
fn protocol(choice: u8) -> Protocol {
    let identity = Identity { trademark: "board", serial: "1", version: [1, 0], hardware: [1, 0] };
    match choice % 4 {
        0 => Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)),
        1 => Protocol::Cpp(Cpp::new(Link::Packets, Features::ALL)),
        2 => Protocol::Pegasus(Pegasus::new(identity)),
        _ => Protocol::Certabo(Certabo::new()),
    }
}

/// A case: which protocol, then bytes from the app, among them what happens at the board. Each byte
/// gives at most one order and one message, each message is one of the protocol's, and afterwards a
/// whole message is understood. A message of CPP that is answered by `err` changes nothing.
pub fn of_a_protocol(case: &[u8]) {
    let Some((&choice, rest)) = case.split_first() else { return };
    let mut protocol = protocol(choice);
    let mut peer = Peer::default();
    // Has heard all messages but those that were answered by `err`.
    let mut twin = protocol.clone();
    let mut now = 0u32.wrapping_sub(500); // the clock wraps around in most cases
    let mut bytes = rest.iter();
    while let Some(&byte) = bytes.next() {
        now = now.wrapping_add(STEP);
        let before = peer.messages.len();
        let order = match byte {
            EVENT => match bytes.next() {
                Some(&PACKET) => protocol.end_of_packet(&mut peer),
                event => {
                    let event = event.copied().unwrap_or_default();
                    let is_full = peer.is_full;
                    happens(event, &mut protocol, &mut peer);
                    happens(event, &mut twin, &mut Peer { is_full, ..Peer::default() });
                    continue;
                }
            },
            _ => protocol.receive(byte, now, &mut peer),
        };
        let said = &peer.messages[before..];
        assert!(said.len() + usize::from(order.is_some()) <= 1, "{order:?} {said:?}");
        let is_error = said.iter().any(|message| message.starts_with(b"err "));
        if let Some(order) = &order {
            answer(order, &mut protocol, &mut peer);
        }
        let is_end = matches!(byte, b'\n' | b'\r' | 0) && choice % 4 == 0
            || byte == EVENT && choice % 4 == 1;
        if is_end && is_error {
            assert!(protocol == twin, "{protocol:?} is not {twin:?}");
        } else if is_end {
            twin = protocol.clone();
        }
    }
    peer.messages.iter().for_each(|message| is_well_formed(&protocol, message));
    understands(&mut protocol, now);
}

/// Something that happens at the board, or to the link.
fn happens(choice: u8, protocol: &mut Protocol, peer: &mut Peer) {
    let position = Chess::default();
    let occupied = Bitboard(position.board().occupied().0.rotate_left(u32::from(choice)));
    let view = View { occupied, known: Bitboard(u64::from(choice) << 50), position: &position };
    let uci = if choice < 128 { "e2e4" } else { "a7a8" }.parse().expect("a move");
    let report = match choice % 16 {
        0 => Report::Sync(View::whole(&position)),
        1 => Report::Unsync(view),
        2 => Report::State(view),
        3 => Report::Move(uci),
        4 => Report::Undo(uci),
        5 => Report::Moved,
        6 => Report::Resign,
        7 => Report::DrawOffer,
        8 => Report::DrawAnswer(choice < 128),
        9 => Report::Error("it cannot be done"),
        10 | 11 => Report::Occupancy(occupied),
        12 => Report::Dump(occupied),
        13 | 14 => return peer.is_full = !peer.is_full,
        _ => {
            return if choice == 0xff {
                protocol.disconnected()
            };
        }
    };
    let before = protocol.clone();
    if protocol.report(&report, peer).is_err() && !matches!(before, Protocol::Pegasus(_)) {
        assert!(*protocol == before, "what is not sent changes nothing: {report:?}");
    }
}

/// What a board answers to an order.
fn answer(order: &Order, protocol: &mut Protocol, peer: &mut Peer) {
    let position = Chess::default();
    let view = View::whole(&position);
    let report = match order {
        Order::Begin(position) => Report::Sync(View::whole(position)),
        Order::TellState => Report::State(view),
        Order::Dump => Report::Dump(view.occupied),
        Order::DrawOffer => Report::DrawAnswer(false),
        _ => return,
    };
    let sent = protocol.report(&report, peer);
    assert_eq!(sent.is_ok(), !peer.is_full, "{order:?} {sent:?}");
}

fn is_well_formed(protocol: &Protocol, message: &[u8]) {
    let is_text = |bytes: &[u8]| bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    match protocol {
        Protocol::Cpp(_) => {
            let text = message.strip_suffix(b"\n").unwrap_or(message);
            assert!(is_text(text) && message.len() <= MAX_LINE, "{message:?}");
            let word = text.split(|&byte| byte == b' ').next().expect("a word");
            let words = "ok nok err sync unsync state move undo moved resign draw_offer";
            let word = std::str::from_utf8(word).expect("text");
            assert!(words.split(' ').any(|other| other == word), "{message:?}");
        }
        Protocol::Pegasus(_) => {
            let [kind, high, low, ..] = message else { panic!("{message:?}") };
            assert!(kind & 0x80 != 0 && (high | low) & 0x80 == 0, "{message:?}");
            assert_eq!(usize::from(*high) << 7 | usize::from(*low), message.len());
        }
        Protocol::Certabo(_) => {
            let line = message.strip_prefix(b":").and_then(|line| line.strip_suffix(b"\r\n"));
            let line = std::str::from_utf8(line.expect("a line")).expect("text");
            let ranks: Vec<u8> = line.split(' ').map(|n| n.parse().expect("a byte")).collect();
            assert_eq!(ranks.len(), 8);
        }
    }
}

/// Whatever came before, after the end of a message or a pause the next is understood.
fn understands(protocol: &mut Protocol, now: u32) {
    let (message, pause): (&[u8], u32) = match protocol {
        Protocol::Cpp(_) => (b"set_variant standard\nbegin 4k3/8/8/8/8/8/8/4K3 w", 0),
        Protocol::Pegasus(_) => (b"B", pegasus::PATIENCE),
        Protocol::Certabo(_) => (&[1, 2, 3, 4, 5, 6, 7, 8], certabo::PAUSE),
    };
    let now = now.wrapping_add(pause);
    let mut peer = Peer::default();
    let mut last = None;
    let mut end = |protocol: &mut Protocol, peer: &mut Peer| {
        if matches!(protocol, Protocol::Cpp(_)) {
            let packet = protocol.end_of_packet(peer);
            last = protocol.receive(b'\n', now, peer).or(packet).or(last.take());
        }
    };
    end(protocol, &mut peer);
    for &byte in message {
        if byte == b'\n' {
            end(protocol, &mut peer);
        } else if let Some(order) = protocol.receive(byte, now, &mut peer) {
            assert!(matches!(order, Order::Dump | Order::Lamps(_)), "{order:?}");
            return;
        }
    }
    end(protocol, &mut peer);
    assert!(matches!(last, Some(Order::Begin(_))), "{last:?} {:?}", peer.messages);
}
