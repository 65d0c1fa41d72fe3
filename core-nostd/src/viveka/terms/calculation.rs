//! What comes by force: our threats whatever they reply, and theirs.
use shakmaty::{Chess, Move, Position as _};

use super::Term;
use crate::{
    budget::Budget,
    exchange::{PAWN, gain, gains, immediate_gain},
    legal,
    position::after,
    scene::Scene,
    viveka::glance::{Glance, every_answer_allows_mate, has_mate, has_move, pawns},
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
        "{threat}",
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

/// Our balance after the move, in points.
fn even(g: &Glance) -> i32 {
    g.before.balance + immediate_gain(g.mv)
}

fn threatens(g: &Glance) -> i32 {
    if g.gives_check() {
        return 0;
    }
    let reached = even(g) + gain(&Scene::new(&g.after).passed(), &g.budget);
    pawns((reached - g.before.reach()).clamp(-MOST, MOST))
}

fn wins_by_force(g: &Glance) -> i32 {
    let scene = Scene::new(&g.after);
    let kept = g.before.balance + g.x_q();
    let mut least = MOST;
    let replies = legal::moves(&g.after);
    g.budget.take(replies.len() as u32);
    for &reply in &replies {
        if g.gives_check() && has_mate(&after(&g.after, reply), &g.budget) {
            continue;
        }
        let next = scene.after(reply);
        let even = even(g) - immediate_gain(reply);
        if !gains(&next, kept + PAWN - even, &g.budget) || ends(&g.after, reply, &g.budget) {
            return 0;
        }
        least = least.min(even + gain(&next, &g.budget) - kept);
    }
    // Without a reply the game is over: other terms speak of that.
    if g.has_reply() { pawns(least) } else { 0 }
}

/// Whether the game is over after `reply`.
#[inline(never)] // the list of moves must not stay on the caller's stack
fn ends(position: &Chess, reply: Move, budget: &Budget) -> bool {
    let next = after(position, reply);
    next.is_insufficient_material() || !has_move(&next, budget)
}

fn allows_mating_check(g: &Glance) -> i32 {
    let mut from = 0;
    while let Some((place, check)) = next_check(&g.after, from, &g.budget) {
        let next = after(&g.after, check);
        if has_move(&next, &g.budget) && every_answer_allows_mate(&next, &g.budget) {
            return 1;
        }
        from = place + 1;
    }
    0
}

/// The next check, from a place in the list of moves on, with its place.
#[inline(never)] // the list must not stay on the stack while the answers are looked at
fn next_check(position: &Chess, from: usize, budget: &Budget) -> Option<(usize, Move)> {
    if !budget.allows() {
        return None;
    }
    let scene = Scene::new(position);
    let moves = legal::moves(position);
    budget.take(moves.len() as u32);
    let mut rest = moves.iter().copied().enumerate().skip(from);
    rest.find(|&(_, mv)| scene.after(mv).is_check())
}
