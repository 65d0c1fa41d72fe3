//! Games to a file of records: see [`pack`]; several such files to one: see [`join`].
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io::{Seek, Write},
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::{
    Merged, Observation, RecordFile, Seen, Split, file::Writer, merge::Merger, sort::Sorter,
};
use crate::{
    error::UserError,
    files::folder_of,
    pgn::{self, Filter, Summary, Unwanted},
    positions, progress,
    shard::Shard,
};

/// Observations kept in memory while they are sorted: 256 MiB.
const IN_MEMORY: usize = 1 << 22;

/// What is packed, and how.
#[derive(Debug, Clone)]
pub struct Packing {
    /// Which games and positions.
    pub filter: Filter,
    /// Which games are held out.
    pub split: Split,
    /// Which part of the positions.
    pub shard: Shard,
    /// Observations that memory may hold, at least 1.
    pub in_memory: usize,
}

impl Packing {
    /// All of the games, or a part, within the usual memory.
    pub fn new(filter: Filter, split: Split, shard: Shard) -> Packing {
        Packing { filter, split, shard, in_memory: IN_MEMORY }
    }
}

/// Packs `games` into the file that `output` is going to be at `path`.
///
/// Every position of every game goes through an external sort by its key, a hash; equal ones
/// become one record on each side of the split, with counts of the moves played. So the records
/// come shuffled, in an order that depends on the positions alone: not on that of the games, nor
/// on how much memory there was. Equal games count once. A shard keeps the positions whose keys
/// lie in its part of all keys: the records of all shards, one after the other, are those of the
/// whole.
///
/// # Errors
/// [`UserError`] for a file that cannot be read, or without a game that is asked for.
pub fn pack<W: Write + Seek>(
    games: &[PathBuf],
    packing: &Packing,
    path: &Path,
    output: W,
) -> Result<(Summary, Merged)> {
    let folder = folder_of(path);
    let mut sorter = Sorter::new(folder, packing.in_memory, Observation::order);
    let (mut undated, mut undated_positions) = (0, 0);
    let mut summary = pgn::read_all(games, &packing.filter, |game| {
        let Some(held_out) = packing.split.holds_out(game.hash, game.tags) else {
            undated += 1;
            undated_positions += game.steps.len() as u64;
            return Ok(());
        };
        let winner = game.winner.map_or(0, |winner| if winner.is_white() { 1 } else { -1 });
        for (i, step) in game.steps.iter().enumerate() {
            if packing.shard.holds((step.key >> 64) as u64) {
                let (key, packed, played) = (step.key, step.packed, step.played);
                let first = i == 0;
                let game_hash = game.hash;
                sorter.push(
                    Seen { key, packed, game_hash, played, winner, held_out, first }.into(),
                )?;
            }
        }
        Ok(())
    })?;
    if undated > 0 {
        *summary.unwanted.entry(Unwanted::Date).or_default() += undated;
        summary.games -= undated;
        summary.positions -= undated_positions;
        if summary.games == 0 {
            return Err(pgn::no_games(&games[0], &summary).into());
        }
    }
    let mut writer = Writer::new(output, folder, packing.split)?;
    let mut merger = Merger::new(&mut writer);
    let spinner = progress::spinner("moves merged");
    for seen in sorter.finish()? {
        merger.observation(seen?)?;
        spinner.inc(1);
    }
    spinner.finish_and_clear();
    let merged = merger.finish()?;
    if merged.records == 0 {
        let what = format!("no position is in shard {}", packing.shard);
        return Err(UserError::new(what, games[0].display(), "make fewer shards").into());
    }
    summary.duplicates = merged.repeated;
    writer.finish(merged.games)?;
    Ok((summary, merged))
}

/// Merges files of records into the one that `output` is going to be at `path`: those of shards
/// become the whole. A game that is in several of them counts as often.
///
/// # Errors
/// [`UserError`] for a file that is damaged, or split otherwise than the first.
pub fn join<W: Write + Seek>(paths: &[PathBuf], path: &Path, output: W) -> Result<Merged> {
    let files = paths.iter().map(|path| RecordFile::open(path)).collect::<Result<Vec<_>>>()?;
    let split = files[0].split();
    // By date, the share is what came of it: each file has its own.
    let same = |file: &RecordFile| file.split() == split;
    if let Some(other) = files.iter().position(|file| !same(file)) {
        let what = format!("another split than {} has", paths[0].display());
        let mend = "pack both with the same --held-out or --held-out-from";
        return Err(UserError::new(what, paths[other].display(), mend).into());
    }
    let key = |number: usize, i: usize| -> Result<u128> {
        let position = files[number][i].position();
        Ok(positions::key(&position.map_err(|error| super::blame(error.into(), &paths[number]))?))
    };
    let mut writer = Writer::new(output, folder_of(path), split)?;
    let mut merger = Merger::new(&mut writer);
    let mut next = BinaryHeap::new();
    for number in 0..files.len() {
        next.push(Reverse((key(number, 0)?, number, 0)));
    }
    while let Some(Reverse((of, number, i))) = next.pop() {
        let record = &files[number][i];
        merger.record(of, record, files[number].played(record))?;
        if i + 1 < files[number].len() {
            next.push(Reverse((key(number, i + 1)?, number, i + 1)));
        }
    }
    let merged = Merged { games: files.iter().map(RecordFile::games).sum(), ..merger.finish()? };
    writer.finish(merged.games)?;
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, HashSet},
        fs,
        io::Cursor,
    };

    use super::*;
    use crate::{
        network::uci,
        records::{Record, RecordFile, Side},
    };

    /// Games in which the same positions come again, by other moves too; one game comes twice.
    const GAMES: &str = "\
        1. e4 e5 2. Nf3 Nc6 1-0\n\n1. e4 e5 2. Nc3 Nc6 0-1\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
        1. Nf3 e5 2. e4 Nc6 1/2-1/2\n\n1. e4 c5 1-0\n\n1. d4 d5 1-0\n\n";

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/selfplay.pgn.zst")
    }

    fn packing(share: f64) -> Packing {
        Packing::new(Filter::default(), Split::Share(share), Shard::default())
    }

    /// The bytes of the file that `games` become.
    fn packed(folder: &Path, games: &[PathBuf], packing: &Packing) -> (Vec<u8>, Merged) {
        let mut output = Cursor::new(vec![]);
        let (_, merged) = pack(games, packing, &folder.join("records"), &mut output).unwrap();
        (output.into_inner(), merged)
    }

    fn open(folder: &Path, name: &str, bytes: &[u8]) -> (PathBuf, RecordFile) {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        let file = RecordFile::open(&path).unwrap();
        (path, file)
    }

    #[test]
    fn equal_positions_become_one_soft_target_and_equal_games_one() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games.pgn");
        fs::write(&games, GAMES).unwrap();
        let (bytes, merged) = packed(folder.path(), &[games], &packing(0.0));
        // The start; e4; e4 e5; e4 e5 Nf3 (twice, by other moves); e4 e5 Nc3; Nf3; Nf3 e5; d4.
        assert_eq!((merged.records, merged.moves), (8, 16));
        assert_eq!((merged.games, merged.repeated, merged.held_out), (5, 1, 0));
        let (_, file) = open(folder.path(), "records", &bytes);
        let start = file.iter().find(|record| record.packed.ply == 0).unwrap();
        let position = start.position().unwrap();
        let legal = kibitzer_core::shakmaty::Position::legal_moves(&position);
        let name = |often: &crate::records::PlayedOften| {
            (uci(legal[often.played.among(&legal).unwrap()]), often.count)
        };
        let counts: BTreeMap<String, u32> = file.played(start).iter().map(name).collect();
        let expected = [("d2d4", 1), ("e2e4", 3), ("g1f3", 1)];
        assert_eq!(counts, expected.map(|(mv, count)| (mv.to_owned(), count)).into());
        assert_eq!(uci(legal[start.played.among(&legal).unwrap()]), "e2e4");
        let outcomes = start.outcomes;
        assert_eq!((outcomes.won, outcomes.drawn, outcomes.lost), (3, 1, 1));
    }

    #[test]
    fn neither_memory_nor_the_files_order_nor_shards_change_what_comes_out() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games.pgn");
        fs::write(&games, GAMES).unwrap();
        let files = [games, fixture()];
        let (whole, merged) = packed(folder.path(), &files, &packing(0.1));
        assert!(merged.held_out > 1000 && merged.records > 30_000, "{merged:?}");
        let small = Packing { in_memory: 500, ..packing(0.1) };
        let turned = [files[1].clone(), files[0].clone()];
        assert!(packed(folder.path(), &turned, &small).0 == whole);
        let (_, whole_file) = open(folder.path(), "whole", &whole);
        let mut paths = Vec::new();
        let mut joined: Vec<Record> = Vec::new();
        for shard in ["1/3", "2/3", "3/3"] {
            let packing = Packing { shard: shard.parse().unwrap(), ..packing(0.1) };
            let (bytes, part) = packed(folder.path(), &files, &packing);
            assert!(part.records * 4 > merged.records, "the shards are alike in size");
            let name = format!("shard-{}", paths.len());
            let (path, file) = open(folder.path(), &name, &bytes);
            paths.push(path);
            joined.extend_from_slice(&file);
        }
        let content = |record: &Record| (record.packed, record.outcomes, record.played);
        assert!(joined.iter().map(content).eq(whole_file.iter().map(content)));
        paths.reverse();
        let mut output = Cursor::new(vec![]);
        let again = join(&paths, &folder.path().join("joined"), &mut output).unwrap();
        assert!(output.into_inner() == whole, "joined shards are the whole, byte for byte");
        assert_eq!((again.records, again.games), (merged.records, merged.games));
    }

    #[test]
    fn no_game_is_on_both_sides() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, merged) = packed(folder.path(), &[fixture()], &packing(0.2));
        let (_, file) = open(folder.path(), "records", &bytes);
        let of = |side: Side| -> HashSet<u64> {
            let of_side = file.iter().filter(|record| record.side() == side);
            of_side.map(|record| record.game_hash).collect()
        };
        let (training, held_out) = (of(Side::Training), of(Side::HeldOut));
        assert!(training.is_disjoint(&held_out));
        assert!(held_out.iter().all(|&hash| crate::records::is_held_out(hash, 0.2)));
        // All positions of each game are there: equal ones once on each side, all counted.
        assert_eq!(file.iter().map(|record| record.outcomes.games()).sum::<u64>(), merged.moves);
        assert_eq!(file.held_out_share(), 0.2);
    }

    #[test]
    fn by_date_vague_games_are_left_out_and_equal_ones_stay_on_one_side() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games.pgn");
        let game = |date: &str, moves: &str| format!("[Date \"{date}\"]\n\n{moves} 1-0\n\n");
        let text = game("2018.05.06", "1. e4 e5")
            + &game("2017.??.??", "1. d4 d5")
            + &game("????.??.??", "1. c4 c5")
            // The first again, as if played before.
            + &game("2016.01.01", "1. e4 e5");
        fs::write(&games, text).unwrap();
        let split = Split::From("2018".parse().unwrap());
        let packing = Packing { split, ..packing(0.0) };
        let mut output = Cursor::new(vec![]);
        let path = folder.path().join("records");
        let (summary, merged) = pack(&[games], &packing, &path, &mut output).unwrap();
        assert_eq!(summary.unwanted, [(Unwanted::Date, 1)].into());
        assert_eq!((summary.games, summary.positions), (3, 6));
        assert_eq!((merged.games, merged.repeated, merged.held_out), (2, 1, 0));
        let (_, file) = open(folder.path(), "records", &output.into_inner());
        assert_eq!(file.split(), split);
    }
}
