//! Time evolution, forward: how a position develops along the engine's best and third line.
use anyhow::Result;
use kibitzer_core::{
    exchange::{PAWN, exchanges},
    shakmaty::{Chess, Color, Position as _},
    viveka::{
        Before,
        positional::{FEATURES, Survey},
    },
};
use rayon::prelude::*;

use super::{
    figures::{Panel, Series, lines},
    page::{NOTHING, Page, Table, signed},
};
use crate::library::{LabelledPosition, Line};

/// Moves of a line that are followed.
const PLIES: usize = 8;
/// The choice matters where the best line leads the third by this much, in centipawns.
const MATTERS: i32 = 50;
/// What is counted, each from the side of the player whose move is judged.
const MEASURES: [&str; 4] =
    ["the opponent's legal moves", "own mobility, squares", "space, squares", "material, pawns"];

/// The measures in one position; `None` where one cannot be taken.
type Measures = [Option<f64>; MEASURES.len()];

/// Takes the measures from `us`'s side.
///
/// The opponent's legal moves are counted when it is the opponent's turn. Mobility is the terms':
/// squares that our pieces reach. Space is the positional feature, ours minus theirs. Material is
/// the balance once all exchanges are played out, so that a line in the middle of an exchange
/// does not look won.
fn measure(position: &Chess, us: Color) -> Measures {
    let ours = position.turn() == us;
    let before = Before::new(position, None);
    let own = if ours { &before.facts.us } else { &before.facts.them };
    let material = exchanges(position) * if ours { 1 } else { -1 };
    let space = FEATURES.iter().find(|feature| feature.name == "space");
    [
        (!ours).then(|| position.legal_moves().len() as f64),
        Some(own.mobility.into()),
        space.map(|space| Survey::of(position, us).value(space).into()),
        Some(f64::from(material) / f64::from(PAWN)),
    ]
}

/// The measures after each of the first [`PLIES`] moves of a line, as far as it goes.
fn follow(root: &Chess, line: &Line) -> Vec<Measures> {
    let mut position = root.clone();
    let moves = line.moves.iter().take(PLIES);
    moves
        .map(|&mv| {
            position.play_unchecked(mv);
            measure(&position, root.turn())
        })
        .collect()
}

/// Mean and spread of some numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        self.count += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Standard error of the mean.
    fn error(&self) -> f64 {
        let variance = (self.squares - self.sum * self.mean()) / (self.count - 1.0).max(1.0);
        (variance.max(0.0) / self.count).sqrt()
    }
}

/// Differences between best and third line of one group of positions.
#[derive(Debug, Clone, Default)]
struct Group {
    positions: usize,
    /// After each ply, of each measure.
    plies: [[Mean; MEASURES.len()]; PLIES],
}

impl Group {
    fn add(&mut self, differences: &[Measures]) {
        self.positions += 1;
        for (ply, measures) in self.plies.iter_mut().zip(differences) {
            for (mean, &difference) in ply.iter_mut().zip(measures) {
                if let Some(difference) = difference {
                    mean.add(difference);
                }
            }
        }
    }
}

/// Whether the choice matters in `position`, and by how much its best line is ahead of the third
/// after each ply that both have; `None` with fewer than three lines.
fn differences(position: &LabelledPosition) -> Option<(bool, Vec<Measures>)> {
    let [best, _, third, ..] = &position.lines[..] else { return None };
    let [best_line, third_line] = [best, third].map(|line| follow(&position.position, line));
    let difference =
        |(best, third): (&Measures, &Measures)| std::array::from_fn(|i| Some(best[i]? - third[i]?));
    let plies = best_line.iter().zip(&third_line).map(difference).collect();
    Some((best.score - third.score >= MATTERS, plies))
}

/// Follows the lines of all positions: nothing here is fitted, so none is held out.
pub fn section(page: &mut Page, positions: &[LabelledPosition]) -> Result<()> {
    let differences: Vec<_> = positions.par_iter().filter_map(differences).collect();
    let (mut matters, mut others) = (Group::default(), Group::default());
    for (choice_matters, plies) in &differences {
        if *choice_matters { &mut matters } else { &mut others }.add(plies);
    }
    page.add(format_args!(
        "The engine's best line against its third, from the mover's side: mean difference after \
         each ply, ± its standard error. The choice matters where the best is at least {MATTERS} \
         cp better than the third. All positions with three lines, since nothing is fitted."
    ));
    let groups = [("the choice matters", &matters), ("it does not", &others)];
    for (name, group) in groups {
        page.part(&format!("Where {name} ({} positions)", group.positions));
        page.add(table(group));
    }
    let panel = |(i, measure): (usize, &&str)| Panel {
        title: measure.to_string(),
        x: "plies".into(),
        y: "best minus third".into(),
        series: groups.iter().map(|(name, group)| curve(name, group, i)).collect(),
    };
    let panels: Vec<Panel> = MEASURES.iter().enumerate().map(panel).collect();
    page.figure("evolution", "the best line against the third, ply by ply", lines(&panels)?);
    Ok(())
}

fn table(group: &Group) -> Table {
    let mut table = Table::new(["ply"].iter().chain(&MEASURES).copied());
    for (ply, means) in (1..).zip(&group.plies) {
        let cell = |mean: &Mean| {
            if mean.count == 0.0 {
                return NOTHING.to_string();
            }
            format!("{} ± {:.1}", signed(mean.mean(), 1), mean.error())
        };
        table.row([ply.to_string()].into_iter().chain(means.iter().map(cell)));
    }
    table
}

/// One measure's mean differences; 0 before the first move.
fn curve(name: &str, group: &Group, measure: usize) -> Series {
    let means = (1..).zip(&group.plies).map(|(ply, means): (i32, _)| (ply, &means[measure]));
    let known = means.filter(|(_, mean)| mean.count > 0.0);
    let points = known.map(|(ply, mean)| (f64::from(ply), mean.mean()));
    Series { name: name.into(), points: [(0.0, 0.0)].into_iter().chain(points).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kibitzer_core::position::parse_fen;

    #[test]
    fn measures_are_taken_from_the_mover_s_side() {
        // Black to move: king on e8 and f8's neighbours; White's rook reaches 14 squares.
        let position = parse_fen("4k3/8/8/8/8/8/8/R3K3 b - - 0 1").unwrap();
        let [legal, mobility, _, material] = measure(&position, Color::White);
        assert_eq!(legal, Some(5.0), "d8, f8, d7, e7, f7");
        assert_eq!(mobility, Some(10.0), "a2 to a8, b1 to d1");
        assert_eq!(material, Some(5.0));
        let [legal, mobility, _, material] = measure(&position, Color::Black);
        assert_eq!((legal, mobility, material), (None, Some(0.0), Some(-5.0)));
    }

    #[test]
    fn material_is_counted_after_the_exchanges() {
        // Black has just taken a knight on d5; the pawn takes back.
        let position = parse_fen("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1").unwrap();
        assert_eq!(measure(&position, Color::White)[3], Some(1.0));
        assert_eq!(measure(&position, Color::Black)[3], Some(-1.0));
    }

    #[test]
    fn lines_are_compared_as_far_as_both_go() {
        let root = parse_fen("4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1").unwrap();
        let lines = vec![
            Line::of(&root, 500, "d2d5 e8f7 d5d7"),
            Line::of(&root, 460, "d2d4"),
            Line::of(&root, 450, "d2d1 e8f7"),
        ];
        let position = LabelledPosition {
            opening: "x".into(),
            position: root,
            last: None,
            moves: Vec::new(),
            lines,
        };
        let (matters, plies) = differences(&position).unwrap();
        assert!(matters);
        assert_eq!(plies.len(), 2);
        assert_eq!(plies[0][3], Some(1.0), "a pawn more than in the third line");
        assert_eq!(plies[1][0], None, "our turn");
        let mut two = position.clone();
        two.lines.pop();
        assert!(differences(&two).is_none());
    }

    #[test]
    fn a_mean_and_its_error() {
        let mut mean = Mean::default();
        [1.0, 2.0, 3.0].into_iter().for_each(|x| mean.add(x));
        assert_eq!(mean.mean(), 2.0);
        assert!((mean.error() - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
