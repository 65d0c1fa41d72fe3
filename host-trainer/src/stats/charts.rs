//! The numbers as a picture.
use anyhow::Result;

use super::{counts::Counts, text::range};
use crate::{
    bands::{PHASES, STANDINGS},
    plot::sheet,
    report::figures::{Series, bars},
};

/// Legal moves are drawn in groups of so many.
const MOVES: usize = 5;
/// Groups of legal moves that are drawn; the last has all others.
const MOVE_GROUPS: usize = 14;

/// The distributions of one file, or of several side by side, as one SVG; each has its name.
///
/// # Errors
/// If drawing fails, which is a defect.
pub fn draw(files: &[(String, &Counts)]) -> Result<String> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let moves: Vec<String> = (0..MOVE_GROUPS).map(|i| (i * MOVES).to_string()).collect();
    let plies: Vec<String> = (0..16).map(|i| (i * 10).to_string()).collect();
    let pieces: Vec<String> = (1..=16).map(|i| (2 * i).to_string()).collect();
    let scores: Vec<String> = (0..11).map(range).collect();
    type Of = fn(&Counts) -> Vec<u64>;
    let charts: [(&str, Vec<String>, Of); 7] = [
        ("phase", names(&PHASES), |c| c.phases.to_vec()),
        ("moves of the game before, from", plies, |c| c.plies.to_vec()),
        ("pieces on the board, up to", pieces, |c| {
            (1..=16).map(|i| c.pieces[2 * i] + c.pieces[2 * i - 1]).collect()
        }),
        ("legal moves, from", moves, |c| {
            let group = |i: usize| {
                let end = if i == MOVE_GROUPS - 1 { c.legal.len() } else { (i + 1) * MOVES };
                c.legal[i * MOVES..end].iter().sum()
            };
            (0..MOVE_GROUPS).map(group).collect()
        }),
        ("result", names(&["White won", "drawn", "Black won"]), |c| c.results.to_vec()),
        ("for the mover", names(&STANDINGS), |c| c.standings.to_vec()),
        ("best score, centipawns", scores, |c| c.scores.to_vec()),
    ];
    let mut drawn = Vec::new();
    for (title, groups, of) in charts {
        let series: Vec<Series> =
            files.iter().map(|(name, counts)| Series::of(name, shares(&of(counts)))).collect();
        // What no file says is not drawn.
        if series.iter().any(|series| series.points.iter().any(|&(_, share)| share > 0.0)) {
            drawn.push(bars(title, "share", &groups, &series)?);
        }
    }
    sheet::of(&drawn)
}

fn shares(counts: &[u64]) -> Vec<f64> {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    counts.iter().map(|&count| count as f64 / all).collect()
}
