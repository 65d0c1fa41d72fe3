//! Games in PGN to records: [`open`] finds the text, [`read_games`] the positions.
mod game;
mod source;

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use anyhow::Result;
use game::{Fault, GameVisitor};
use pgn_reader::Reader;
pub use source::open;

use crate::{error::UserError, progress, records::Record};

/// Reasons kept for [`Summary::reasons`].
const REASONS: usize = 3;

/// What became of the games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games read.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Games left out because one with the same moves came before.
    pub duplicates: u64,
    /// Games left out because they are broken or without a result.
    pub skipped: u64,
    /// Why, for the first three: file, game (from 1), reason.
    pub reasons: Vec<String>,
}

impl Summary {
    /// Says on standard error what was read and what was not.
    pub fn report(&self) {
        let Summary { games, positions, duplicates, skipped, .. } = self;
        tracing::info!(
            "{positions} positions of {games} games; {duplicates} repeated games left out, \
             {skipped} skipped"
        );
        for reason in &self.reasons {
            tracing::warn!("skipped {reason}");
        }
    }
}

/// Reads games, each once.
#[derive(Debug, Default)]
pub struct Games {
    visitor: GameVisitor,
    seen: HashSet<u64>,
    summary: Summary,
}

impl Games {
    /// Calls `take` with the records of every whole game of the PGN text `input`, named `name` in
    /// errors. A broken game is skipped whole, with its reason in the summary.
    ///
    /// # Errors
    /// [`UserError`] if the text breaks off (a damaged archive); whatever `take` fails with.
    pub fn read(
        &mut self,
        name: &Path,
        input: impl io::Read,
        mut take: impl FnMut(&[Record]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = Reader::build(input).set_supported_comment_length(1 << 14).finish();
        for number in 1.. {
            let fault = match reader.read_game(&mut self.visitor) {
                Ok(None) => break,
                Ok(Some(Ok(()))) => {
                    if let Some(game) = self.accept() {
                        take(game)?;
                    }
                    continue;
                }
                Ok(Some(Err(fault))) => fault,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => Fault::Syntax(error),
                Err(error) => return Err(breaks_off(name, number, &error).into()),
            };
            self.summary.skipped += 1;
            if self.summary.reasons.len() < REASONS {
                let reason = format!("{} game {number}: {fault}", name.display());
                self.summary.reasons.push(reason);
            }
        }
        Ok(())
    }

    /// The finished game's records, unless its moves were seen before.
    fn accept(&mut self) -> Option<&[Record]> {
        let number = u32::try_from(self.summary.games).unwrap_or(u32::MAX);
        let game = self.visitor.finish(number);
        if !self.seen.insert(game[0].game_hash) {
            self.summary.duplicates += 1;
            return None;
        }
        self.summary.games += 1;
        self.summary.positions += game.len() as u64;
        Some(game)
    }

    /// What has been read so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

fn breaks_off(name: &Path, game: u64, error: &io::Error) -> UserError {
    UserError::new(
        format_args!("the text breaks off in game {game} ({error})"),
        name.display(),
        "the file is damaged or cut short; get it again",
    )
}

/// Hands every whole game of `paths` to `take`, with a spinner that counts positions.
///
/// # Errors
/// [`UserError`] if a file cannot be read, or if none holds a whole game; `take`'s own.
pub fn read_all(
    paths: &[PathBuf],
    mut take: impl FnMut(&[Record]) -> Result<()>,
) -> Result<Summary> {
    let spinner = progress::spinner("positions");
    let mut games = Games::default();
    for path in paths {
        let text = open(path)?;
        games.read(path, text, |game| {
            spinner.inc(game.len() as u64);
            take(game)
        })?;
    }
    spinner.finish_and_clear();
    let summary = games.summary().clone();
    if summary.games == 0 {
        return Err(no_games(&paths[0], &summary).into());
    }
    Ok(summary)
}

fn no_games(path: &Path, summary: &Summary) -> UserError {
    let what = match summary.reasons.first() {
        Some(reason) => format!("no whole game ({} skipped; {reason})", summary.skipped),
        None => "no games".into(),
    };
    UserError::new(what, path.display(), "give a PGN file with finished games")
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::{EnPassantMode, Position as _, fen::Fen};

    use super::*;

    fn read(text: &str) -> (Vec<Record>, Summary) {
        let mut games = Games::default();
        let mut records = Vec::new();
        games
            .read(&PathBuf::from("t.pgn"), text.as_bytes(), |game| {
                records.extend_from_slice(game);
                Ok(())
            })
            .unwrap();
        (records, games.summary().clone())
    }

    fn reason(text: &str) -> String {
        let (records, summary) = read(text);
        assert!(records.is_empty());
        assert_eq!((summary.games, summary.skipped), (0, 1), "{text}");
        summary.reasons[0].clone()
    }

    #[test]
    fn comments_variations_and_nags_are_passed_over() {
        let plain = read("1. e4 e5 2. Nf3 Nc6 1-0\n");
        let decorated = read(
            "\u{feff}[Event \"x\"]\r\n[Result \"1-0\"]\r\n\r\n{ first } 1. e4! $14 { +0.35/12 } \
             (1. d4 d5 (1... Nf6)) 1... e5 ; to the end 2. d4\r\n 2.Nf3?! Nc6 1-0\r\n\r\n",
        );
        assert_eq!(plain, decorated);
        let results: Vec<i8> = plain.0.iter().map(|r| r.result).collect();
        assert_eq!(results, [1, -1, 1, -1]);
    }

    #[test]
    fn a_game_starts_from_its_fen() {
        let fen = "4k3/P7/8/8/8/8/8/4K3 b - - 3 40";
        let text = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n40... Kd7 41. a8=N 0-1\n");
        let (records, _) = read(&text);
        let start = records[0].position().unwrap();
        assert_eq!(Fen::from_position(&start, EnPassantMode::Legal).to_string(), fen);
        let last = records[1].position().unwrap();
        let legal = last.legal_moves();
        let played = legal[records[1].played_among(&legal).unwrap()];
        assert_eq!(played.to_string(), "a7-a8=N");
        assert_eq!((records[0].result, records[1].result), (1, -1));
    }

    #[test]
    fn broken_games_are_skipped_whole_and_counted() {
        assert_eq!(
            reason("1. e4 e5 2. Ke4 1-0\n"),
            "t.pgn game 1: Ke4 after 2 half-moves is not legal"
        );
        let no_result = "t.pgn game 1: it ends without 1-0, 0-1 or 1/2-1/2";
        assert_eq!(reason("[Result \"1-0\"]\n\n1. e4 e5 2. N"), no_result);
        assert_eq!(reason("1. e4 e5 *\n"), no_result);
        assert_eq!(reason("1. e4 e5 {cut"), "t.pgn game 1: unterminated comment");
        assert_eq!(reason("[Event \"x\"]\n\n1-0\n"), "t.pgn game 1: it has no moves");
        assert_eq!(
            reason("[Variant \"Atomic\"]\n\n1. e4 1-0\n"),
            "t.pgn game 1: the variant Atomic is not read"
        );
        assert_eq!(
            reason("[FEN \"8/8/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. Ke2 1-0\n"),
            "t.pgn game 1: its FEN tag: Black has no king; add one k to the board"
        );
    }

    #[test]
    fn good_games_beside_broken_ones_are_read_once_each() {
        let text = "1. e4 e5 1-0\n\n1. e5 1-0\n\n1. d4 1/2-1/2\n\n1. e4 e5 0-1\n\n1. c4 *\n\n\
                    1. a9 x 1-0\n\n1. Nf3 d5 2. b";
        let (records, summary) = read(text);
        assert_eq!(records.len(), 3);
        assert_eq!((summary.games, summary.duplicates, summary.skipped), (2, 1, 4));
        assert_eq!(summary.reasons.len(), 3);
        assert!(summary.reasons[0].starts_with("t.pgn game 2: e5 after 0"));
        assert_eq!(records[2].game, 1);
    }

    #[test]
    fn a_damaged_archive_is_an_error() {
        let packed = zstd::encode_all(&b"1. e4 e5 1-0\n\n1. d4 d5 1-0\n"[..], 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.pgn.zst");
        std::fs::write(&path, &packed[..packed.len() - 4]).unwrap();
        let error = Games::default().read(&path, open(&path).unwrap(), |_| Ok(())).unwrap_err();
        assert!(error.is::<UserError>(), "{error}");
        std::fs::write(&path, &packed).unwrap();
        let mut games = Games::default();
        games.read(&path, open(&path).unwrap(), |_| Ok(())).unwrap();
        assert_eq!(games.summary().games, 2);
    }
}
