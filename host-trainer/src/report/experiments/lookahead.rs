//! Two-move look-ahead with the same formula: `V(m) − λ·V_opponent(best reply)`.
use kibitzer_core::{
    shakmaty::{Chess, Move},
    viveka::Weights,
};
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};
use rayon::prelude::*;

use super::{Duel, Page, Study, losses, mean};
use crate::{
    fit::Row,
    judge::{Judged, best_of},
    progress,
    report::{
        answer::answer,
        page::{Table, number},
    },
};

/// Positions that λ is chosen on, and positions that it is tried on.
const SAMPLE: usize = 300;
/// Largest λ and the grid's step, in percent.
const MOST: i32 = 100;
const STEP: i32 = 10;

/// A candidate: its number, its score, and the score of the opponent's best reply.
type Candidate = (usize, i32, i32);

/// The opponent's best score after `mv`, among the replies that the same scan keeps; 0 without a
/// reply.
fn reply(position: &Chess, mv: Move, weights: &Weights) -> i32 {
    let replies = answer(position, mv, weights).candidates;
    replies.iter().map(|reply| reply.score).max().unwrap_or(0)
}

fn candidates(judged: &Judged, weights: &Weights) -> Vec<Candidate> {
    let labelled = judged.labelled;
    let examine = |&i: &usize| {
        (i, judged.scores[i], reply(&labelled.position, labelled.moves[i].mv, weights))
    };
    judged.candidates().iter().map(examine).collect()
}

/// The best candidates with the replies weighed by `percent`.
fn choose(candidates: &[Candidate], percent: i32) -> Vec<usize> {
    best_of(candidates.iter().map(|&(i, own, reply)| (i, 100 * own - percent * reply)))
}

/// A sample of positions with their candidates' replies.
struct Sample<'a> {
    rows: Vec<Row<'a>>,
    candidates: Vec<Vec<Candidate>>,
}

impl<'a> Sample<'a> {
    fn draw(study: &Study, mut rows: Vec<Row<'a>>) -> Sample<'a> {
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(study.source.seed));
        rows.truncate(SAMPLE);
        let weights = &study.fitted.weights;
        let bar = progress::bar(rows.len() as u64, "positions looked ahead in");
        let examine = |judged: &Judged| {
            bar.inc(1);
            candidates(judged, weights)
        };
        let candidates = study.examine(&rows).par_iter().map(examine).collect();
        bar.finish_and_clear();
        Sample { rows, candidates }
    }

    fn choices(&self, percent: i32) -> Vec<Vec<usize>> {
        self.candidates.iter().map(|c| choose(c, percent)).collect()
    }

    fn mean_loss(&self, percent: i32) -> f64 {
        mean(&losses(&self.rows, &self.choices(percent)))
    }
}

/// Chooses λ on positions fitted on and tries it on positions held out.
pub(super) fn section(page: &mut Page, study: &Study) {
    let fitted = Sample::draw(study, study.fitted_rows());
    let held_out = Sample::draw(study, study.held_out_rows());
    let grid = || (0..=MOST).step_by(STEP as usize);
    let least = grid().map(|percent| (fitted.mean_loss(percent), percent));
    let chosen = least.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, percent)| percent);
    page.part("Two-move look-ahead");
    page.add(format_args!(
        "V(m) − λ·V(best reply), both by the score among the scan's candidates, without the \
         check. λ is chosen on {} positions of the openings fitted on and tried on {} held out, \
         both drawn by the seed. Mean loss, cp:",
        fitted.rows.len(),
        held_out.rows.len()
    ));
    let mut table = Table::new(["λ", "fitted on", "held out", ""]);
    for percent in grid() {
        table.row([
            number(f64::from(percent) / 100.0, 1),
            number(fitted.mean_loss(percent), 1),
            number(held_out.mean_loss(percent), 1),
            if percent == chosen { "chosen" } else { "" }.to_string(),
        ]);
    }
    page.add(table);
    let weights = &study.fitted.weights;
    let checked: Vec<Vec<usize>> =
        study.examine(&held_out.rows).iter().map(|p| p.checked(weights)).collect();
    page.add(format_args!(
        "The check in its place, which looks at forcing replies alone: {} cp held out.",
        number(mean(&losses(&held_out.rows, &checked)), 1)
    ));
    let duel = Duel::new(&held_out.rows, &held_out.choices(chosen), &held_out.choices(0));
    page.add(duel.verdict());
}

#[cfg(test)]
mod tests {
    use super::*;
    use kibitzer_core::{position::parse_fen, shakmaty::uci::UciMove, viveka::FITTED};

    #[test]
    fn a_reply_that_wins_a_queen_counts_against_the_move() {
        let position = parse_fen("3rk3/8/8/8/8/8/8/Q3K3 w - - 0 1").unwrap();
        let reply = |uci: &str| {
            let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            reply(&position, mv, &FITTED)
        };
        assert!(reply("a1d4") > reply("a1b2") + 500);
        let mate = parse_fen("6k1/5ppp/8/8/8/8/8/3RK3 w - - 0 1").unwrap();
        let mv = "d1d8".parse::<UciMove>().unwrap().to_move(&mate).unwrap();
        assert_eq!(super::reply(&mate, mv, &FITTED), 0);
    }

    #[test]
    fn the_reply_is_weighed() {
        let candidates = [(4, 100, 300), (7, 90, 0)];
        assert_eq!(choose(&candidates, 0), [4]);
        assert_eq!(choose(&candidates, 10), [7]);
        assert_eq!(choose(&[(1, 50, 0), (2, 50, 0)], 50), [1, 2]);
    }
}
