//! What is searched of one position: every legal move at one depth, the best ones deeper.
use std::time::{Duration, Instant};

use kibitzer_core::shakmaty::{Chess, EnPassantMode, Move, Position as _, fen::Fen};

use super::source::Root;
use crate::{
    engine::{Engine, Fault, Found, Search},
    library::{Entry, Score, Top},
    network::uci,
};

/// How deep positions are searched.
#[derive(Debug, Clone, Copy)]
pub struct Depths {
    /// Plies for every legal move.
    pub all: u32,
    /// Plies for the best moves.
    pub top: u32,
    /// How many best moves.
    pub best: usize,
    /// Time for a position at most, half of it for all moves; what depth is reached then is
    /// recorded.
    pub cap: Option<Duration>,
}

impl Depths {
    /// Labels position `number`.
    ///
    /// # Errors
    /// [`Fault`] if the engine fails.
    pub fn label(&self, number: u64, root: Root, engine: &mut Engine) -> Result<Entry, Fault> {
        let Root { opening, game, ply, last, position } = root;
        let start = Instant::now();
        engine.forget()?;
        let half = self.cap.map(|cap| start + cap / 2);
        let (all_depth, mut all) = self.every_move(&position, half, engine)?;
        let whole = self.cap.map(|cap| start + cap);
        let (top_depth, mut top) = self.best_moves(&position, whole, engine)?;
        all.sort_by(|a, b| a.0.cmp(&b.0));
        // Best first; of equal ones the engine's order.
        top.sort_by_key(|(_, score, _)| std::cmp::Reverse(score.centipawns()));
        Ok(Entry {
            number: Some(number),
            opening,
            game,
            ply,
            fen: Fen::from_position(&position, EnPassantMode::Legal).to_string(),
            last,
            all,
            all_depth,
            top,
            top_depth,
            engine: engine.name.clone(),
        })
    }

    /// Every legal move with its score, all at one depth. An engine that searches for fewer lines
    /// at once than there are moves is asked for some moves after the others.
    fn every_move(
        &self,
        position: &Chess,
        until: Option<Instant>,
        engine: &mut Engine,
    ) -> Result<(u32, Vec<(String, Score)>), Fault> {
        let legal = position.legal_moves();
        let some: Vec<&[Move]> = legal.chunks(engine.most_lines).collect();
        let mut depth = self.all;
        let mut found = Vec::new();
        for (i, &only) in some.iter().enumerate() {
            let until = until.map(|until| part_of(until, some.len() - i));
            let only = if some.len() == 1 { &[] } else { only };
            let lines = if only.is_empty() { legal.len() } else { only.len() };
            let search = Search { depth, lines, only, until };
            found.push(engine.search(position, &search)?);
        }
        depth = found.iter().map(|&(depth, _)| depth).min().unwrap_or(depth);
        for (part, &only) in found.iter_mut().zip(&some) {
            // Those that came deeper are searched to the common depth, which takes less.
            if part.0 > depth {
                let search = Search { depth, lines: only.len(), only, until: None };
                *part = engine.search(position, &search)?;
            }
        }
        let lines = found.into_iter().flat_map(|(_, lines)| lines);
        Ok((depth, lines.map(|line| (uci(line.mv), line.score)).collect()))
    }

    /// The best moves with scores and lines, at the least depth that one of them has.
    fn best_moves(
        &self,
        position: &Chess,
        until: Option<Instant>,
        engine: &mut Engine,
    ) -> Result<(u32, Vec<Top>), Fault> {
        let mut left: Vec<Move> = position.legal_moves().into_iter().collect();
        let best = self.best.min(left.len());
        let mut depth = self.top;
        let mut top = Vec::new();
        while top.len() < best {
            let only = if top.is_empty() { &[][..] } else { &left };
            let lines = (best - top.len()).min(engine.most_lines);
            let until = until.map(|until| part_of(until, (best - top.len()).div_ceil(lines)));
            let search = Search { depth, lines, only, until };
            let (reached, found) = engine.search(position, &search)?;
            depth = depth.min(reached);
            left.retain(|mv| found.iter().all(|line| line.mv != *mv));
            top.extend(found.into_iter().map(as_top));
        }
        Ok((depth, top))
    }
}

/// When the next of so many searches is to end, each having an equal share of the time left.
fn part_of(until: Instant, searches: usize) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now) / searches as u32
}

fn as_top(Found { mv, score, line }: Found) -> Top {
    (uci(mv), score, line.into_iter().map(uci).collect())
}
