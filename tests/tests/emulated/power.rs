//! The power goes while a game is saved, at any byte: the board goes on with the game as it was, or as
//! it was one move before.
use kibitzer_core::shakmaty::{Chess, Position as _};
use kibitzer_simulator::contacts::Contacts;
use kibitzer_simulator::emulated::Emulated;
use kibitzer_simulator::flash::Flash;
use kibitzer_simulator::games;
use kibitzer_simulator::hand::{Order, Style};
use kibitzer_simulator::sitting::Sitting;
use kibitzer_tests::fixture;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::image;

/// A board with this flash, its men where they are.
fn sit(flash: &Flash, contacts: Contacts) -> Option<Sitting> {
    let emulated = Emulated::start("qemu-system-arm".as_ref(), &image()?, ["null", "pty"]);
    let emulated = emulated.expect("an emulator");
    flash.serve(&emulated.terminals[0], emulated.power()).expect("a line");
    let style = Style::steady(Order::VictimFirst);
    Some(Sitting::with_men(emulated, style, contacts, 1).expect("a board"))
}

#[test]
fn a_program_that_hangs_is_started_anew_and_goes_on() {
    let game = &games::read(&fixture("selfplay.pgn.zst")).expect("games")[31];
    let contacts = Contacts::new(Chess::default().board().occupied(), 10);
    let Some(mut sitting) = sit(&Flash::new(), contacts) else { return };
    sitting.press("side").expect("White is Viveka's");
    sitting.press("side").expect("and nobody is");
    for (ply, &mv) in game.iter().take(12).enumerate() {
        if ply == 6 {
            let before = sitting.position.clone();
            sitting.hang().expect("a watchdog");
            assert!(sitting.message.contains("set up"), "started anew: {}", sitting.message);
            assert_eq!(sitting.position, before);
        }
        sitting.make(mv).expect("recognised");
    }
}

#[test]
fn a_game_goes_on_when_the_power_comes_back() {
    let game = &games::read(&fixture("selfplay.pgn.zst")).expect("games")[30];
    let mut positions = vec![Chess::default()];
    for &mv in game {
        let mut next = positions[positions.len() - 1].clone();
        next.play_unchecked(mv);
        positions.push(next);
    }
    let flash = Flash::new();
    let mut chance = ChaCha8Rng::seed_from_u64(2);
    let mut contacts = Contacts::new(Chess::default().board().occupied(), 10);
    let mut saved = 0;
    let mut cuts = 0;
    let Some(mut sitting) = sit(&flash, contacts.clone()) else { return };
    sitting.press("side").expect("White is Viveka's");
    sitting.press("side").expect("and nobody is");
    while cuts < 6 {
        // Until the power goes in the midst of what the next moves write, at once or after a page
        // was erased.
        let bytes = if cuts % 2 == 0 { 0..120 } else { 4_000..4_500 };
        flash.cut_after(Some(chance.random_range(bytes)));
        let broken = loop {
            let made = positions.iter().position(|position| *position == sitting.position);
            let made = made.expect("a position of the game");
            if let Err(error) = sitting.make(game[made]) {
                break error;
            }
        };
        cuts += 1;
        assert!(format!("{broken:#}").contains("silent"), "{broken:#}");
        saved = sitting.saved.unwrap_or(saved);
        let stand = sitting.contacts.clone();
        drop(sitting);
        flash.cut_after(None);
        // The power comes back, the men standing where they stood.
        sitting = sit(&flash, stand).expect("an image");
        let resumed = positions.iter().position(|position| *position == sitting.position);
        let resumed = resumed.expect("a position of the game");
        assert!((saved..=saved + 1).contains(&resumed), "{resumed} of {saved} after {cuts}");
        // The lamps lead to it.
        while sitting.follow().expect("a board") {}
        contacts = sitting.contacts.clone();
        assert_eq!(contacts.occupied(), sitting.position.board().occupied());
        saved = resumed;
    }
    assert!(saved > 8, "{saved} moves in {cuts} sittings, {} bytes worn", flash.worn());
    println!("{saved} moves in {} bytes, the power gone {cuts} times", flash.worn());
}
