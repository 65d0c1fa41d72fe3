//! Ways of choosing a move, and how they did: scan, weights, selection, results.
use std::collections::BTreeMap;

use anyhow::Result;
use kibitzer_core::viveka::{CANDIDATES, TERMS, Tapered};

use super::{
    figures::{Panel, Series, bars, lines},
    page::{NOTHING, Page, Table, number, percent},
    study::Study,
};
use crate::{
    fit::{column, select::Path},
    judge::{self, Judged, Outcome},
    library::LabelledPosition,
};

/// A way of choosing, with its choice in each position.
#[derive(Debug, Clone)]
pub struct Chooser {
    /// Its name, as `judge` has it.
    pub name: String,
    /// The numbers of the moves that tie for its choice, in each position.
    pub choices: Vec<Vec<usize>>,
}

impl Chooser {
    /// A move at random, and the program's own ways, the last of which is the whole of Viveka.
    pub fn own(study: &Study, judged: &[Judged]) -> Vec<Chooser> {
        let random = judged.iter().map(|p| (0..p.scores.len()).collect()).collect();
        let random = Chooser { name: "random".into(), choices: random };
        let ways = judge::ways(&study.fitted.v1, &study.fitted.weights);
        let own = ways.into_iter().map(|(name, choose)| Chooser {
            name: name.into(),
            choices: judged.iter().map(choose).collect(),
        });
        [random].into_iter().chain(own).collect()
    }

    /// How its choices did in `judged`, the positions that it chose in.
    pub fn outcome(&self, judged: &[Judged]) -> Outcome {
        let mut choices = self.choices.iter();
        judge::choice(judged, |_| choices.next().cloned().unwrap_or_default())
    }
}

/// How often the wanted moves are on the scan's list.
pub fn scan(page: &mut Page, judged: &[Judged]) -> Result<()> {
    let best = |p: &LabelledPosition, i: usize| p.loss(i) == 0;
    let top = |p: &LabelledPosition, i: usize| p.moves[i].top;
    let columns = [
        ("best move, scan", judge::recall(judged, best)),
        ("best move, random list", judge::random_recall(judged, best)),
        ("one of the top three, scan", judge::recall(judged, top)),
        ("one of the top three, random list", judge::random_recall(judged, top)),
    ];
    let mut table = Table::new(["K"].into_iter().chain(columns.iter().map(|c| c.0)));
    for k in columns[0].1.keys() {
        let shares = columns.iter().map(|(_, recall)| percent(recall[k]));
        table.row([k.to_string()].into_iter().chain(shares));
    }
    page.add("Share of positions with the move among the K first of the scan's list.");
    page.add(table);
    let curve = |(name, recall): &(&str, BTreeMap<usize, f64>)| Series {
        name: name.to_string(),
        points: recall.iter().map(|(&k, &share)| (k as f64, 100.0 * share)).collect(),
    };
    let panel = Panel {
        title: String::new(),
        x: "length of the list, K".into(),
        y: "positions, %".into(),
        series: columns.iter().map(curve).collect(),
    };
    page.figure("scan", "the scan's list against a list drawn at random", lines(&[panel])?);
    Ok(())
}

/// The weights, and those of the baseline.
pub fn weights(page: &mut Page, study: &Study) {
    let weights = &study.fitted.weights;
    let mut table = Table::new(["term", "middlegame", "endgame", "scan", "counts"]);
    for (row, term) in weights.rows.iter().zip(&TERMS).filter(|(row, _)| !row.is_zero()) {
        let cell = |points: i32| match points {
            0 => NOTHING.into(),
            points => number(points.into(), 0),
        };
        let Tapered { middlegame, endgame } = row.score;
        table.row([
            row.name.into(),
            cell(middlegame),
            cell(endgame),
            cell(row.scan),
            term.meaning.to_string(),
        ]);
    }
    page.add(
        "Points, a pawn being 100: in the score by the phase of the game, and in the scan. Terms \
         without a weight are not listed.",
    );
    page.add(table);
    page.add(format_args!(
        "Check: β = {}. Move distribution: τ = {} points in the middlegame, {} in the endgame. A \
         position is flagged as critical when its entropy is below {} thousandths of a nat.",
        number(f64::from(weights.check_percent) / 100.0, 2),
        weights.temperature.middlegame,
        weights.temperature.endgame,
        weights.critical_entropy
    ));
    page.part("The baseline v1");
    let mut table = Table::new(["term", "points"]);
    for &(name, points) in &study.fitted.v1 {
        table.row([name.to_string(), number(points.into(), 0)]);
    }
    page.add("The exchange on one square, and the first five terms that join it.");
    page.add(table);
}

/// The path of the selection, for the score and the scan.
pub fn selection(page: &mut Page, study: &Study) -> Result<()> {
    page.add(
        "Weights join one by one, each the one that lowers the cross-entropy of the openings left \
         out most, in five-fold cross-validation on the openings fitted on. A term of the score \
         may get a second one, for what it counts more or less in the endgame. The set chosen is \
         the smallest whose figure is within 3 % of the best on the path; its last weight is \
         marked ●.",
    );
    let score = ("score", "mean loss of the choices, cp", 1.0, &study.fitted.score);
    let scan = ("scan", "best move not on the list, %", 100.0, &study.fitted.scan);
    let mut panels = Vec::new();
    for (what, figure, scale, path) in [score, scan] {
        page.part(&format!("The {what}"));
        page.add(path_table(path, figure, scale));
        let steps = || path.steps.iter();
        let curve = |name: &str, values: Vec<f64>| {
            let points = (1..).map(f64::from).zip(values).collect();
            vec![Series { name: name.into(), points }]
        };
        for (y, values) in [
            (figure, steps().map(|s| scale * s.figure).collect()),
            ("cross-entropy, nats", steps().map(|s| s.cross_entropy).collect()),
        ] {
            panels.push(Panel {
                title: format!("{what}: {} weights chosen", path.chosen),
                x: "weights".into(),
                y: y.into(),
                series: curve(y, values),
            });
        }
    }
    page.figure("selection", "the selection's path", lines(&panels)?);
    Ok(())
}

fn path_table(path: &Path, figure: &str, scale: f64) -> Table {
    let mut table = Table::new(["weights", "joins", "cross-entropy, nats", figure, ""]);
    for (number_of, step) in (1..).zip(&path.steps) {
        let mark = if number_of == path.chosen { "●" } else { "" };
        table.row([
            number_of.to_string(),
            column::name(step.column),
            number(step.cross_entropy, 4),
            number(scale * step.figure, 2),
            mark.to_string(),
        ]);
    }
    table
}

/// How each way of choosing did.
pub fn results(page: &mut Page, judged: &[Judged], choosers: &[Chooser]) -> Result<()> {
    let outcomes: Vec<Outcome> = choosers.iter().map(|c| c.outcome(judged)).collect();
    let random = outcomes[0].mean_loss;
    let mut table = Table::new([
        "choice",
        "mean loss, cp",
        "standard error",
        "÷ random",
        "best move",
        "over 100 cp",
        "over 300 cp",
        "blunder",
    ]);
    for (chooser, o) in choosers.iter().zip(&outcomes) {
        table.row([
            chooser.name.clone(),
            number(o.mean_loss, 1),
            number(o.se, 1),
            number(o.mean_loss / random, 3),
            percent(o.best),
            percent(o.over100),
            percent(o.over300),
            percent(o.blunder),
        ]);
    }
    page.add(format_args!(
        "{} positions of openings held out. Losses are capped at 1,000 cp; where moves tie for \
         the choice, the mean over them. A blunder drops at least 15 winning-chance points. \
         @{CANDIDATES}: among the scan's {CANDIDATES} candidates only.",
        judged.len()
    ));
    page.add(table);
    let rated = choosers.iter().zip(&outcomes).skip(1);
    let losses: Vec<Series> =
        rated.map(|(c, o)| Series::of(c.name.as_str(), [o.mean_loss])).collect();
    let caption = format!("mean loss of each way of choosing (random: {} cp)", number(random, 0));
    page.figure("results", &caption, bars("", "mean loss, cp", &[String::new()], &losses)?);
    Ok(())
}
