//! Named openings: a table with tabs, its first line the columns' names.
use std::{fs, path::Path};

use anyhow::Result;
use kibitzer_core::shakmaty::{Chess, Move, Position as _, san::SanPlus};

use crate::error::UserError;

/// A named line from the first position.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Its name.
    pub name: String,
    /// Its moves.
    pub moves: Vec<Move>,
}

/// Reads the columns `name` and `moves` (or `pgn`): moves in SAN, with or without numbers.
///
/// # Errors
/// [`UserError`] naming the file, the line and the mend.
pub fn read(path: &Path) -> Result<Vec<Opening>> {
    let text = fs::read_to_string(path).map_err(|error| UserError::cannot_read(path, &error))?;
    let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let header: Vec<&str> = lines.next().map_or("", |(_, line)| line).split('\t').collect();
    let column = |names: &[&str]| header.iter().position(|column| names.contains(column));
    let (Some(name), Some(moves)) = (column(&["name"]), column(&["moves", "pgn"])) else {
        let mend = "head the columns name and moves, separated by tabs";
        return Err(UserError::new("no table of openings", path.display(), mend).into());
    };
    let mut openings = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let place = format!("{} line {number}", path.display());
        let (Some(name), Some(text)) = (fields.get(name), fields.get(moves)) else {
            let mend = "give each opening a name and moves, separated by a tab";
            return Err(UserError::new("a field is missing", place, mend).into());
        };
        let moves = play(text).map_err(|what| UserError::new(what, place, "correct the moves"))?;
        openings.push(Opening { name: (*name).to_owned(), moves });
    }
    if openings.is_empty() {
        let mend = "give at least one opening";
        return Err(UserError::new("no openings", path.display(), mend).into());
    }
    Ok(openings)
}

/// The moves of `text`, which must leave a game to play; or what is wrong with them.
fn play(text: &str) -> Result<Vec<Move>, String> {
    let mut position = Chess::default();
    let sans = text
        .split_whitespace()
        .map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let mut moves = Vec::new();
    for san in sans.filter(|san| !san.is_empty()) {
        let mv = san.parse::<SanPlus>().ok().and_then(|san| san.san.to_move(&position).ok());
        let mv = mv.ok_or_else(|| format!("the move {san} is not legal"))?;
        position.play_unchecked(mv);
        moves.push(mv);
    }
    if position.is_game_over() {
        return Err("the game is over after the moves".to_owned());
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Opening>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        read(file.path()).map_err(|error| {
            anyhow::anyhow!(error.to_string().replace(&file.path().display().to_string(), "T"))
        })
    }

    #[test]
    fn numbers_and_other_columns_do_not_matter() {
        let openings =
            read_text("eco\tname\tpgn\nC20\tKing's Pawn\t1. e4 e5\n\nA00\tX\t1.g4\n").unwrap();
        let found: Vec<_> = openings.iter().map(|o| (o.name.as_str(), o.moves.len())).collect();
        assert_eq!(found, [("King's Pawn", 2), ("X", 1)]);
        assert_eq!(read_text("\u{feff}name\tmoves\r\nX\tg4\r\n").unwrap().len(), 1);
    }

    #[test]
    fn a_broken_table_is_named_with_its_line() {
        let said = |text: &str| read_text(text).unwrap_err().to_string();
        assert!(said("a\tb\n").starts_with("no table of openings, T: "));
        assert!(said("").starts_with("no table of openings, T: "));
        assert!(said("name\tmoves\n").starts_with("no openings, T: "));
        assert!(
            said("name\tmoves\nx\te4 e4\n").starts_with("the move e4 is not legal, T line 2: ")
        );
        let mate = said("name\tmoves\nx\tg4\ny\tf3 e5 g4 Qh4#\n");
        assert!(mate.starts_with("the game is over after the moves, T line 3: "), "{mate}");
        assert!(said("name\tmoves\nx\n").starts_with("a field is missing, T line 2: "));
    }
}
