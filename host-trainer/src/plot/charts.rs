//! Which metrics are drawn together.
use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::{History, sheet};
use crate::report::figures::{Panel, Series, lines};

/// Points of a line at most: neighbours are averaged beyond.
const POINTS: usize = 200;
/// Diagnoses over which signal and noise are averaged, each by itself, before one is divided by
/// the other: those of a single batch are too uncertain.
const NOISE_WINDOW: usize = 10;

/// A line of every run: its name, and where its numbers stand.
type Row = (&'static str, &'static str);

/// A chart of numbers that stand in the metrics as they are drawn.
struct Chart {
    title: &'static str,
    y: &'static str,
    rows: &'static [Row],
    logarithm: bool,
}

const CHARTS: [Chart; 11] = [
    Chart {
        title: "policy",
        y: "cross-entropy, nats",
        rows: &[
            ("training", "/policy"),
            ("held out", "/validation/cross_entropy"),
            ("held out, average", "/validation_ema/cross_entropy"),
        ],
        logarithm: false,
    },
    Chart {
        title: "value",
        y: "squared error",
        rows: &[
            ("training", "/value"),
            ("held out", "/validation/value/mse"),
            ("held out, average", "/validation_ema/value/mse"),
        ],
        logarithm: false,
    },
    Chart {
        title: "wanted move first",
        y: "share of positions",
        rows: &[
            ("training", "/diagnosis/answers/top1"),
            ("held out", "/validation/top1"),
            ("held out, average", "/validation_ema/top1"),
        ],
        logarithm: false,
    },
    Chart {
        title: "wanted move among the first five",
        y: "share of positions",
        rows: &[
            ("training", "/diagnosis/answers/top5"),
            ("held out", "/validation/top5"),
            ("held out, average", "/validation_ema/top5"),
        ],
        logarithm: false,
    },
    Chart {
        title: "entropy of the policy",
        y: "nats",
        rows: &[
            ("training", "/diagnosis/answers/policy_entropy"),
            ("held out", "/validation/policy_entropy"),
            ("targets", "/validation/target_entropy"),
        ],
        logarithm: false,
    },
    Chart {
        title: "value on held-out positions",
        y: "share",
        rows: &[
            ("correlation", "/validation/value/correlation"),
            ("calibration error", "/validation/value/ece"),
            ("material order", "/validation/material/pass_rate"),
        ],
        logarithm: false,
    },
    Chart {
        title: "gradient",
        y: "log10 of the norm",
        rows: &[("norm before clipping", "/gradient_norm")],
        logarithm: true,
    },
    Chart {
        title: "learning rate",
        y: "log10",
        rows: &[("learning rate", "/learning_rate")],
        logarithm: true,
    },
    Chart {
        title: "speed",
        y: "positions a second",
        rows: &[("speed", "/positions_per_second")],
        logarithm: false,
    },
    Chart {
        title: "waiting for data",
        y: "share of the time",
        rows: &[("waiting", "/waiting")],
        logarithm: false,
    },
    Chart {
        title: "one batch by heart",
        y: "log10 of the loss",
        rows: &[("policy", "/overfit/policy"), ("value", "/overfit/value")],
        logarithm: true,
    },
];

/// The charts of one run, or of several to compare, as one SVG.
///
/// # Errors
/// If drawing fails, which is a defect.
pub fn draw(runs: &[History]) -> Result<String> {
    let mut panels: Vec<Panel> = CHARTS.iter().map(|chart| chart.panel(runs)).collect();
    panels.insert(6, reliability(runs));
    panels.insert(7, update_ratios(runs));
    panels.insert(9, noise_scale(runs));
    panels.push(range_test(runs));
    panels.retain(|panel| panel.series.iter().any(|series| !series.points.is_empty()));
    let charts = panels.into_iter().map(|panel| lines(&[panel]));
    sheet::of(&charts.collect::<Result<Vec<_>>>()?)
}

impl Chart {
    fn panel(&self, runs: &[History]) -> Panel {
        let row = |run: &History, (name, pointer): &Row| {
            let points = run.series(pointer);
            let points = if self.logarithm { logarithms(points) } else { points };
            Series { name: named(runs, run, name), points: thinned(&points) }
        };
        let series = runs.iter().flat_map(|run| self.rows.iter().map(move |r| row(run, r)));
        // A lone line says in the chart's title what it is.
        panel(self.title, "step", self.y, series.filter(|s| !s.points.is_empty()).collect())
    }
}

fn panel(title: &str, x: &str, y: &str, series: Vec<Series>) -> Panel {
    Panel { title: title.into(), x: x.into(), y: y.into(), series }
}

/// The name of a line: with that of its run if there are several.
fn named(runs: &[History], run: &History, name: &str) -> String {
    if runs.len() == 1 { name.to_owned() } else { format!("{}: {name}", run.name) }
}

/// The reliability of the values at each run's last validation.
fn reliability(runs: &[History]) -> Panel {
    let mut series =
        vec![Series { name: "calibrated".into(), points: [-1.0, 1.0].map(|x| (x, x)).to_vec() }];
    for run in runs {
        let bins = run.last("/validation/value/reliability").and_then(Value::as_array);
        let bin = |bin: &Value| Some((bin["value"].as_f64()?, bin["target"].as_f64()?));
        let points: Vec<(f64, f64)> = bins.into_iter().flatten().filter_map(bin).collect();
        if !points.is_empty() {
            series.push(Series { name: named(runs, run, "held out"), points });
        }
    }
    if series.len() == 1 {
        series.clear();
    }
    panel("reliability of the value", "mean value", "mean target", series)
}

/// The largest update ratio of each family of layers, the blocks of encoder and trunk together;
/// of several runs, that of all layers.
fn update_ratios(runs: &[History]) -> Panel {
    let mut series = Vec::new();
    for run in runs {
        let groups = run.last("/diagnosis/groups").and_then(Value::as_array);
        let mut families: BTreeMap<String, ()> = BTreeMap::new();
        for group in groups.into_iter().flatten().filter_map(|g| g["name"].as_str()) {
            families.insert(if runs.len() == 1 { family(group) } else { String::new() }, ());
        }
        for wanted in families.into_keys() {
            let points = run.points(|line| largest_update(line, &wanted));
            let name = if wanted.is_empty() { "largest" } else { &wanted };
            let name = named(runs, run, name);
            series.push(Series { name, points: thinned(&logarithms(points)) });
        }
    }
    panel("update over weights, largest of the layers", "step", "log10 of the ratio", series)
}

/// The smoothed loss of the learning-rate range test over the rate.
fn range_test(runs: &[History]) -> Panel {
    let series = runs.iter().map(|run| {
        let rates = run.series("/range/learning_rate");
        let losses = run.series("/range/smoothed");
        let points = rates.iter().zip(&losses).map(|(rate, loss)| (rate.1.log10(), loss.1));
        Series { name: named(runs, run, "smoothed loss"), points: points.collect() }
    });
    panel("learning-rate range test", "log10 of the rate", "loss", series.collect())
}

/// The noise scale of the gradient, from means over the last diagnoses.
fn noise_scale(runs: &[History]) -> Panel {
    let series = runs.iter().map(|run| {
        let signal = run.series("/diagnosis/noise/signal");
        let noise = run.series("/diagnosis/noise/noise");
        let points = ratios(&noise, &signal);
        Series { name: named(runs, run, "noise scale"), points: thinned(&logarithms(points)) }
    });
    panel("noise scale of the gradient", "step", "log10 of positions", series.collect())
}

/// The mean of `above` over that of `below`, both over the last [`NOISE_WINDOW`] points.
fn ratios(above: &[(f64, f64)], below: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let windows = above.windows(NOISE_WINDOW).zip(below.windows(NOISE_WINDOW));
    let sum = |points: &[(f64, f64)]| points.iter().map(|point| point.1).sum::<f64>();
    windows.map(|(a, b)| (a[NOISE_WINDOW - 1].0, sum(a) / sum(b))).collect()
}

fn largest_update(line: &Value, wanted: &str) -> Option<f64> {
    let groups = line.pointer("/diagnosis/groups")?.as_array()?;
    let ours = groups.iter().filter(|group| {
        wanted.is_empty() || group["name"].as_str().is_some_and(|name| family(name) == wanted)
    });
    ours.filter_map(|group| group["update_ratio"].as_f64()).reduce(f64::max)
}

/// A group's name without the number of its block.
fn family(group: &str) -> String {
    group.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end().to_owned()
}

/// Logarithms to base 10 of what is positive.
fn logarithms(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let positive = points.into_iter().filter(|point| point.1 > 0.0);
    positive.map(|(x, y)| (x, y.log10())).collect()
}

/// At most [`POINTS`] points, each the mean of neighbours.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let group = points.len().div_ceil(POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / count, sum.1 / count)
    };
    points.chunks(group).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_averaged() {
        let points: Vec<(f64, f64)> = (0..900).map(|i| (f64::from(i), 2.0)).collect();
        let thin = thinned(&points);
        assert_eq!((thin.len(), thin[0], thin[179]), (180, (2.0, 2.0), (897.0, 2.0)));
        assert_eq!(thinned(&points[..7]), points[..7]);
        assert!(thinned(&[]).is_empty());
    }

    #[test]
    fn noise_and_signal_are_averaged_before_they_are_divided() {
        let line = |y: [f64; 2]| -> Vec<(f64, f64)> {
            (0..11).map(|i| (f64::from(i), y[i as usize % 2])).collect()
        };
        let found = ratios(&line([6.0, 2.0]), &line([3.0, -1.0]));
        assert_eq!(found, [(9.0, 4.0), (10.0, 4.0)]);
        assert!(ratios(&line([1.0, 1.0])[..9], &line([1.0, 1.0])[..9]).is_empty());
    }

    #[test]
    fn blocks_are_one_family() {
        assert_eq!(family("encoder 12"), "encoder");
        assert_eq!(family("value head"), "value head");
    }

    #[test]
    fn logarithms_leave_out_what_has_none() {
        assert_eq!(logarithms(vec![(1.0, 100.0), (2.0, 0.0), (3.0, -1.0)]), [(1.0, 2.0)]);
    }
}
