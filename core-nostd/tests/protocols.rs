//! Whole conversations of a board and an app, byte by byte: those in `tests/transcripts/`, and those
//! that `docs/protocols.md` shows.
mod transcript;

use std::{fs, path::PathBuf};

use kibitzer_core::protocol::{
    Certabo, Cpp, Full, Order, Outbox, Pegasus, Protocol, Report, Sink, Unsent,
    cpp::{Feature, Features, Link},
    pegasus::{Battery, Identity},
};
use transcript::{Messages, Stage, describe};

const IDENTITY: Identity =
    Identity { trademark: "Kibitzer\r\nboard", serial: "KB001", version: [1, 2], hardware: [3, 0] };

fn cpp() -> Protocol {
    Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL.without(Feature::StateStream)))
}

fn pegasus() -> Protocol {
    Protocol::Pegasus(Pegasus::new(IDENTITY))
}

fn certabo() -> Protocol {
    Protocol::Certabo(Certabo::new())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn run(name: &str, protocol: Protocol) {
    let path = root().join("tests/transcripts").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Stage::new(protocol).run(&text);
}

#[test]
fn cpp_plays_a_game() {
    run("cpp-game.txt", cpp());
}

#[test]
fn cpp_tells_what_stands_on_the_board() {
    run("cpp-state.txt", cpp());
}

#[test]
fn cpp_answers_faults() {
    run("cpp-faults.txt", cpp());
}

#[test]
fn pegasus_plays_a_game() {
    run("pegasus-game.txt", pegasus());
}

#[test]
fn pegasus_passes_over_faults() {
    run("pegasus-faults.txt", pegasus());
}

#[test]
fn certabo_plays_a_game() {
    run("certabo-game.txt", certabo());
}

/// The documentation's conversations, each in a block that names its protocol.
#[test]
fn the_documentation_tells_the_truth() {
    let text = fs::read_to_string(root().join("../docs/protocols.md")).expect("readable");
    let mut blocks = 0;
    for block in text.split("```").skip(1).step_by(2) {
        let (name, conversation) = block.split_once('\n').expect("a block of lines");
        let protocol = match name {
            "cpp" => cpp(),
            "pegasus" => pegasus(),
            "certabo" => certabo(),
            _ => continue,
        };
        Stage::new(protocol).run(conversation);
        blocks += 1;
    }
    assert_eq!(blocks, 3);
}

/// The bytes of several messages, and the orders in them.
fn talk(protocol: &mut Protocol, bytes: &[u8]) -> (Vec<String>, Vec<u8>) {
    let mut out = Messages::default();
    let order = |byte: &u8| protocol.receive(*byte, 0, &mut out);
    let orders = bytes.iter().filter_map(order).map(|order| describe(&order)).collect();
    (orders, out.0.concat())
}

#[test]
fn packets_need_no_end_of_line_and_get_none() {
    let mut cpp = Protocol::Cpp(Cpp::new(Link::Packets, Features::ALL));
    let mut out = Messages::default();
    for byte in *b"feature undo" {
        assert_eq!(cpp.receive(byte, 0, &mut out), None);
    }
    assert_eq!(cpp.end_of_packet(&mut out), None);
    assert_eq!(out.0, [b"ok"]);
    // A line feed at a packet's end is no part of it.
    for byte in *b"begin 4k3/8/8/8/8/8/8/4K3 w\r\n" {
        assert_eq!(cpp.receive(byte, 0, &mut out), None);
    }
    assert!(matches!(cpp.end_of_packet(&mut out), Some(Order::Begin(_))));
    for mut other in [self::cpp(), pegasus(), certabo()] {
        assert_eq!(
            other.receive(b'@', 0, &mut out).is_some(),
            matches!(other, Protocol::Pegasus(_))
        );
        assert_eq!(other.end_of_packet(&mut out), None, "a serial line has no packets");
    }
}

#[test]
fn features_are_declined_that_a_board_does_not_offer() {
    for feature in Feature::ALL {
        let only = Features::NONE.with(feature);
        let mut protocol = Protocol::Cpp(Cpp::new(Link::Serial, only));
        for asked in Feature::ALL {
            let line = format!("feature {}\n", asked.name());
            let answer: &[u8] = if asked == feature { b"ok\n" } else { b"nok\n" };
            assert_eq!(talk(&mut protocol, line.as_bytes()).1, answer);
        }
        assert!(
            Features::ALL.contains(feature) && !Features::ALL.without(feature).contains(feature)
        );
    }
}

#[test]
fn what_was_asked_for_is_forgotten_when_the_link_is_lost() {
    for (mut protocol, words) in [
        (cpp(), &b"feature undo\nbegin 4k3/8/8/8/8/8/8/4K3 w\nmov"[..]),
        (pegasus(), &b"D\x60\x07\x05"[..]),
        (certabo(), &b"\x01\x02\x03"[..]),
    ] {
        let before = protocol.clone();
        talk(&mut protocol, words);
        assert_ne!(protocol, before);
        protocol.disconnected();
        assert_eq!(protocol, before);
    }
}

#[test]
fn a_report_that_finds_no_room_may_be_sent_again() {
    let mut out = Outbox::<20>::new();
    let mut protocol = cpp();
    talk(&mut protocol, b"begin 4k3/8/8/8/8/8/8/4K3 w\n");
    let report = Report::Move("e1e2".parse().expect("a move"));
    out.send(b"123456789012").expect("room");
    assert_eq!(protocol.report(&report, &mut out), Err(Unsent::Full));
    while out.take().is_some() {}
    assert_eq!(protocol.report(&report, &mut out), Ok(()));
    assert_eq!(protocol.report(&report, &mut out), Err(Unsent::Unanswered));
    assert_eq!(protocol.report(&Report::Error(&"x".repeat(200)), &mut out), Err(Unsent::TooLong));

    // Squares that did not fit follow with the next report, those that did do not come twice.
    let mut protocol = pegasus();
    let (mut told, at) = (Outbox::<12>::new(), |squares: u64| Report::Occupancy(squares.into()));
    talk(&mut protocol, b"D");
    assert_eq!(protocol.report(&at(0b111), &mut told), Ok(()), "what is there is no change");
    assert_eq!(protocol.report(&at(0), &mut told), Err(Unsent::Full));
    let bytes: Vec<u8> = std::iter::from_fn(|| told.take()).collect();
    assert_eq!(bytes, [0x8e, 0, 5, 56, 0, 0x8e, 0, 5, 57, 0]);
    assert_eq!(protocol.report(&at(0), &mut told), Ok(()));
    let bytes: Vec<u8> = std::iter::from_fn(|| told.take()).collect();
    assert_eq!(bytes, [0x8e, 0, 5, 58, 0]);
}

#[test]
fn an_answer_that_finds_no_room_is_lost_alone() {
    /// Never has room.
    struct Nowhere;
    impl Sink for Nowhere {
        fn send(&mut self, _: &[u8]) -> Result<(), Full> {
            Err(Full)
        }
    }
    let mut protocol = cpp();
    for byte in *b"feature undo\nnonsense\n" {
        assert_eq!(protocol.receive(byte, 0, &mut Nowhere), None);
    }
    let (orders, said) = talk(&mut protocol, b"begin 4k3/8/8/8/8/8/8/4K3 w\nundo e2e4\n");
    assert_eq!((orders.len(), said.as_slice()), (2, &b""[..]), "the feature is enabled");
}

#[test]
fn the_battery_is_told_in_the_protocols_measure() {
    for (percent, charge) in [(0, 0), (1, 1), (50, 44), (99, 87), (100, 88), (255, 88)] {
        let mut pegasus = Pegasus::new(IDENTITY);
        pegasus.battery = Battery { percent, is_charging: true };
        let (_, said) = talk(&mut Protocol::Pegasus(pegasus), b"L");
        assert_eq!(said, [0xa0, 0, 12, charge, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
}

#[test]
fn a_long_text_of_the_makers_has_a_length_of_two_sevens() {
    let long: &'static str = "123456789_".repeat(15).leak();
    let pegasus = Pegasus::new(Identity { trademark: long, ..IDENTITY });
    let (_, said) = talk(&mut Protocol::Pegasus(pegasus), b"G");
    assert_eq!((said.len(), &said[..4]), (153, &[0x92, 1, 25, b'1'][..]));
    let longer: &'static str = "123456789_".repeat(30).leak();
    let pegasus = Pegasus::new(Identity { trademark: longer, ..IDENTITY });
    let (_, said) = talk(&mut Protocol::Pegasus(pegasus), b"G");
    assert_eq!((said.len(), &said[..3]), (192, &[0x92, 1, 64][..]), "cut");
}
