//! Equal positions to one record: the moves played become counts.
use anyhow::Result;

use super::{
    Observation, Outcomes, PackedPosition, Played, PlayedOften, Record, Side, file::Writer,
};

/// One side's share of a position: its record in the making.
#[derive(Debug)]
struct Sum {
    packed: PackedPosition,
    game_hash: u64,
    outcomes: Outcomes,
    /// By move, in the moves' order.
    counts: Vec<PlayedOften>,
}

impl Sum {
    fn add(&mut self, played: Played, count: u32) {
        match self.counts.binary_search_by_key(&played, |often| often.played) {
            Ok(i) => self.counts[i].count = self.counts[i].count.saturating_add(count),
            Err(i) => self.counts.insert(i, PlayedOften { played, reserved: 0, count }),
        }
    }
}

/// What became of the observations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merged {
    /// Records written.
    pub records: u64,
    /// Those of them on the held-out side.
    pub held_out: u64,
    /// Moves of games that they stand for.
    pub moves: u64,
    /// Games.
    pub games: u64,
    /// Games left out because an equal one is there.
    pub repeated: u64,
}

/// Takes observations or records in the order of their keys and writes records.
#[derive(Debug)]
pub struct Merger<'w, W: std::io::Write + std::io::Seek> {
    writer: &'w mut Writer<W>,
    key: Option<u128>,
    /// For training, and held out.
    sums: [Option<Sum>; 2],
    last: Option<Observation>,
    merged: Merged,
}

impl<'w, W: std::io::Write + std::io::Seek> Merger<'w, W> {
    /// Writes to `writer`.
    pub fn new(writer: &'w mut Writer<W>) -> Merger<'w, W> {
        Merger { writer, key: None, sums: [None, None], last: None, merged: Merged::default() }
    }

    /// Takes the next observation, in [`Observation::order`].
    ///
    /// # Errors
    /// The system's.
    pub fn observation(&mut self, seen: Observation) -> Result<()> {
        if self.last.is_some_and(|last| last.repeats(&seen)) {
            self.merged.repeated += u64::from(seen.is_first());
            return Ok(());
        }
        self.last = Some(seen);
        self.merged.games += u64::from(seen.is_first());
        let sum = self.sum(seen.key(), seen.side(), seen.packed(), seen.game_hash())?;
        sum.add(seen.played(), 1);
        sum.outcomes.add(seen.outcomes());
        Ok(())
    }

    /// Takes the record of a position with this key, and the moves played in it.
    ///
    /// # Errors
    /// The system's.
    pub fn record(&mut self, key: u128, record: &Record, choices: &[PlayedOften]) -> Result<()> {
        let sum = self.sum(key, record.side(), record.packed, record.game_hash)?;
        sum.outcomes.add(record.outcomes);
        if choices.is_empty() {
            let games = u32::try_from(record.outcomes.games()).unwrap_or(u32::MAX);
            sum.add(record.played, games);
        }
        choices.iter().for_each(|often| sum.add(often.played, often.count));
        Ok(())
    }

    /// The sum that a position's moves go to, of the position with `key`.
    fn sum(
        &mut self,
        key: u128,
        side: Side,
        packed: PackedPosition,
        game_hash: u64,
    ) -> Result<&mut Sum> {
        if self.key != Some(key) {
            self.flush()?;
            self.key = Some(key);
        }
        let outcomes = Outcomes::default();
        Ok(self.sums[usize::from(side == Side::HeldOut)].get_or_insert_with(|| Sum {
            packed,
            game_hash,
            outcomes,
            counts: vec![],
        }))
    }

    /// Writes the position that is complete.
    fn flush(&mut self) -> Result<()> {
        for (sum, side) in self.sums.iter_mut().zip([Side::Training, Side::HeldOut]) {
            let Some(Sum { packed, game_hash, outcomes, counts }) = sum.take() else { continue };
            // The first of those played most often, in the moves' order.
            let most = counts.iter().map(|often| often.count).max().unwrap_or(0);
            let Some(often) = counts.iter().find(|often| often.count == most) else { continue };
            let record = Record::of(packed, often.played, game_hash).on(side);
            self.merged.records += 1;
            self.merged.held_out += u64::from(side == Side::HeldOut);
            self.merged.moves += outcomes.games();
            self.writer.record(Record { outcomes, ..record }, &counts)?;
        }
        Ok(())
    }

    /// Writes the last position.
    ///
    /// # Errors
    /// The system's.
    pub fn finish(mut self) -> Result<Merged> {
        self.flush()?;
        Ok(self.merged)
    }
}
