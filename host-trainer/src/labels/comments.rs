//! Evaluations that engines leave in the comments of their games: `+0.35/18 1.2s`, as cutechess
//! writes them, or `d=25, …, wv=0.35, …`, as TCEC does. Each is of the move before it.
use std::path::Path;

use anyhow::Result;
use kibitzer_core::shakmaty::{Color, Position as _};

use super::evaluations::Partial;
pub use super::view::{Evidence, View};
use crate::{
    error::UserError,
    library::{MATE, Score},
    pgn::{self, Filter, Game, Games, Summary},
};

/// An evaluation in a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    pub centipawns: i32,
    /// Depth in plies; 0 if it is not told.
    pub depth: u32,
    /// Whether the comment says that it is seen from White's side.
    pub white: bool,
}

/// Hands every position of the games at `path` whose move has an evaluation to `take`, with the
/// hash of its game. The file is read twice.
///
/// # Errors
/// [`UserError`] if the file cannot be read, has no evaluations, or if neither `view` nor the
/// games tell from whose side they are seen.
pub fn read(
    path: &Path,
    view: Option<View>,
    mut take: impl FnMut(Partial, u64) -> Result<()>,
) -> Result<Summary> {
    let evidence = view_of(path)?;
    if evidence.comments == 0 {
        let mend = "give games of engines with comments as in {+0.35/18 1.2s} or {wv=0.35}";
        return Err(UserError::new("no evaluations in the games", path.display(), mend).into());
    }
    let view = match view {
        Some(view) => view,
        None => {
            let mend =
                "give games of one kind at a time, or say it with --view white or --view mover";
            let view = evidence.view();
            let view = view.ok_or_else(|| UserError::new(evidence, path.display(), mend))?;
            tracing::info!("{}: {evidence}", path.display());
            view
        }
    };
    games(path, |game| {
        for step in game.steps {
            let position = step.packed.unpack()?;
            let said = evaluation(&step.comment, view, position.turn());
            let Some((score, depth)) = said else { continue };
            let legal = position.legal_moves();
            let mv = legal[step.played.among(&legal)?];
            take(Partial { position, scores: vec![(mv, score)], depth }, game.hash)?;
        }
        Ok(())
    })
}

/// What the games at `path` show of whose view their evaluations are.
///
/// # Errors
/// [`UserError`] if the file cannot be read.
pub fn view_of(path: &Path) -> Result<Evidence> {
    let mut evidence = Evidence::default();
    games(path, |game| {
        evidence.game(game);
        Ok(())
    })?;
    Ok(evidence)
}

/// The score in centipawns that a comment gives the move before it, by `mover`, from the mover's
/// side, and its depth; `None` if it gives none.
pub fn evaluation(comment: &str, view: View, mover: Color) -> Option<(i32, u32)> {
    let said = parse(comment)?;
    let turned = (said.white || view == View::White) && mover.is_black();
    Some((if turned { -said.centipawns } else { said.centipawns }, said.depth))
}

fn games(path: &Path, take: impl FnMut(&Game) -> Result<()>) -> Result<Summary> {
    let mut games = Games::new(&Filter::default(), true);
    games.read(path, pgn::open(path)?, take)?;
    Ok(games.summary().clone())
}

/// The evaluation of a comment, if it has one.
pub(super) fn parse(comment: &str) -> Option<Said> {
    if let Some((_, rest)) = comment.split_once("wv=") {
        let end = rest.find([',', ' ', ';']).unwrap_or(rest.len());
        let depth = comment.split([',', ' ']).find_map(|word| word.strip_prefix("d="));
        let depth = depth.and_then(|depth| depth.parse().ok()).unwrap_or(0);
        return Some(Said { centipawns: score(&rest[..end])?, depth, white: true });
    }
    comment.split_whitespace().find_map(|word| {
        let (text, depth) = word.split_once('/')?;
        // A result looks alike, but has no decimals.
        text.find(['.', 'M', '#'])?;
        let depth = depth.trim_end_matches([',', ';']).parse().ok()?;
        Some(Said { centipawns: score(text)?, depth, white: false })
    })
}

/// Pawns, or a mate as in `M5`, `-M5`, `#5`, `#-5`, in centipawns.
fn score(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(moves) = rest.strip_prefix(['M', '#']) {
        let moves: i32 = moves.parse().ok()?;
        return Score::mate(sign * moves).centipawns();
    }
    let pawns: f64 = rest.parse().ok().filter(|pawns: &f64| pawns.is_finite())?;
    Some(sign * ((100.0 * pawns).round().clamp(-f64::from(MATE), f64::from(MATE)) as i32))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::network::uci;

    #[test]
    fn both_kinds_of_comments_are_read() {
        let said = |comment: &str| parse(comment).map(|s| (s.centipawns, s.depth, s.white));
        assert_eq!(said("+0.35/18 1.2s"), Some((35, 18, false)));
        assert_eq!(said("-M5/30 0.50s, White mates"), Some((-10_000, 30, false)));
        assert_eq!(said("#5/20"), Some((10_000, 20, false)));
        assert_eq!(said("#-5/20"), Some((-10_000, 20, false)));
        assert_eq!(said("d=25, sd=40, mt=180, wv=-1.07, R50=50"), Some((-107, 25, true)));
        assert_eq!(said("wv=M12;"), Some((10_000, 0, true)));
        for nothing in ["book", "", "a good move", "1/2", "x/18", "0.35", "wv=,"] {
            assert_eq!(said(nothing), None, "{nothing}");
        }
    }

    fn read_text(text: &str, view: Option<View>) -> Result<Vec<(String, i32)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.pgn");
        fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        read(&path, view, |partial, _| {
            let (mv, score) = partial.scores[0];
            found.push((uci(mv), score));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn the_view_shows_in_the_games_or_is_said() {
        let white =
            "1. e4 {+1.50/9} a6 {+1.40/9} 2. d4 {+1.60/9} h6 {+1.80/9} 3. a4 b6 {-0.20/9} 1-0\n";
        let expected = [("e2e4", 150), ("a7a6", -140), ("d2d4", 160), ("h7h6", -180), ("b7b6", 20)];
        let expected: Vec<(String, i32)> =
            expected.into_iter().map(|(mv, score)| (mv.to_owned(), score)).collect();
        assert_eq!(read_text(white, None).unwrap(), expected);
        let mover = "1. e4 {+1.50/9 1s} a6 {-1.40/9} 2. d4 {+1.60/9} h6 {-1.80/9} 3. a4 b6 {+0.20/9 1s} 1-0\n";
        assert_eq!(read_text(mover, None).unwrap(), expected);
        let tcec = "1. e4 {d=9, wv=1.50} a6 {d=9, wv=1.40} 2. d4 {wv=1.60} h6 {wv=1.80} \
                    3. a4 b6 {d=9, wv=-0.20} 1-0\n";
        assert_eq!(read_text(tcec, None).unwrap(), expected);
        let refused = |text: &str| read_text(text, None).unwrap_err().to_string();
        let mend =
            ": give games of one kind at a time, or say it with --view white or --view mover";
        let mixed = refused(&format!("{white}\n{}", mover.replace("e4", "c4")));
        assert!(mixed.starts_with("10 evaluations, of which 3 seem to be White's view"), "{mixed}");
        assert!(mixed.ends_with(mend), "{mixed}");
        let few = "1. e4 {+0.15/9} a6 {+0.15/9} 1/2-1/2\n";
        let unclear = refused(few);
        assert!(
            unclear.starts_with("2 evaluations, of which none shows whose view it is"),
            "{unclear}"
        );
        let said = |view| read_text(few, Some(view)).unwrap()[1].1;
        assert_eq!((said(View::White), said(View::Mover)), (-15, 15));
        assert!(refused("1. e4 e5 1-0\n").starts_with("no evaluations in the games, "));
    }
}
