//! The report as text.
use std::fmt;

use super::Output;
use crate::evaluation::{Answers, Baseline, MaterialReport, Rate, Report, ValueReport};

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Output { report: Report { answers, material }, targets, baseline, parity } = self;
        writeln!(f, "positions            {}", answers.positions)?;
        writeln!(f, "targets              {targets}")?;
        moves(f, answers)?;
        for (name, of) in [("uniform", baseline.uniform), ("frequency", baseline.frequency)] {
            let Baseline { top1, top5, cross_entropy, value_mse } = of;
            writeln!(
                f,
                "  {name:<18} top-1 {:.2} %, top-5 {:.2} %, {cross_entropy:.4} nats, value \
                 squared error {value_mse:.3}",
                100.0 * top1,
                100.0 * top5,
            )?;
        }
        values(f, &answers.value)?;
        order(f, material)?;
        match parity {
            Some(parity) => write!(f, "{parity}"),
            None => Ok(()),
        }
    }
}

fn moves(f: &mut fmt::Formatter<'_>, answers: &Answers) -> fmt::Result {
    let Answers { top1, top3, top5, top10, cross_entropy, policy_entropy, target_entropy, .. } =
        answers;
    let ranks = [("top-1", top1), ("top-3", top3), ("top-5", top5), ("top-10", top10)];
    for (name, share) in ranks {
        writeln!(f, "{name:<20} {:.2} %", 100.0 * share)?;
    }
    writeln!(f, "cross-entropy        {cross_entropy:.4} nats")?;
    writeln!(f, "policy entropy       {policy_entropy:.4} nats (targets {target_entropy:.4})")
}

fn values(f: &mut fmt::Formatter<'_>, value: &ValueReport) -> fmt::Result {
    let ValueReport { correlation, ece, mse, target_variance, reliability } = value;
    writeln!(f, "value correlation    {correlation:.3}")?;
    writeln!(f, "value squared error  {mse:.3} (variance of the targets {target_variance:.3})")?;
    writeln!(f, "value calibration    {ece:.3} (expected error)")?;
    for bin in reliability {
        writeln!(
            f,
            "  value {:+.2}        target {:+.2}, {} positions",
            bin.value, bin.target, bin.positions
        )?;
    }
    Ok(())
}

fn order(f: &mut fmt::Formatter<'_>, material: &MaterialReport) -> fmt::Result {
    let MaterialReport { positions, pairs, pass_rate, pieces, changes } = material;
    writeln!(
        f,
        "material order       {:.1} % of {pairs} pairs from {positions} positions",
        100.0 * pass_rate
    )?;
    for (name, rate) in [
        ("pawn", pieces.pawn),
        ("knight", pieces.knight),
        ("bishop", pieces.bishop),
        ("rook", pieces.rook),
        ("queen", pieces.queen),
        ("own removed", changes.own_removed),
        ("opponent's removed", changes.opponent_removed),
        ("own added", changes.own_added),
        ("opponent's added", changes.opponent_added),
    ] {
        let Rate { pairs, pass_rate, mean_movement } = rate;
        let rate = 100.0 * pass_rate;
        writeln!(f, "  {name:<18} {rate:.1} % of {pairs}, value moves by {mean_movement:+.3}")?;
    }
    Ok(())
}
