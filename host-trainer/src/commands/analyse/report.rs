//! The analysis of one position, as JSON and as text.
use std::io::{self, Write};

use kibitzer_core::{
    shakmaty::Move,
    viveka::{self, Analysis, Before, Candidate, Glance, Weights},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::network::{Answer, uci};

/// Moves of the network that the text shows.
const SHOWN: usize = 5;
/// Points of a pawn.
const PAWN: f64 = 100.0;

/// Everything said of one position.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The best candidate; null without a legal move.
    choice: Option<String>,
    /// The candidates, the choice first.
    candidates: Vec<Row>,
    /// Entropy of the distribution over the legal moves, nats.
    entropy: f64,
    /// Whether one move stands out.
    critical: bool,
    /// What the network says.
    #[serde(skip_serializing_if = "Option::is_none")]
    net: Option<Answer>,
}

/// One candidate.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(rename = "move")]
    mv: String,
    /// Points, a pawn being 100; the sum of the terms.
    score: i32,
    /// The score less what the check takes off, points.
    total: i32,
    /// Points by term, those without any left out.
    terms: Map<String, Value>,
    /// What the worst forcing reply costs, in pawns.
    drop: f64,
    /// That reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    /// A sentence for each term.
    why: Vec<String>,
}

impl Row {
    fn new(candidate: &Candidate, before: &Before, weights: &Weights) -> Row {
        let glance = Glance::new(before, candidate.mv);
        let parts: Vec<viveka::Part> =
            viveka::explain(&glance, &candidate.values, weights).collect();
        let name = |mv: Move| uci(mv);
        Row {
            mv: uci(candidate.mv),
            score: candidate.score,
            total: candidate.total,
            terms: parts.iter().map(|p| (p.term.name.to_owned(), p.points.into())).collect(),
            drop: f64::from(candidate.drop.points) / PAWN,
            reply: candidate.drop.reply.map(name),
            why: parts.iter().map(ToString::to_string).collect(),
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{:<5} {:+5} points", self.mv, self.total)?;
        for ((_, points), sentence) in self.terms.iter().zip(&self.why) {
            writeln!(out, "      {:+5} {sentence}", points.as_i64().unwrap_or_default())?;
        }
        match &self.reply {
            Some(reply) => {
                let points = self.total - self.score;
                writeln!(out, "      {points:+5} {reply} may cost {:.1} pawns", self.drop)
            }
            None => Ok(()),
        }
    }
}

impl Report {
    /// Puts the two together.
    pub fn new(
        before: &Before,
        analysis: &Analysis,
        weights: &Weights,
        net: Option<Answer>,
    ) -> Report {
        Report {
            choice: analysis.candidates.first().map(|c| uci(c.mv)),
            candidates: analysis.candidates.iter().map(|c| Row::new(c, before, weights)).collect(),
            entropy: f64::from(analysis.entropy) / 1000.0,
            critical: analysis.critical,
            net,
        }
    }

    /// The report as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        match &self.choice {
            Some(choice) => writeln!(out, "choice {choice}")?,
            None => writeln!(out, "no legal move")?,
        }
        let flag = if self.critical { ", critical" } else { "" };
        writeln!(out, "entropy {:.2} nats{flag}", self.entropy)?;
        for row in &self.candidates {
            row.print(out)?;
        }
        if let Some(net) = &self.net {
            writeln!(out, "network: value {:+.3}", net.value)?;
            for likely in net.moves.iter().take(SHOWN) {
                writeln!(out, "  {:<5} {:5.1} %", uci(likely.mv), 100.0 * likely.probability)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{position::parse_fen, viveka::FITTED};

    use super::*;

    fn report(fen: &str) -> Value {
        let position = parse_fen(fen).unwrap();
        let analysis = viveka::analyse(&position, None, &FITTED);
        serde_json::to_value(Report::new(&Before::new(&position, None), &analysis, &FITTED, None))
            .unwrap()
    }

    #[test]
    fn terms_sum_to_the_score_and_the_choice_is_the_first_candidate() {
        let report = report("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3");
        let candidates = report["candidates"].as_array().unwrap();
        assert_eq!(report["choice"], candidates[0]["move"]);
        for candidate in candidates {
            let terms = candidate["terms"].as_object().unwrap();
            let sum: i64 = terms.values().map(|points| points.as_i64().unwrap()).sum();
            assert_eq!(sum, candidate["score"].as_i64().unwrap(), "{candidate}");
            assert_eq!(terms.len(), candidate["why"].as_array().unwrap().len());
        }
    }

    #[test]
    fn mate_has_no_choice() {
        let report = report("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
        assert_eq!(report["choice"], Value::Null);
        assert_eq!(report["candidates"], Value::Array(vec![]));
        assert_eq!(report.get("net"), None);
    }
}
