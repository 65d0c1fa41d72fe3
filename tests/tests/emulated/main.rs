//! The firmware on an emulated Cortex-M4: games through its contacts and lamps, apps at its line, and
//! what it all costs.
//!
//! `cargo xtask test` builds the image and names it in `KIBITZER_BOARD_IMAGE`; without it these tests
//! pass by.
mod apps;
mod power;

use std::path::PathBuf;

use kibitzer_core::legal;
use kibitzer_core::shakmaty::{Color, Position as _};
use kibitzer_simulator::emulated::Emulated;
use kibitzer_simulator::games;
use kibitzer_simulator::hand::{ORDERS, Order, Style};
use kibitzer_simulator::sitting::{Costs, Sitting};
use kibitzer_tests::fixture;
use rand::seq::IndexedRandom as _;

/// Instructions for a look at the contacts when nothing happens; when the board is judged; when a
/// move is made; for a touched man.
const BUDGETS: [(&str, u64); 4] =
    [("frame", 60_000), ("judged", 300_000), ("move", 300_000), ("grade", 12_000_000)];
/// Bytes of the deepest stack.
const STACK: u64 = 22 * 1024;

/// The image, if there is one.
fn image() -> Option<PathBuf> {
    let image = std::env::var_os("KIBITZER_BOARD_IMAGE").map(PathBuf::from);
    if image.is_none() {
        println!("KIBITZER_BOARD_IMAGE names no image: nothing is emulated");
    }
    image
}

/// Somebody at an emulated board with a line of this kind to an app; and where it ends.
fn sit(app: &str, style: Style, seed: u64) -> Option<(Sitting, Option<PathBuf>)> {
    let emulated = Emulated::start("qemu-system-arm".as_ref(), &image()?, [app, "null"]);
    let mut emulated = emulated.expect("an emulator");
    let terminal = emulated.terminals.pop();
    Some((Sitting::new(emulated, style, 10, seed).expect("a board"), terminal))
}

/// Holds what was done to the budgets.
fn hold(costs: &Costs) {
    println!("{costs:?}");
    for (part, budget) in BUDGETS {
        if let Some(&(most, times)) = costs.get(part) {
            assert!(most <= budget, "{part}: {most} instructions, {budget} are allowed; {times}");
        }
    }
}

#[test]
fn engines_games_go_through_the_firmware() {
    let games = games::read(&fixture("selfplay.pgn.zst")).expect("games");
    for (place, order) in [(7, ORDERS[0]), (150, ORDERS[3])] {
        let style =
            Style { slides: true, rests_ms: 250, adjusts_percent: 5, ..Style::steady(order) };
        let Some((mut sitting, _)) = sit("null", style, 3) else { return };
        sitting.contacts.bounce = true;
        sitting.press("side").expect("White is Viveka's");
        sitting.press("side").expect("and nobody is");
        for &mv in games[place].iter().take(40) {
            sitting.make(mv).expect("recognised");
        }
        hold(&sitting.costs);
        assert_eq!(sitting.costs["move"].1, 40);
        assert!(sitting.costs["grade"].1 > 10, "men were touched");
        let stack = sitting.end().expect("an end");
        assert!(stack <= STACK, "{stack} bytes of stack, {STACK} are allowed");
    }
}

#[test]
fn viveka_is_played_against_by_the_lamps() {
    let Some((mut sitting, _)) = sit("null", Style::steady(Order::VictimFirst), 4) else { return };
    let mut replies = 0;
    for _ in 0..24 {
        if !legal::any(&sitting.position) {
            break;
        }
        if sitting.position.turn() == Color::White {
            let moves = legal::moves(&sitting.position);
            let mv = *moves.choose(&mut sitting.rng).expect("a move");
            sitting.make(mv).expect("recognised");
        } else {
            // After a warning Viveka waits for some seconds.
            for _ in 0..20 {
                if sitting.asked_for().is_some() {
                    break;
                }
                sitting.wait(500).expect("a board");
            }
            assert!(sitting.follow().expect("a move"), "{}", sitting.message);
            replies += 1;
        }
    }
    assert!(replies > 8, "{replies}");
    hold(&sitting.costs);
}

#[test]
fn a_run_repeats_to_the_byte() {
    let run = || {
        let (mut sitting, _) = sit("null", Style::steady(Order::MoverFirst), 5)?;
        let path = tempfile::NamedTempFile::new().expect("a file");
        sitting.write_down(Box::new(path.reopen().expect("the same file")));
        let game = &games::read(&fixture("selfplay.pgn.zst")).expect("games")[20];
        sitting.press("side").expect("White is Viveka's");
        sitting.press("side").expect("and nobody is");
        for &mv in game.iter().take(12) {
            sitting.make(mv).expect("recognised");
        }
        sitting.end().expect("an end");
        Some(std::fs::read_to_string(path.path()).expect("a transcript"))
    };
    let Some(first) = run() else { return };
    assert_eq!(first.lines().filter(|line| line.contains(" position ")).count(), 12, "{first}");
    assert_eq!(Some(first), run());
}
