//! `kibitzer pack`: games to training records.
use std::path::PathBuf;

use anyhow::Result;

use crate::{
    error::UserError,
    files,
    pgn::{Date, Filter},
    records::{self, DEFAULT_SHARE, Merged, Packing, RecordFile, Split},
    shard::Shard,
};

/// Turn games (PGN, also .zst) into training records, or join files of records.
///
/// A position that several games reached becomes one record with counts of the moves played in
/// it. Games with the same moves count once. The records come shuffled, in an order that the
/// positions alone decide. Memory is bounded whatever the games' number; the output's folder must
/// have room for 64 bytes a position besides.
#[derive(Debug, clap::Args)]
pub struct Pack {
    /// Games in PGN, plain or compressed with zstd; `-` is standard input. Or files of records,
    /// as of shards: they are joined.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// The file of records to write.
    #[arg(short, long, value_name = "RECORDS")]
    output: PathBuf,
    #[command(flatten)]
    filter: Filter,
    /// Share of the games to hold out of training, by a hash of their moves [default: 0.05].
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// Hold out the games from this day on instead, as in 2018.06.
    #[arg(long, value_name = "DATE", conflicts_with = "held_out")]
    held_out_from: Option<Date>,
    /// Only part I of N: the records of all parts, one after the other, are those of the whole.
    #[arg(long, value_name = "I/N", default_value_t)]
    shard: Shard,
}

impl Pack {
    /// Packs the games.
    ///
    /// # Errors
    /// [`UserError`] for a file that cannot be read or written, or without a whole game.
    pub fn run(self) -> Result<()> {
        files::require_writable(&self.output)?;
        let split = self.split()?;
        let packed: Vec<bool> =
            self.games.iter().map(|path| RecordFile::recognises(path)).collect();
        if packed.contains(&true) {
            return self.join(&packed);
        }
        let packing = Packing::new(self.filter, split, self.shard);
        let (summary, merged) = files::atomic_write(&self.output, |file| {
            records::pack(&self.games, &packing, &self.output, file)
        })?;
        summary.report();
        tell(&merged);
        Ok(())
    }

    fn split(&self) -> Result<Split, UserError> {
        match self.held_out_from {
            Some(date) => Ok(Split::From(date)),
            None => Split::by_share(self.held_out.unwrap_or(DEFAULT_SHARE)),
        }
    }

    fn join(&self, packed: &[bool]) -> Result<()> {
        if let Some(i) = packed.iter().position(|packed| !packed) {
            let mend = "pack the games first, then join the records";
            let place = self.games[i].display();
            return Err(UserError::new("games among files of records", place, mend).into());
        }
        let free = self.filter == Filter::default()
            && self.shard == Shard::default()
            && self.held_out.is_none()
            && self.held_out_from.is_none();
        if !free {
            let what = "files of records are joined as they are";
            let mend = "give filter, split and shard where the games are packed";
            return Err(UserError::new(what, self.games[0].display(), mend).into());
        }
        tell(&files::atomic_write(&self.output, |file| {
            records::join(&self.games, &self.output, file)
        })?);
        Ok(())
    }
}

fn tell(merged: &Merged) {
    let Merged { records, held_out, moves, games, .. } = merged;
    tracing::info!(
        "{records} different positions stand for {moves} moves of {games} games; {held_out} held out"
    );
}
