//! Positions from files: FEN, EPD, PGN, libraries, records.
use std::{
    collections::{HashMap, HashSet},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use anyhow::Result;
use bytemuck::cast_slice;
use kibitzer_core::{
    fnv,
    position::parse_fen,
    shakmaty::{Chess, Position as _},
};

use super::source::Root;
use crate::{
    epd,
    error::UserError,
    kinds::{self, Kind},
    library::Entry,
    pgn::{self, Filter, Games},
    positions,
    records::{PackedPosition, Played, Records},
};

/// Positions with a legal move, each once, in rounds: in every round each opening comes once, for
/// as long as it has positions, in the order of the files. Which of an opening's positions is next
/// is decided by a hash. So wherever the work is stopped, the openings are balanced to one
/// position, and of each there are all phases.
#[derive(Debug, Default)]
pub struct Given {
    positions: Vec<PackedPosition>,
    places: Vec<Place>,
    openings: Vec<String>,
    /// Numbers of the openings, and that of the one being read.
    numbers: HashMap<String, u32>,
    opening: u32,
    seen: HashSet<u128>,
    games: u64,
}

/// Where a position comes from.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number of its opening among the names.
    opening: u32,
    game: u64,
    /// The move before it.
    last: Option<Played>,
    /// Its turn among its opening's.
    turn: u64,
}

impl Given {
    /// Reads `paths`; at most `limit` positions.
    ///
    /// # Errors
    /// [`UserError`] if a file cannot be read, or none holds a position.
    pub fn read(paths: &[PathBuf], limit: Option<u64>) -> Result<Given> {
        let mut given = Given::default();
        for path in paths {
            let path = &*pgn::spool(path)?;
            match kinds::of(path)? {
                Kind::Records => given.records(path)?,
                Kind::Library => given.library(path)?,
                Kind::Games => given.games(path)?,
                Kind::Positions => given.lines(path)?,
                Kind::Evaluations => {
                    let mend = "give FEN, EPD, PGN, a library or records";
                    let what = "evaluations, which are labels already";
                    return Err(UserError::new(what, path.display(), mend).into());
                }
            }
        }
        if given.positions.is_empty() {
            let mend = "give FEN, EPD, PGN, a library or records";
            let what = "no position with a legal move";
            return Err(UserError::new(what, paths[0].display(), mend).into());
        }
        given.seen = HashSet::new();
        given.numbers = HashMap::new();
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        given.put_in_rounds(limit);
        Ok(given)
    }

    /// Puts the first `limit` positions of the rounds in order, and drops the others.
    fn put_in_rounds(&mut self, limit: usize) {
        let places = &self.places;
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|&i| (places[i].opening, places[i].turn, i));
        let mut rounds = vec![0u32; self.openings.len()];
        let with_round = |i: usize| {
            let opening = places[i].opening;
            let round = &mut rounds[opening as usize];
            *round += 1;
            (*round, opening, i)
        };
        let mut order: Vec<(u32, u32, usize)> = order.into_iter().map(with_round).collect();
        order.sort_unstable();
        order.truncate(limit);
        self.positions = order.iter().map(|&(_, _, i)| self.positions[i]).collect();
        self.places = order.iter().map(|&(_, _, i)| self.places[i]).collect();
    }

    /// How many positions there are.
    pub fn count(&self) -> u64 {
        self.positions.len() as u64
    }

    /// A digest of the positions.
    pub fn digest(&self) -> u64 {
        let words = cast_slice::<PackedPosition, u64>(&self.positions).iter();
        words.fold(fnv::START, |hash, &word| fnv::step(hash, word))
    }

    pub(super) fn root(&self, number: u64) -> Option<Root> {
        let packed = self.positions.get(number as usize)?;
        let Place { opening, game, last, .. } = self.places[number as usize];
        Some(Root {
            opening: self.openings[opening as usize].clone(),
            game,
            ply: packed.ply.into(),
            last: last.map(|played| played.to_string()),
            // Packed by `add`.
            position: packed.unpack().ok()?,
        })
    }

    fn add(&mut self, position: &Chess, ply: u64, last: Option<Played>) {
        let key = positions::key(position);
        if !position.legal_moves().is_empty() && self.seen.insert(key) {
            self.positions.push(PackedPosition::new(position, usize::try_from(ply).unwrap_or(0)));
            let (opening, game, turn) = (self.opening, self.games, key as u64);
            self.places.push(Place { opening, game, last, turn });
        }
    }

    /// Names the opening of the positions that follow.
    fn opening(&mut self, name: &str) {
        self.opening = match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.openings.len() as u32;
                self.openings.push(name.to_owned());
                self.numbers.insert(name.to_owned(), number);
                number
            }
        };
    }

    fn records(&mut self, path: &Path) -> Result<()> {
        let records = Records::open(path)?;
        for record in records.iter() {
            let position = record.position();
            let position = position.map_err(|error| crate::records::blame(error.into(), path))?;
            self.opening(&format!("game {:016x}", record.game_hash));
            self.add(&position, record.packed.ply.into(), None);
            self.games += 1;
        }
        Ok(())
    }

    fn library(&mut self, path: &Path) -> Result<()> {
        for (number, line) in (1..).zip(BufReader::new(pgn::open(path)?).lines()) {
            let line = line.map_err(|error| UserError::cannot_read(path, &error))?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |what: String| {
                let place = format!("{} line {number}", path.display());
                UserError::new(what, place, "correct the line, or delete it")
            };
            let entry: Entry = serde_json::from_str(&line).map_err(|e| wrong(e.to_string()))?;
            let position = parse_fen(&entry.fen).map_err(|e| wrong(e.to_string()))?;
            self.opening(&entry.opening);
            self.games = entry.game;
            self.add(&position, entry.ply, entry.last.and_then(|last| last.parse().ok()));
        }
        Ok(())
    }

    fn games(&mut self, path: &Path) -> Result<()> {
        let mut games = Games::new(&Filter::default(), false);
        let stem = stem(path);
        games.read(path, pgn::open(path)?, |game| {
            self.games += 1;
            let own = format!("{stem} game {}", self.games);
            self.opening(if game.tags.opening.is_empty() { &own } else { &game.tags.opening });
            let mut last = None;
            for step in game.steps {
                self.add(&step.packed.unpack()?, step.packed.ply.into(), last);
                last = Some(step.played);
            }
            Ok(())
        })?;
        games.summary().report();
        Ok(())
    }

    fn lines(&mut self, path: &Path) -> Result<()> {
        let stem = stem(path);
        let skipped = epd::read(path, |_, epd| {
            self.games += 1;
            self.opening(if epd.id.is_empty() { &stem } else { &epd.id });
            let moves = u64::from(epd.position.fullmoves().get() - 1);
            let ply = 2 * moves + u64::from(epd.position.turn().is_black());
            self.add(&epd.position, ply, None);
            Ok(())
        })?;
        skipped.report();
        Ok(())
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::network::uci;

    #[test]
    fn every_kind_of_file_gives_each_position_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
        let files = [
            write("a.fen", &format!("{fen}\n7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\nrubbish\n")),
            write("b.pgn", "[ECO \"C20\"]\n[Opening \"King's Pawn\"]\n\n1. e4 e5 2. Nf3 1-0\n"),
            write(
                "c.jsonl",
                "{\"opening\": \"x\", \"game\": 3, \"ply\": 9, \"fen\": \"8/8/8/8/8/8/P6k/K7 w - - 0 1\",\
                 \"last\": \"h3h2\", \"all\": [], \"top\": []}\n",
            ),
        ];
        let given = Given::read(&files, None).unwrap();
        // The position after e4, the start, that after e4 e5, and that of the library: the one
        // that is mate has no label.
        assert_eq!(given.count(), 4);
        let root = |i| given.root(i).unwrap();
        assert_eq!((root(0).opening.as_str(), root(0).ply, root(0).last), ("a", 1, None));
        // One of each opening, then the rest: in which order a hash says.
        assert!([1, 3].map(root).iter().all(|root| root.opening == "C20 King's Pawn"));
        let lasts = [root(1).last, root(3).last];
        assert!(lasts.contains(&None) && lasts.contains(&Some("e7e5".into())), "{lasts:?}");
        let last = root(2);
        assert_eq!((last.opening.as_str(), last.game, last.ply), ("x", 3, 9));
        assert_eq!(last.last.as_deref(), Some("h3h2"));
        assert!(given.root(4).is_none());
        let some = Given::read(&files, Some(2)).unwrap();
        assert_eq!(some.count(), 2);
        assert_ne!(some.digest(), given.digest());
        let none = Given::read(&[write("d.pgn", "")], None).unwrap_err();
        assert!(none.to_string().starts_with("no position with a legal move, "), "{none}");
    }

    #[test]
    fn openings_are_balanced_wherever_the_work_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.pgn");
        let game =
            |opening: &str, moves: &str| format!("[Opening \"{opening}\"]\n\n{moves} 1-0\n\n");
        let text = game("A", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O")
            + &game("B", "1. d4 d5 2. c4 e6")
            + &game("A", "1. c3 c6 2. b3 b6 3. h3")
            + &game("C", "1. f3 f6");
        fs::write(&path, text).unwrap();
        let given = Given::read(&[path], None).unwrap();
        // The start counts once.
        let sizes = [9 + 4, 3, 1];
        assert_eq!(given.count(), sizes.iter().sum::<u64>());
        let mut counts = [0u64; 3];
        for number in 0..given.count() {
            let opening = given.root(number).unwrap().opening;
            counts[usize::from(opening.as_bytes()[0] - b'A')] += 1;
            let fair = (0..3)
                .all(|i| counts[i] == sizes[i] || counts[i] + 1 >= *counts.iter().max().unwrap());
            assert!(fair, "{counts:?}");
        }
        let early: u64 = (0..4).map(|number| given.root(number).unwrap().ply).sum();
        assert!(early > 6, "not the games' first positions");
    }

    #[test]
    fn moves_are_spelled_as_uci_does() {
        let legal = Chess::default().legal_moves();
        assert!(legal.iter().all(|&mv| Played::from(mv).to_string() == uci(mv)));
        let promotion = parse_fen("8/P6k/8/8/8/8/8/K7 w - - 0 1").unwrap().legal_moves();
        let spelled: Vec<String> =
            promotion.iter().map(|&mv| Played::from(mv).to_string()).collect();
        assert!(spelled.contains(&"a7a8n".to_owned()), "{spelled:?}");
        assert!(spelled.iter().all(|uci| uci.parse::<Played>().unwrap().to_string() == *uci));
    }
}
