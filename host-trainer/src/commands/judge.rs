//! `kibitzer judge`: how well Viveka, and engines, choose on labelled positions.
use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::viveka::{FITTED, V1, Weights};
use serde::Serialize;

use crate::{
    engine,
    error::UserError,
    fit::{
        Row,
        cache::Cache,
        openings,
        weights::{self, WeightsFile},
    },
    judge::{self, EntropyReport, Judged, Outcome},
    library, progress,
};

/// Judge the choices of Viveka, and of UCI engines, on labelled positions.
#[derive(Debug, clap::Args)]
pub struct Judge {
    /// Labelled positions, .jsonl or .jsonl.zst.
    #[arg(value_name = "LIBRARY")]
    library: PathBuf,
    /// Weights to use instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Only positions of the openings that the weight file held out.
    #[arg(long, requires = "weights")]
    held_out: bool,
    /// Also judge a UCI engine, given by its command; may be repeated.
    #[arg(long, value_name = "COMMAND")]
    engine: Vec<String>,
    /// The engines' search depth in plies.
    #[arg(long, value_name = "PLIES", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cache: Cache,
}

/// Everything `judge` tells.
#[derive(Debug, Serialize)]
struct Report {
    positions: usize,
    /// Openings of the positions.
    openings: Vec<String>,
    /// Those of them that the weights were fitted on; `None` for the built-in weights, whose
    /// table does not say.
    fitted_on: Option<Vec<String>>,
    random: Random,
    choices: Vec<Named>,
    scan: Scan,
    entropy: EntropyReport,
}

#[derive(Debug, Serialize)]
struct Random {
    mean_loss: f64,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// Recall by the length of the list.
#[derive(Debug, Serialize)]
struct Scan {
    recall_best: BTreeMap<usize, f64>,
    recall_top3: BTreeMap<usize, f64>,
    /// Of a list drawn at random.
    random_best: BTreeMap<usize, f64>,
    random_top3: BTreeMap<usize, f64>,
}

impl Judge {
    /// Judges and reports.
    ///
    /// # Errors
    /// [`UserError`] for a broken library, weight file or engine.
    pub fn run(self) -> Result<()> {
        let (file, weights) = match &self.weights {
            Some(path) => {
                let (file, weights) = weights::load(path)?;
                (Some(file), weights)
            }
            None => (None, FITTED.clone()),
        };
        let positions = library::read(&self.library)?;
        let features = self.cache.features(&positions)?;
        let mut rows: Vec<Row> = positions.iter().zip(&features).collect();
        if self.held_out {
            keep_held_out(&mut rows, file.as_ref())?;
        }
        let report = self.report(&rows, &weights, file.as_ref())?;
        let mut out = io::stdout().lock();
        if self.json {
            return Ok(writeln!(out, "{}", serde_json::to_string(&report)?)?);
        }
        Ok(report.print(&mut out)?)
    }

    fn report(
        &self,
        rows: &[Row],
        weights: &Weights,
        file: Option<&WeightsFile>,
    ) -> Result<Report> {
        let openings = openings::names(rows.iter().map(|row| row.0));
        let v1 = file.map_or(V1.to_vec(), WeightsFile::v1);
        let judged = judge::examine(rows, weights);
        let ways = judge::ways(&v1, weights).into_iter();
        let mut choices: Vec<Named> =
            ways.map(|(name, choose)| named(name, judge::choice(&judged, choose))).collect();
        for command in &self.engine {
            choices.push(self.judge_engine(command, &judged)?);
        }
        Ok(Report {
            positions: judged.len(),
            fitted_on: file.map(|file| {
                openings.iter().filter(|name| file.fitted.contains(name)).cloned().collect()
            }),
            openings,
            random: Random { mean_loss: judge::random_loss(&judged) },
            choices,
            scan: Scan {
                recall_best: judge::recall(&judged, |p, i| p.loss(i) == 0),
                recall_top3: judge::recall(&judged, |p, i| p.moves[i].top),
                random_best: judge::random_recall(&judged, |p, i| p.loss(i) == 0),
                random_top3: judge::random_recall(&judged, |p, i| p.moves[i].top),
            },
            entropy: judge::entropy_report(&judged, weights),
        })
    }

    fn judge_engine(&self, command: &str, judged: &[Judged]) -> Result<Named> {
        let bar = progress::bar(judged.len() as u64, "positions");
        let positions = judged.iter().map(|position| position.labelled);
        let (name, chosen) = engine::choose(command, self.depth, positions, || bar.inc(1))?;
        bar.finish_and_clear();
        let mut chosen = chosen.into_iter();
        Ok(named(&name, judge::choice(judged, |_| chosen.next().into_iter().collect())))
    }
}

fn named(name: &str, outcome: Outcome) -> Named {
    Named { name: name.to_string(), outcome }
}

fn keep_held_out(rows: &mut Vec<Row>, file: Option<&WeightsFile>) -> Result<()> {
    let held_out = file.map_or(&[][..], |f| &f.held_out);
    rows.retain(|row| held_out.contains(&row.0.opening));
    if rows.is_empty() {
        let mend = "fit with --hold-out, and judge the same library";
        let what = "no position is of an opening that was held out";
        return Err(UserError::new(what, "--held-out", mend).into());
    }
    Ok(())
}

impl Report {
    fn print(&self, out: &mut impl io::Write) -> io::Result<()> {
        let random = self.random.mean_loss;
        writeln!(out, "{} positions of {} openings", self.positions, self.openings.len())?;
        match &self.fitted_on {
            Some(seen) if seen.is_empty() => {
                writeln!(out, "held out: {}", self.openings.join("; "))?;
            }
            Some(seen) => {
                writeln!(out, "the weights were fitted on {} of these openings", seen.len())?
            }
            None => {
                writeln!(out, "the built-in weights were fitted on fixtures/library.jsonl.zst")?
            }
        }
        writeln!(out, "random move: mean loss {random:.1} cp")?;
        // Where every move is as good as every other, no choice loses anything.
        let share = |loss: f64| match random {
            0.0 => "-".to_string(),
            random => format!("{:.3}", loss / random),
        };
        writeln!(
            out,
            "{:28} {:>6} {:>5} {:>7} {:>6} {:>7} {:>7} {:>8}",
            "choice", "loss", "se", "/random", "best", ">100cp", ">300cp", "blunder"
        )?;
        for Named { name, outcome: o } in &self.choices {
            writeln!(
                out,
                "{name:28} {:6.1} {:5.1} {:>7} {:5.1}% {:6.1}% {:6.1}% {:7.1}%",
                o.mean_loss,
                o.se,
                share(o.mean_loss),
                100.0 * o.best,
                100.0 * o.over100,
                100.0 * o.over300,
                100.0 * o.blunder
            )?;
        }
        let scan = &self.scan;
        for (what, recall, random) in [
            ("best move", &scan.recall_best, &scan.random_best),
            ("one of the top three", &scan.recall_top3, &scan.random_top3),
        ] {
            let entry = |(k, r): (&usize, &f64)| format!("{k}: {:.1}%", 100.0 * r);
            let list = |recall: &BTreeMap<usize, f64>| {
                recall.iter().map(entry).collect::<Vec<String>>().join(", ")
            };
            writeln!(out, "scan finds the {what} among {}; random {}", list(recall), list(random))?;
        }
        let e = &self.entropy;
        let auc = |auc: Option<f64>| auc.map_or("undefined".into(), |auc| format!("{auc:.3}"));
        let fifths: Vec<String> =
            e.quintiles.iter().map(|q| format!("{:.1}%", 100.0 * q)).collect();
        writeln!(
            out,
            "critical: {:.1}% of positions; entropy AUC {}, margin AUC {}, Spearman {:.3}, \
             by fifths {}; flag right in {:.1}%, finds {:.1}%",
            100.0 * e.critical,
            auc(e.auc),
            auc(e.margin_auc),
            e.spearman,
            fifths.join(" "),
            100.0 * e.flag_precision,
            100.0 * e.flag_recall
        )
    }
}
