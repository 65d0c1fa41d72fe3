//! What is counted of a file's positions.
use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::Path,
};

use anyhow::Result;
use kibitzer_core::shakmaty::Position as _;
use serde::{Serialize, Serializer};

use super::items::{Item, each};
use crate::{
    bands::{PHASES, STANDINGS, phase_of, standing_of},
    labels::{self, TEMPERATURE, Target},
    positions, progress,
};

/// Limits of the score histogram, in centipawns.
pub const SCORE_LIMITS: [i32; 10] = [-1000, -500, -200, -100, -25, 25, 100, 200, 500, 1000];

/// Depths of all scores and of the best ones, in plies, shallow ones first; written as `12/18`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depths(pub u32, pub u32);

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl Serialize for Depths {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Numbers about the positions of a file.
#[derive(Debug, Clone, Serialize)]
pub struct Counts {
    /// What the file holds.
    pub kind: String,
    /// Positions, as often as they come.
    pub positions: u64,
    /// Different positions.
    pub different: u64,
    /// Games, where the file tells.
    pub games: Option<u64>,
    /// Positions by opening.
    pub openings: BTreeMap<String, u64>,
    /// Positions by phase: see [`PHASES`].
    pub phases: [u64; PHASES.len()],
    /// Positions by the moves before them, in tens; the last has all others.
    pub plies: [u64; 16],
    /// Positions by the number of pieces on the board, from 0 to 32.
    pub pieces: Vec<u64>,
    /// Positions by the number of legal moves.
    pub legal: Vec<u64>,
    /// Games that White won, that were drawn, that Black won, counted at every position.
    pub results: [u64; 3],
    /// Positions by depth of all scores and of the best ones.
    pub depths: BTreeMap<Depths, u64>,
    /// Positions by the best move's score, by [`SCORE_LIMITS`].
    pub scores: [u64; SCORE_LIMITS.len() + 1],
    /// Positions by the wanted value: see [`STANDINGS`].
    pub standings: [u64; STANDINGS.len()],
    /// Positions with a wanted probability for more than one move.
    pub soft: u64,
    /// Their mean entropy, in nats.
    pub soft_entropy: f64,
    /// Mean share of the most wanted move, where moves are wanted.
    pub best_share: f64,
    /// Positions held out.
    pub held_out: u64,
    /// Those of them that are among the others too.
    pub held_out_seen: u64,
    #[serde(skip)]
    sums: Sums,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    keys: HashSet<u128>,
    held_out: HashSet<u128>,
    entropy: f64,
    best: f64,
    targets: u64,
}

/// What two files have in common.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shared {
    /// Different positions in both.
    pub positions: u64,
    /// Their share of this file's.
    pub share: f64,
    /// Their share of the other's.
    pub share_of_other: f64,
}

impl Counts {
    /// Counts the file at `path`.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if it cannot be read or is damaged.
    pub fn of(path: &Path) -> Result<Counts> {
        let mut counts = Counts::empty();
        let target = Target::new(TEMPERATURE, labels::Choice::All)?;
        let bar = progress::spinner("positions");
        let (kind, games) = each(path, |item| {
            counts.add(&item, &target);
            bar.inc(1);
        })?;
        bar.finish_and_clear();
        counts.kind = kind.to_string();
        counts.games = games;
        counts.finish();
        Ok(counts)
    }

    fn empty() -> Counts {
        Counts {
            kind: String::new(),
            positions: 0,
            different: 0,
            games: None,
            openings: BTreeMap::new(),
            phases: [0; 3],
            plies: [0; 16],
            pieces: vec![0; 33],
            legal: vec![0; 219],
            results: [0; 3],
            depths: BTreeMap::new(),
            scores: [0; SCORE_LIMITS.len() + 1],
            standings: [0; STANDINGS.len()],
            soft: 0,
            soft_entropy: 0.0,
            best_share: 0.0,
            held_out: 0,
            held_out_seen: 0,
            sums: Sums::default(),
        }
    }

    fn add(&mut self, item: &Item, target: &Target) {
        let Item { position, ply, opening, outcomes, scores, depths, held_out, .. } = item;
        let key = positions::key(position);
        self.positions += 1;
        let keys = if *held_out == Some(true) {
            self.held_out += 1;
            &mut self.sums.held_out
        } else {
            &mut self.sums.keys
        };
        keys.insert(key);
        if let Some(opening) = opening {
            *self.openings.entry(opening.clone()).or_default() += 1;
        }
        self.phases[phase_of(position.board())] += 1;
        if let Some(ply) = ply {
            self.plies[(*ply as usize / 10).min(self.plies.len() - 1)] += 1;
        }
        self.pieces[position.board().occupied().count().min(32)] += 1;
        let legal = position.legal_moves().len();
        self.legal[legal.min(218)] += 1;
        if let Some(outcomes) = outcomes {
            let (won, lost) = (u64::from(outcomes.won), u64::from(outcomes.lost));
            let white = position.turn().is_white();
            let (white, black) = if white { (won, lost) } else { (lost, won) };
            self.results[0] += white;
            self.results[1] += u64::from(outcomes.drawn);
            self.results[2] += black;
        }
        if let Some((all, top)) = depths {
            *self.depths.entry(Depths(*all, *top)).or_default() += 1;
        }
        if let Some(&best) = scores.iter().max() {
            let limits = SCORE_LIMITS.iter().filter(|&&limit| i32::from(best) >= limit);
            self.scores[limits.count()] += 1;
            self.standings[standing_of(labels::value(scores))] += 1;
        } else if let Some(outcomes) = outcomes {
            self.standings[standing_of(outcomes.mean())] += 1;
        }
        self.target(item, target);
    }

    /// Adds how the moves are wanted.
    fn target(&mut self, item: &Item, target: &Target) {
        let wanted: Vec<f64> = if item.scores.is_empty() {
            let total: f64 = item.played.iter().map(|&count| f64::from(count)).sum();
            item.played.iter().map(|&count| f64::from(count) / total).collect()
        } else {
            target.policy(&item.scores).filter(|&q| q > 0.0).collect()
        };
        let best = wanted.iter().copied().fold(0.0, f64::max);
        if item.outcomes.is_none() && item.scores.is_empty() {
            return;
        }
        self.sums.targets += 1;
        // One move alone is wanted with certainty.
        self.sums.best += if wanted.is_empty() { 1.0 } else { best };
        if wanted.len() > 1 {
            self.soft += 1;
            self.sums.entropy -= wanted.iter().map(|q| q * q.ln()).sum::<f64>();
        }
    }

    fn finish(&mut self) {
        let Sums { keys, held_out, entropy, best, targets } = &mut self.sums;
        self.held_out_seen = held_out.iter().filter(|key| keys.contains(key)).count() as u64;
        keys.extend(held_out.drain());
        self.different = keys.len() as u64;
        self.soft_entropy = *entropy / self.soft.max(1) as f64;
        self.best_share = *best / (*targets).max(1) as f64;
    }

    /// What this file and another have in common.
    pub fn shared(&self, other: &Counts) -> Shared {
        let both = self.sums.keys.iter().filter(|key| other.sums.keys.contains(key)).count();
        Shared {
            positions: both as u64,
            share: both as f64 / self.different.max(1) as f64,
            share_of_other: both as f64 / other.different.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{
        files::atomic_write,
        pgn::Filter,
        records::{Packing, Split, pack},
        shard::Shard,
    };

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
    }

    #[test]
    fn a_library_s_labels_are_counted() {
        let counts = Counts::of(&fixture("library.jsonl.zst")).unwrap();
        assert_eq!((counts.kind.as_str(), counts.positions), ("labelled library", 2701));
        assert_eq!((counts.openings.len(), counts.games), (42, None));
        assert_eq!(counts.depths, [(Depths(12, 18), 2701)].into());
        assert_eq!(counts.scores.iter().sum::<u64>(), 2701);
        assert_eq!(counts.phases.iter().sum::<u64>(), 2701);
        assert!(counts.soft > 2500 && (0.1..2.0).contains(&counts.soft_entropy), "{counts:?}");
        let shared = counts.shared(&counts);
        assert_eq!((shared.positions, shared.share), (counts.different, 1.0));
    }

    #[test]
    fn games_records_and_positions_are_counted_and_leaks_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games.pgn");
        let text = "[ECO \"C20\"]\n\n1. e4 {d=9, wv=0.35} e5 {d=9, wv=0.30} 1-0\n\n\
                    [ECO \"C20\"]\n\n1. e4 {d=9, wv=0.35} c5 0-1\n\n";
        fs::write(&games, text).unwrap();
        let of_games = Counts::of(&games).unwrap();
        assert_eq!((of_games.positions, of_games.different), (4, 2));
        assert_eq!((of_games.games, of_games.results), (Some(2), [2, 0, 2]));
        assert_eq!(of_games.openings, [("C20".to_owned(), 4)].into());
        assert_eq!(of_games.depths, [(Depths(9, 9), 3)].into());
        let path = folder.path().join("records");
        let packing = Packing::new(Filter::default(), Split::Share(0.0), Shard::default());
        atomic_write(&path, |file| pack(&[games], &packing, &path, file)).unwrap();
        let of_records = Counts::of(&path).unwrap();
        assert_eq!((of_records.positions, of_records.soft), (2, 1));
        assert!((of_records.soft_entropy - 2f64.ln()).abs() < 1e-6);
        assert_eq!((of_records.best_share, of_records.results), (0.75, [2, 0, 2]));
        let fen = folder.path().join("a.fen");
        fs::write(&fen, "startpos\n8/8/8/8/8/8/P6k/K7 w - - 0 1\n").unwrap();
        let of_fen = Counts::of(&fen).unwrap();
        let shared = of_fen.shared(&of_records);
        assert_eq!((shared.positions, shared.share, shared.share_of_other), (1, 0.5, 0.5));
        let lichess = folder.path().join("evals.jsonl");
        let line = "{\"fen\":\"8/8/8/8/8/8/P6k/K7 w - -\",\"evals\":[{\"pvs\":[{\"cp\":600,\
                    \"line\":\"a2a4\"}],\"depth\":33}]}\n";
        fs::write(&lichess, format!("{line}broken\n")).unwrap();
        let of_lichess = Counts::of(&lichess).unwrap();
        assert_eq!(of_lichess.depths, [(Depths(33, 33), 1)].into());
        assert_eq!((of_lichess.scores[9], of_lichess.standings[4]), (1, 1));
    }
}
