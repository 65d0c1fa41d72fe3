//! What comes by force: our threats whatever they reply, and theirs.
use shakmaty::{Chess, Position as _};

use super::Term;
use crate::{
    exchange::{PAWN, exchanges, reaches},
    viveka::glance::{Glance, has_mate, pass, pawns},
};

/// The most that counts, in points: a mate.
const MOST: i32 = 10 * PAWN;

pub(super) const ROWS: &[Term] = &[
    term!(
        "threatens",
        worked_out,
        good,
        threatens,
        "material our exchanges would win if they passed, x_q included, minus what they win now, \
         in pawns, at most 10; 0 for a check",
        "threatens to win {n:pawn} more than before",
        "gives up the threat to win {n:pawn}"
    ),
    term!(
        "wins_by_force",
        worked_out,
        good,
        wins_by_force,
        "material our exchanges win beyond x_q whatever they reply, in pawns; 10 for mate after \
         every answer to a check",
        "wins {n:pawn} whatever they reply"
    ),
    term!(
        "allows_mating_check",
        worked_out,
        bad,
        allows_mating_check,
        "1 if they have a check after which every answer of ours allows mate in one",
        "lets them mate by force, starting with a check"
    ),
];

/// Our balance after the move by exchanges alone, in points.
fn kept(g: &Glance) -> i32 {
    g.before.balance + g.x_q()
}

fn threatens(g: &Glance) -> i32 {
    let Some(passed) = pass(&g.after) else { return 0 };
    pawns((exchanges(&passed) - g.before.reach()).clamp(-MOST, MOST))
}

fn wins_by_force(g: &Glance) -> i32 {
    let kept = kept(g);
    let mut least = MOST;
    for reply in g.after.legal_moves() {
        let mut next = g.after.clone();
        next.play_unchecked(reply);
        if g.gives_check() && has_mate(&next) {
            continue;
        }
        if next.is_game_over() || !reaches(&next, kept + 1) {
            return 0;
        }
        least = least.min(exchanges(&next) - kept);
    }
    // Without a reply the game is over: other terms speak of that.
    if g.after.is_game_over() { 0 } else { pawns(least) }
}

fn allows_mating_check(g: &Glance) -> i32 {
    let mates = |after: &Chess| !after.legal_moves().is_empty() && every_answer_allows_mate(after);
    let checks = g.after.legal_moves().into_iter().filter_map(|reply| {
        let mut next = g.after.clone();
        next.play_unchecked(reply);
        next.is_check().then_some(next)
    });
    i32::from(checks.into_iter().any(|next| mates(&next)))
}

fn every_answer_allows_mate(position: &Chess) -> bool {
    position.legal_moves().into_iter().all(|answer| {
        let mut next = position.clone();
        next.play_unchecked(answer);
        has_mate(&next)
    })
}
