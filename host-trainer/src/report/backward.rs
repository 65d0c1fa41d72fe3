//! Time evolution, backward: what the opponent's last move changed, and who answers it.
use kibitzer_core::viveka::{LAST_MOVE, TERMS, Tapered, Weights};

use super::{
    choices::Chooser,
    page::{NOTHING, Page, Table, number, percent},
    study::Study,
};
use crate::fit::{Row, select::Path};

/// How often a term speaks for a choice, over the positions where it speaks for any legal move.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Rates {
    positions: usize,
    /// Sums of shares over those positions: of the engine's best move, a random one, Viveka's.
    shares: [f64; 3],
}

impl Rates {
    /// The rates of term number `term`; `viveka` holds the numbers of the moves that tie for its
    /// choice in each position.
    fn of(term: usize, rows: &[Row], viveka: &[Vec<usize>]) -> Rates {
        let mut rates = Rates::default();
        for ((labelled, features), chosen) in rows.iter().zip(viveka) {
            let speaks = |i: &usize| features.moves[*i][term] != 0;
            let all: Vec<usize> = (0..labelled.moves.len()).collect();
            if !all.iter().any(speaks) {
                continue;
            }
            let best: Vec<usize> = all.iter().copied().filter(|&i| labelled.loss(i) == 0).collect();
            rates.positions += 1;
            for (sum, moves) in rates.shares.iter_mut().zip([&best, &all, chosen]) {
                let count = moves.iter().filter(|i| speaks(i)).count();
                *sum += count as f64 / moves.len().max(1) as f64;
            }
        }
        rates
    }
}

/// How often each term about the last move speaks for the engine's best move, for a random one
/// and for Viveka's choice, and whether the terms were selected.
pub fn section(page: &mut Page, study: &Study, rows: &[Row], viveka: &Chooser) {
    page.add(
        "What the opponent's last move did is read off the position. Shares are over the \
         positions held out in which the term is not 0 for some legal move.",
    );
    let mut table = Table::new([
        "term",
        "positions",
        "engine's best",
        "random",
        "Viveka",
        "in the score",
        "in the scan",
        "counts",
    ]);
    let weights = &study.fitted.weights;
    let backward =
        TERMS.iter().enumerate().filter(|(_, t)| LAST_MOVE.iter().any(|l| l.name == t.name));
    for (i, term) in backward {
        let rates = Rates::of(i, rows, &viveka.choices);
        let share = |sum: f64| match rates.positions {
            0 => NOTHING.to_string(),
            positions => percent(sum / positions as f64),
        };
        let [best, random, ours] = rates.shares.map(share);
        table.row([
            term.name.to_string(),
            rates.positions.to_string(),
            best,
            random,
            ours,
            selected(i, &study.fitted.score, weights.rows[i].score),
            selected(i, &study.fitted.scan, Tapered::level(weights.rows[i].scan)),
            term.meaning.to_string(),
        ]);
    }
    page.add(table);
    page.add(verdict(weights));
}

/// Whether a term was chosen, or at least came on the path, and when.
fn selected(term: usize, path: &Path, points: Tapered) -> String {
    match path.steps.iter().position(|step| step.column == term) {
        Some(at) if at < path.chosen && !points.is_zero() => {
            let number = |points: i32| number(points.into(), 0);
            let points = match points {
                Tapered { middlegame, endgame } if middlegame == endgame => number(middlegame),
                Tapered { middlegame, endgame } => {
                    format!("{} to {}", number(middlegame), number(endgame))
                }
            };
            format!("weight {}, {points} points", at + 1)
        }
        Some(at) if at < path.chosen => format!("weight {}, of 0", at + 1),
        Some(at) => format!("no; weight {} on the path", at + 1),
        None => "no".to_string(),
    }
}

fn verdict(weights: &Weights) -> String {
    let rows = || weights.rows.iter().filter(|row| LAST_MOVE.iter().any(|t| t.name == row.name));
    format!(
        "Of {} terms about the last move, {} are in the score and {} in the scan.",
        LAST_MOVE.len(),
        rows().filter(|row| !row.score.is_zero()).count(),
        rows().filter(|row| row.scan != 0).count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fit::features::Features,
        library::{LabelledMove, LabelledPosition},
    };
    use kibitzer_core::{position::parse_fen, shakmaty::Position as _};

    #[test]
    fn rates_by_hand() {
        // Black's rook has just gone from h8 to e8, where the knight on e4 is now attacked.
        let position = parse_fen("4r1k1/8/8/8/4N3/8/8/6K1 w - - 0 1").unwrap();
        let moves: Vec<LabelledMove> = position
            .legal_moves()
            .into_iter()
            .map(|mv| LabelledMove { mv, score: 0, top: false })
            .collect();
        let last =
            "h8e8".parse().ok().and_then(|uci| kibitzer_core::viveka::LastMove::from_uci(&uci));
        let mut labelled =
            LabelledPosition { opening: "x".into(), position, last, moves, lines: Vec::new() };
        let features = Features::new(&labelled);
        let term = TERMS.iter().position(|t| t.name == "answers_threat").unwrap();
        let saves: Vec<usize> =
            (0..labelled.moves.len()).filter(|&i| features.moves[i][term] != 0).collect();
        assert_eq!(saves.len(), 8, "the knight's moves; the king is too far to defend it");
        let king = (0..labelled.moves.len()).find(|i| !saves.contains(i)).unwrap();
        labelled.moves[saves[0]].score = 50;
        let rates = Rates::of(term, &[(&labelled, &features)], &[vec![king, saves[1]]]);
        let moves = labelled.moves.len() as f64;
        assert_eq!(rates, Rates { positions: 1, shares: [1.0, 8.0 / moves, 0.5] });
    }
}
