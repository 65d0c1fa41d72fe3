//! Evaluations that engines leave in the comments of their games: `+0.35/18 1.2s`, as cutechess
//! writes them, or `d=25, …, wv=0.35, …`, as TCEC does. Each is of the move before it.
use std::path::Path;

use anyhow::Result;
use kibitzer_core::shakmaty::{Color, Position as _};

use super::evaluations::Partial;
use crate::{
    error::UserError,
    library::{MATE, Score},
    pgn::{self, Filter, Game, Games, Summary},
};

/// From whose side a file's scores are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// White's.
    White,
    /// That of the side that has moved.
    Mover,
}

/// An evaluation in a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Said {
    centipawns: i32,
    /// Depth in plies; 0 if it is not told.
    depth: u32,
    /// Whether the comment says that it is seen from White's side.
    white: bool,
}

/// Scores in successive comments that are at least so far from even tell whose view they are.
const CLEAR: i32 = 100;
/// Share of such pairs that must agree.
const AGREED: f64 = 0.8;

/// Hands every position of the games at `path` whose move has an evaluation to `take`, with the
/// hash of its game.
///
/// Whether scores without a name are White's or the mover's view shows in the games: from one
/// move to the next White's stay on their side, the mover's change it.
///
/// # Errors
/// [`UserError`] if the file cannot be read, has no evaluations, or its view is not clear.
pub fn read(path: &Path, mut take: impl FnMut(Partial, u64) -> Result<()>) -> Result<Summary> {
    let view = view_of(path)?.ok_or_else(|| {
        let mend = "give games of engines with comments as in {+0.35/18 1.2s} or {wv=0.35}";
        UserError::new("no evaluations in the games", path.display(), mend)
    })?;
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

/// From whose side the scores in the games at `path` are seen; `None` if there are none.
///
/// # Errors
/// [`UserError`] if the file cannot be read, or the view is not clear.
pub fn view_of(path: &Path) -> Result<Option<View>> {
    let mut pairs = [0u64; 2];
    let mut found = false;
    games(path, |game| {
        let said: Vec<Option<Said>> = game.steps.iter().map(|s| parse(&s.comment)).collect();
        found |= said.iter().any(Option::is_some);
        for pair in said.windows(2) {
            if let [Some(a), Some(b)] = pair
                && !a.white
                && !b.white
                && a.centipawns.abs().min(b.centipawns.abs()) >= CLEAR
            {
                pairs[usize::from((a.centipawns > 0) != (b.centipawns > 0))] += 1;
            }
        }
        Ok(())
    })?;
    let view = view(pairs).ok_or_else(|| {
        let what = "evaluations now from White's side, now from the mover's";
        UserError::new(what, path.display(), "give games of one kind at a time")
    })?;
    Ok(found.then_some(view))
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

/// The view by which the pairs of equal and of unequal signs agree; without any it is taken for
/// the mover's, as cutechess has it.
fn view([same, other]: [u64; 2]) -> Option<View> {
    let share = same as f64 / (same + other).max(1) as f64;
    match share {
        _ if same + other == 0 => Some(View::Mover),
        _ if share >= AGREED => Some(View::White),
        _ if share <= 1.0 - AGREED => Some(View::Mover),
        _ => None,
    }
}

/// The evaluation of a comment, if it has one.
fn parse(comment: &str) -> Option<Said> {
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

    fn read_text(text: &str) -> Result<Vec<(String, i32)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.pgn");
        fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        read(&path, |partial, _| {
            let (mv, score) = partial.scores[0];
            found.push((uci(mv), score));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn the_view_shows_in_the_games() {
        let white = "1. e4 {+1.50/9} a6 {+1.40/9} 2. d4 {book} h6 {-0.20/9} 1-0\n";
        let expected = [("e2e4", 150), ("a7a6", -140), ("h7h6", 20)];
        let expected: Vec<(String, i32)> =
            expected.into_iter().map(|(mv, score)| (mv.to_owned(), score)).collect();
        assert_eq!(read_text(white).unwrap(), expected);
        let mover = "1. e4 {+1.50/9 1s} a6 {-1.40/9 2s} 2. d4 {book} h6 {+0.20/9 1s} 1-0\n";
        assert_eq!(read_text(mover).unwrap(), expected);
        let tcec = "1. e4 {d=9, wv=1.50} a6 {d=9, wv=1.40} 2. d4 h6 {d=9, wv=-0.20} 1-0\n";
        assert_eq!(read_text(tcec).unwrap(), expected);
        let mixed = format!("{white}\n{}", mover.replace("e4", "c4"));
        let line = read_text(&mixed).unwrap_err().to_string();
        assert!(
            line.starts_with("evaluations now from White's side, now from the mover's"),
            "{line}"
        );
        let none = read_text("1. e4 e5 1-0\n").unwrap_err().to_string();
        assert!(none.starts_with("no evaluations in the games, "), "{none}");
    }
}
