//! The positions of each kind of file, one after the other.
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Result;
use kibitzer_core::shakmaty::{Chess, Color, Move, Position as _};

use crate::{
    epd,
    error::UserError,
    kinds::{self, Kind},
    labels::{UNKNOWN, comments, evaluations},
    library::{self, Entry},
    pgn::{self, Filter, Games},
    records::{self, Outcomes, RecordFile, Side},
};

/// A position with what its file says of it.
#[derive(Debug)]
pub struct Item {
    /// The position.
    pub position: Chess,
    /// Moves of the game before it, where that is known.
    pub ply: Option<u64>,
    /// The opening, where it is named.
    pub opening: Option<String>,
    /// How its games ended, from the mover's side.
    pub outcomes: Option<Outcomes>,
    /// How often each of the moves was played.
    pub played: Vec<u32>,
    /// Scores in the order of the legal moves, [`UNKNOWN`] where there is none; empty where the
    /// position has no labels.
    pub scores: Vec<i16>,
    /// Depth of all scores and of the best ones, in plies.
    pub depths: Option<(u32, u32)>,
    /// Whether it is held out, where the file says.
    pub held_out: Option<bool>,
}

impl Item {
    fn new(position: Chess) -> Item {
        Item {
            position,
            ply: None,
            opening: None,
            outcomes: None,
            played: vec![],
            scores: vec![],
            depths: None,
            held_out: None,
        }
    }

    fn labelled(position: Chess, scores: &[(Move, i32)], depths: (u32, u32)) -> Item {
        let of = |mv: Move| {
            let found = scores.iter().find(|(labelled, _)| *labelled == mv);
            found.map_or(UNKNOWN, |&(_, score)| score as i16)
        };
        let scores = position.legal_moves().into_iter().map(of).collect();
        Item { scores, depths: Some(depths), ..Item::new(position) }
    }
}

/// Hands every position of the file at `path` to `take`; returns the kind of file, and how many
/// games it says there are.
///
/// # Errors
/// [`UserError`] if the file cannot be read or is damaged.
pub fn each(path: &Path, mut take: impl FnMut(Item)) -> Result<(Kind, Option<u64>)> {
    let path = &*pgn::spool(path)?;
    let kind = kinds::of(path)?;
    let games = match kind {
        Kind::Records => Some(of_records(path, &mut take)?),
        Kind::Games => Some(of_games(path, &mut take)?),
        Kind::Library => of_library(path, &mut take).map(|()| None)?,
        Kind::Evaluations => {
            let take = |partial: evaluations::Partial, _| {
                let depths = (partial.depth, partial.depth);
                take(Item::labelled(partial.position, &partial.scores, depths));
                Ok(())
            };
            evaluations::read(path, take)?.report();
            None
        }
        Kind::Positions => {
            let take = |_, epd: epd::Epd| {
                let opening = Some(epd.id).filter(|id| !id.is_empty());
                take(Item { opening, ..Item::new(epd.position) });
                Ok(())
            };
            epd::read(path, take)?.report();
            None
        }
    };
    Ok((kind, games))
}

fn of_records(path: &Path, take: &mut impl FnMut(Item)) -> Result<u64> {
    let file = RecordFile::open(path)?;
    for record in file.iter() {
        let position = record.position().map_err(|error| records::blame(error.into(), path))?;
        let played = file.played(record).iter().map(|often| often.count).collect();
        take(Item {
            ply: Some(record.packed.ply.into()),
            outcomes: Some(record.outcomes),
            played,
            held_out: Some(record.side() == Side::HeldOut),
            ..Item::new(position)
        });
    }
    Ok(file.games())
}

/// Positions of games; with evaluations in the comments, those have scores.
fn of_games(path: &Path, take: &mut impl FnMut(Item)) -> Result<u64> {
    let evidence = comments::view_of(path)?;
    let view = evidence.view();
    if evidence.comments > 0 {
        match view {
            Some(_) => tracing::info!("{evidence}"),
            None => tracing::warn!("{evidence}; they are not counted"),
        }
    }
    let mut games = Games::new(&Filter::default(), evidence.comments > 0);
    games.read(path, pgn::open(path)?, |game| {
        for step in game.steps {
            let position = step.packed.unpack()?;
            let said =
                view.and_then(|view| comments::evaluation(&step.comment, view, position.turn()));
            let mut item = match said {
                Some((score, depth)) => {
                    let legal = position.legal_moves();
                    let mv = legal[step.played.among(&legal)?];
                    Item::labelled(position, &[(mv, score)], (depth, depth))
                }
                None => Item::new(position),
            };
            let result = |winner: Color| if winner == item.position.turn() { 1 } else { -1 };
            item.outcomes = Some(Outcomes::one(game.winner.map_or(0, result)));
            item.ply = Some(step.packed.ply.into());
            item.opening = Some(game.tags.opening.clone()).filter(|name| !name.is_empty());
            take(item);
        }
        Ok(())
    })?;
    let summary = games.summary();
    if summary.games == 0 {
        return Err(pgn::no_games(path, summary).into());
    }
    if summary.skipped > 0 {
        summary.report();
    }
    Ok(summary.games)
}

fn of_library(path: &Path, take: &mut impl FnMut(Item)) -> Result<()> {
    let mut found = false;
    for (number, line) in (1..).zip(BufReader::new(pgn::open(path)?).lines()) {
        let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let labelled = library::parse(&line, path, number)?;
        // It is whole, as has just been seen.
        let entry: Entry = serde_json::from_str(&line)?;
        let scores: Vec<(Move, i32)> = labelled.moves.iter().map(|m| (m.mv, m.score)).collect();
        let depths = (entry.all_depth, entry.top_depth);
        let item = Item::labelled(labelled.position, &scores, depths);
        take(Item { ply: Some(entry.ply), opening: Some(entry.opening), ..item });
        found = true;
    }
    if found { Ok(()) } else { Err(library::empty(path).into()) }
}
