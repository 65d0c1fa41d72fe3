//! The analysis of one position, as data: what `--json` prints.
use kibitzer_core::{
    shakmaty::{Chess, Move},
    viveka::{self, Analysis, Before, Candidate, Glance, LastMove, Weights},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::network::{Answer, uci};

/// Points of a pawn.
const PAWN: f64 = 100.0;

/// Everything said of one position.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The best candidate; null without a legal move.
    pub choice: Option<String>,
    /// The candidates, the choice first.
    pub candidates: Vec<Row>,
    /// Entropy of the distribution over the legal moves, nats.
    pub entropy: f64,
    /// Whether one move stands out.
    pub critical: bool,
    /// Positions that the analysis looked at.
    pub searched: u32,
    /// Whether the analysis reached its limit of positions and looked at part of them only.
    pub partial: bool,
    /// What the network says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net: Option<Answer>,
}

/// One candidate.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The move in UCI.
    #[serde(rename = "move")]
    pub mv: String,
    /// The move as people write it.
    pub san: String,
    /// Scan points.
    pub scan: i32,
    /// Points, a pawn being 100; the sum of the terms.
    pub score: i32,
    /// The score less what the check takes off, points.
    pub total: i32,
    /// Points by term, the most first, those without any left out.
    pub terms: Map<String, Value>,
    /// A sentence for each term, in the same order.
    pub why: Vec<String>,
    /// What the worst forcing reply costs, in pawns.
    pub drop: f64,
    /// That reply, in UCI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The same as people write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_san: Option<String>,
    /// What the check found, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

impl Row {
    fn new(candidate: &Candidate, before: &Before, weights: &Weights) -> Row {
        let Candidate { mv, drop, .. } = *candidate;
        let glance = Glance::to_explain(before, mv);
        let parts: Vec<viveka::Part> =
            viveka::explain(&glance, &candidate.values, weights).collect();
        let warning = viveka::Warning::new(before.position, mv, drop);
        Row {
            mv: uci(mv),
            san: san(before.position, mv),
            scan: candidate.scan,
            score: candidate.score,
            total: candidate.total,
            terms: parts.iter().map(|p| (p.term.name.to_owned(), p.points.into())).collect(),
            why: parts.iter().map(ToString::to_string).collect(),
            drop: f64::from(drop.points) / PAWN,
            reply: drop.reply.map(uci),
            reply_san: drop.reply.map(|reply| san(&glance.after, reply)),
            check: warning.map(|warning| warning.to_string()),
        }
    }

    /// Terms by name with their points and sentences, the most points first.
    pub fn parts(&self) -> impl Iterator<Item = (&str, i64, &str)> {
        let terms = self.terms.iter().zip(&self.why);
        terms.map(|((name, points), why)| (&**name, points.as_i64().unwrap_or_default(), &**why))
    }

    /// What the check takes off the score: points, 0 or less.
    pub fn penalty(&self) -> i64 {
        i64::from(self.total - self.score)
    }
}

/// A move as people write it, Black's after "…".
pub fn san(position: &Chess, mv: Move) -> String {
    viveka::notation(position, mv).to_string()
}

impl Report {
    /// Analyses `position`, which the opponent's move `last` led to, and puts it together with
    /// what a network says.
    pub fn new(
        position: &Chess,
        last: Option<LastMove>,
        weights: &Weights,
        net: Option<Answer>,
    ) -> Report {
        let analysis = viveka::analyse(position, last, weights);
        let Analysis { candidates, entropy, critical, searched, partial } = analysis;
        let before = Before::new(position, last);
        Report {
            choice: candidates.first().map(|c| uci(c.mv)),
            candidates: candidates.iter().map(|c| Row::new(c, &before, weights)).collect(),
            entropy: f64::from(entropy) / 1000.0,
            critical,
            searched,
            partial,
            net,
        }
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{position::parse_fen, viveka::FITTED};

    use super::*;

    fn report(fen: &str) -> Value {
        let position = parse_fen(fen).unwrap();
        serde_json::to_value(Report::new(&position, None, &FITTED, None)).unwrap()
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
