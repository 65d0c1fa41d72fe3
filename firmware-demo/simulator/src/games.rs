//! Games from PGN files, plain or packed by zstd.
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result};
use kibitzer_core::shakmaty::{Chess, Move, Position as _};
use pgn_reader::{Reader, SanPlus, Skip, Visitor};

/// The moves of each game that begins at the first position, as far as they are legal.
///
/// # Errors
/// Those of the file.
pub fn read(path: &Path) -> Result<Vec<Vec<Move>>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let bytes: Box<dyn Read> = if path.extension().is_some_and(|ending| ending == "zst") {
        Box::new(zstd::Decoder::new(file)?)
    } else {
        Box::new(BufReader::new(file))
    };
    let mut reader = Reader::new(bytes);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Mainline)? {
        games.push(game);
    }
    Ok(games)
}

/// Takes the moves that were played and nothing else.
struct Mainline;

/// A game being read.
struct Played {
    position: Chess,
    moves: Vec<Move>,
}

impl Visitor for Mainline {
    type Tags = ();
    type Movetext = Played;
    type Output = Vec<Move>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output, Played> {
        ControlFlow::Continue(Played { position: Chess::default(), moves: Vec::new() })
    }

    fn begin_variation(&mut self, _: &mut Played) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn san(&mut self, game: &mut Played, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(&game.position) {
            Ok(mv) => {
                game.position.play_unchecked(mv);
                game.moves.push(mv);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(std::mem::take(&mut game.moves)),
        }
    }

    fn end_game(&mut self, game: Played) -> Vec<Move> {
        game.moves
    }
}
