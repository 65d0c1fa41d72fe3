//! The safety check against its plain definition: every reply is asked whether it is forcing, and
//! every answer what it keeps.
mod reached;

use kibitzer_core::{
    exchange::{balance, exchanges, reaches},
    shakmaty::{Chess, Move, Position as _},
    viveka::{Drop, MAX_DROP, drop_of, drop_twice_of},
};
use proptest::{prelude::*, test_runner::RngSeed};
use reached::reached;

fn after(position: &Chess, mv: Move) -> Chess {
    let mut next = position.clone();
    next.play_unchecked(mv);
    next
}

/// Captures, promotions, checks, and threats to win material if the other side passes.
fn is_forcing(before: &Chess, reply: Move) -> bool {
    let next = after(before, reply);
    reply.is_capture() || reply.is_promotion() || next.is_check() || {
        let passed = next.swap_turn().expect("nobody is in check");
        reaches(&passed, balance(before) + 1)
    }
}

/// The best balance that an answer keeps, by `kept`.
fn best_answer(position: &Chess, kept: fn(&Chess, Move) -> i32) -> i32 {
    let best = position.legal_moves().iter().map(|&mv| kept(position, mv)).max();
    best.unwrap_or(if position.is_check() { -1_000_000 } else { 0 })
}

/// The balance that an answer and the exchanges after it keep.
fn once(position: &Chess, mv: Move) -> i32 {
    -exchanges(&after(position, mv))
}

/// The same, less what the worst forcing reply to the answer costs.
fn twice(position: &Chess, mv: Move) -> i32 {
    once(position, mv) - plain(position, mv, once).points
}

/// The worst of the forcing replies to `mv`; of equal ones the first by its squares.
fn plain(position: &Chess, mv: Move, answer: fn(&Chess, Move) -> i32) -> Drop {
    let next = after(position, mv);
    let kept = -exchanges(&next);
    let mut worst = Drop::default();
    let mut replies = next.legal_moves();
    replies.sort_by_key(|mv| (mv.from(), mv.to(), mv.promotion()));
    for reply in replies {
        if is_forcing(&next, reply) {
            let points = (kept - best_answer(&after(&next, reply), answer)).min(MAX_DROP);
            if points > worst.points {
                worst = Drop { points, reply: Some(reply), then: None };
            }
        }
    }
    worst
}

/// A position some moves after a fixture, and one of its moves.
fn reached_move(start: usize, choices: &[u16], pick: usize) -> Option<(Chess, Move)> {
    let position = reached(start, choices);
    let moves = position.legal_moves();
    let mv = *moves.get(pick.checked_rem(moves.len())?)?;
    Some((position, mv))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_check_equals_its_definition(
        start in any::<usize>(),
        choices in prop::collection::vec(any::<u16>(), 0..12),
        pick in any::<usize>(),
    ) {
        if let Some((position, mv)) = reached_move(start, &choices, pick) {
            prop_assert_eq!(drop_of(&position, mv), plain(&position, mv, once), "{:?} {:?}", position, mv);
        }
    }
}

proptest! {
    // A position takes the plain definition some seconds, a rare one many minutes: always the same
    // ones.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(4)
    })]

    #[test]
    fn the_second_look_equals_its_definition(
        start in any::<usize>(),
        choices in prop::collection::vec(any::<u16>(), 0..12),
        pick in any::<usize>(),
    ) {
        if let Some((position, mv)) = reached_move(start, &choices, pick) {
            let (found, plain) = (drop_twice_of(&position, mv), plain(&position, mv, twice));
            prop_assert_eq!(found.points, plain.points, "{:?} {:?}", position, mv);
            prop_assert_eq!(found.reply, plain.reply, "{:?} {:?}", position, mv);
            prop_assert!(found.points >= drop_of(&position, mv).points);
        }
    }
}
