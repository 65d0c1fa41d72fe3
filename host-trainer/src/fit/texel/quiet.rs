//! The quiet positions of a library's lines.
use std::collections::{HashMap, hash_map::Entry};

use kibitzer_core::{
    exchange::{balance, exchanges},
    shakmaty::{Chess, Position as _},
    viveka::positional::{Features, Survey},
};
use rayon::prelude::*;

use crate::library::{LabelledPosition, Line, MATE};

/// The most moves of a line that are followed.
const PLIES: usize = 12;

/// A quiet position: nobody is in check and no capture wins material.
#[derive(Debug, Clone)]
pub struct Quiet {
    /// The opening of the game that its line left from.
    pub opening: String,
    /// Game phase, 24 (middlegame) to 0 (endgame).
    pub phase: i32,
    /// Its features, from the side to move.
    pub features: Features,
    /// Material balance of the side to move, in points: P 100, N 300, B 300, R 500, Q 900.
    pub balance: i32,
    /// The line's deep score, in centipawns from the side to move.
    pub score: i32,
}

/// A position on a line, before positions met twice are dropped.
struct Met {
    position: Chess,
    /// Moves from the line's root.
    ply: usize,
    quiet: Quiet,
}

/// Every quiet position on the lines of `positions`, each once: as it was met nearest to a root,
/// where its score is most to be trusted, or first in the file where that is a tie. Lines that
/// end in a forced mate are left out, since their scores are not a count of anything.
pub fn collect(positions: &[LabelledPosition]) -> Vec<Quiet> {
    let met: Vec<Vec<Met>> = positions.par_iter().map(walk).collect();
    let mut places: HashMap<Chess, usize> = HashMap::new();
    let mut kept: Vec<(usize, Quiet)> = Vec::new();
    for Met { position, ply, quiet } in met.into_iter().flatten() {
        match places.entry(position) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push((ply, quiet));
            }
            Entry::Occupied(place) if ply < kept[*place.get()].0 => {
                kept[*place.get()] = (ply, quiet);
            }
            Entry::Occupied(_) => {}
        }
    }
    kept.into_iter().map(|(_, quiet)| quiet).collect()
}

/// The quiet positions on one position's lines. The root itself has the score of its best line.
fn walk(root: &LabelledPosition) -> Vec<Met> {
    let mut met = Vec::new();
    for (rank, line) in root.lines.iter().enumerate().filter(|(_, l)| l.score.abs() < MATE) {
        follow(root, line, usize::from(rank > 0), &mut met);
    }
    met
}

/// Adds the quiet positions after `from` moves of `line` and more.
fn follow(root: &LabelledPosition, line: &Line, from: usize, met: &mut Vec<Met>) {
    let mut position = root.position.clone();
    let mut score = line.score;
    for ply in 0..=line.moves.len().min(PLIES) {
        if ply > 0 {
            position.play_unchecked(line.moves[ply - 1]);
            score = -score;
        }
        if ply >= from && is_quiet(&position) {
            let survey = Survey::of(&position, position.turn());
            let quiet = Quiet {
                opening: root.opening.clone(),
                phase: survey.phase(),
                features: survey.values(),
                balance: balance(&position),
                score,
            };
            met.push(Met { position: position.clone(), ply, quiet });
        }
    }
}

fn is_quiet(position: &Chess) -> bool {
    !position.is_check() && !position.is_game_over() && exchanges(position) == balance(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kibitzer_core::position::parse_fen;

    fn labelled(lines: &[(i32, &str)]) -> LabelledPosition {
        let position = parse_fen("4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1").unwrap();
        LabelledPosition {
            opening: "x".into(),
            last: None,
            moves: Vec::new(),
            lines: lines.iter().map(|(score, moves)| Line::of(&position, *score, moves)).collect(),
            position,
        }
    }

    #[test]
    fn quiet_positions_have_the_score_of_their_side_to_move() {
        // Not the root, where the pawn can be taken, nor the check.
        let quiet = collect(&[labelled(&[(500, "d2d5 e8f7 d5d7 f7f6 d7a7")])]);
        let found: Vec<(i32, i32)> = quiet.iter().map(|q| (q.score, q.balance)).collect();
        assert_eq!(found, [(-500, -500), (500, 500), (500, 500), (-500, -500)]);
    }

    #[test]
    fn a_position_met_twice_counts_once_with_the_score_met_nearest_to_a_root() {
        // Quiet are the positions after d2d1 and after d1d5, which the other root also reaches.
        let far = labelled(&[(500, "d2d1 e8f8 d1d5")]);
        let mut near = labelled(&[]);
        near.position = parse_fen("5k2/8/8/3p4/8/8/8/3RK3 w - - 0 1").unwrap();
        near.lines = vec![Line::of(&near.position, 450, "d1d5")];
        let scores = |positions: &[LabelledPosition]| {
            let mut scores: Vec<i32> = collect(positions).iter().map(|q| q.score).collect();
            scores.sort_unstable();
            scores
        };
        assert_eq!(scores(&[near.clone(), far.clone()]), [-500, -450]);
        assert_eq!(scores(&[far, near]), [-500, -450]);
    }

    #[test]
    fn lines_that_mate_are_left_out() {
        assert!(collect(&[labelled(&[(MATE, "d2d5 e8f7"), (-MATE, "d2d1 e8f8")])]).is_empty());
    }

    #[test]
    fn the_root_counts_once_with_its_best_score() {
        let mut root = labelled(&[]);
        root.position = parse_fen("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1").unwrap();
        root.lines = vec![Line::of(&root.position, 600, ""), Line::of(&root.position, 500, "")];
        let scores: Vec<i32> = collect(&[root]).iter().map(|q| q.score).collect();
        assert_eq!(scores, [600]);
    }
}
