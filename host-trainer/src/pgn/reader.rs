//! From the lines of a game to its positions.
use kibitzer_core::{
    fnv,
    position::parse_fen,
    shakmaty::{Chess, Color, EnPassantMode, Move, Position as _, fen::Fen},
};

use super::{
    ending::{Ending, Marker},
    fault::{Fault, MOST_PLIES, shown},
    filter::{Filter, Unwanted},
    game::{Game, Step},
    lines::End,
    movetext::{Lexer, Token},
    tags::{Tag, Tags, tag},
};
use crate::{
    chess960, positions,
    records::PackedPosition,
    spelling::{self, Misspelt},
};

/// Annotations without a sign of their own, as old programs write them.
const GLYPHS: [&str; 20] = [
    "+", "++", "#", "=", "+-", "-+", "+/-", "-/+", "+=", "=+", "+/=", "=/+", "\u{b1}", "\u{2213}",
    "\u{2a72}", "\u{2a71}", "\u{221e}", "\u{25a1}", "e.p.", "ep",
];

/// Where in a game the next line is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    /// Nothing of it has come.
    #[default]
    Before,
    /// Among its tags.
    Tags,
    /// In its moves.
    Moves,
    /// In its moves, after an empty line.
    Gap,
}

/// Reads the lines of a game and collects its steps; the buffers are reused from game to game.
///
/// After a fault, and where the game is not asked for, the text is still followed to its end:
/// comments and variations must not be taken for the next game.
#[derive(Debug, Default)]
pub(super) struct GameReader {
    filter: Filter,
    /// Whether comments are kept.
    comments: bool,
    part: Part,
    lexer: Lexer,
    tags: Tags,
    /// Name of its first tag.
    first_tag: Vec<u8>,
    /// Whether more has come than remarks.
    begun: bool,
    start: Option<Chess>,
    position: Chess,
    steps: Vec<Step>,
    plies: usize,
    hash: u64,
    marker: Option<Marker>,
    fault: Option<Fault>,
}

impl GameReader {
    pub(super) fn new(filter: Filter, comments: bool) -> GameReader {
        GameReader { filter, comments, ..GameReader::default() }
    }

    /// The game just read.
    pub(super) fn game(&self) -> Game<'_> {
        Game { hash: self.hash, winner: self.winner(), tags: &self.tags, steps: &self.steps }
    }

    fn winner(&self) -> Option<Color> {
        match self.marker {
            Some(Marker::Ended(Ending(winner))) => winner,
            _ => self.tags.result.and_then(|Ending(winner)| winner),
        }
    }

    /// Makes ready for the next game.
    pub(super) fn begin(&mut self) {
        self.part = Part::Before;
        self.lexer = Lexer::default();
        self.tags = Tags::default();
        self.first_tag.clear();
        self.begun = false;
        self.start = None;
        self.steps.clear();
        self.plies = 0;
        self.marker = None;
        self.fault = None;
    }

    /// Whether a line belongs to the next game already.
    ///
    /// A game ends where tags come, or after an empty line what looks like a game's start. Within
    /// a comment only the tag Event ends it: then the comment has no end. Among tags, the first
    /// that comes again is the next game's.
    pub(super) fn ends_before(&self, line: &[u8]) -> bool {
        let starts = |sign: &[u8]| line.starts_with(sign);
        match self.part {
            Part::Before => false,
            Part::Tags => tag(line).is_some_and(|tag| tag.name == self.first_tag),
            Part::Moves | Part::Gap if self.lexer.comment => starts(b"[Event \""),
            Part::Moves | Part::Gap if starts(b"[") => tag(line).is_some_and(|t| t.value.is_some()),
            Part::Moves => self.marker.is_some() && is_first_move(line),
            Part::Gap if self.marker.is_some() => !line.trim_ascii().is_empty() && !starts(b"%"),
            Part::Gap => self.plies > 0 && is_first_move(line),
        }
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, line: &[u8], end: End) {
        let mut line = line;
        if matches!(self.part, Part::Before | Part::Tags) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if end == End::TooLong {
            self.begun = true;
            self.refuse(Fault::Line);
        }
        if line.starts_with(b"%") && !self.lexer.comment {
            return;
        }
        match (self.part, line.trim_ascii().is_empty()) {
            (Part::Moves, true) => self.part = Part::Gap,
            (Part::Gap, false) => self.part = Part::Moves,
            _ => {}
        }
        while matches!(self.part, Part::Before | Part::Tags) {
            line = line.trim_ascii_start();
            match tag(line) {
                Some(tag) => {
                    self.part = Part::Tags;
                    self.tag(&tag);
                    line = tag.rest;
                }
                None if line.is_empty() => return,
                None => self.begin_moves(),
            }
        }
        self.moves(line);
    }

    fn tag(&mut self, tag: &Tag) {
        self.begun = true;
        if self.first_tag.is_empty() {
            self.first_tag.extend_from_slice(tag.name);
        }
        match (tag.name, tag.value) {
            (b"FEN", Some(fen)) => self.set_up(fen),
            (b"FEN", None) => self.refuse(Fault::Tag("FEN")),
            (b"Variant", Some(variant)) if is_chess(variant) => {}
            // Says more than what may be wrong with a FEN.
            (b"Variant", Some(_)) => self.fault = Some(Fault::Variant(tag.text().into_owned())),
            (b"Variant", None) => self.refuse(Fault::Tag("Variant")),
            (name, _) => self.tags.add(name, &tag.text()),
        }
    }

    /// Takes the start position from the FEN tag.
    fn set_up(&mut self, fen: &[u8]) {
        let Ok(fen) = std::str::from_utf8(fen) else { return self.refuse(Fault::FenText) };
        match parse_fen(fen) {
            Ok(position) if chess960::sign(fen, &position).is_none() => self.start = Some(position),
            Ok(_) => self.refuse(Fault::Shuffled),
            Err(error) => self.refuse(Fault::Fen(error)),
        }
    }

    /// Notes what is wrong, the first time.
    fn refuse(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    fn begin_moves(&mut self) {
        self.part = Part::Moves;
        if let Some(why) = self.filter.unwanted(&self.tags) {
            self.refuse(Fault::Unwanted(why));
        }
        self.hash = fnv::START;
        self.position = Chess::default();
        if let Some(start) = self.start.take().filter(|start| *start != self.position) {
            let fen = Fen::from_position(&start, EnPassantMode::Legal);
            self.hash = fnv::bytes(self.hash, fen.to_string().bytes());
            self.position = start;
        }
    }

    fn moves(&mut self, mut line: &[u8]) {
        while let Some(token) = self.lexer.next(&mut line) {
            self.begun |= !matches!(token, Token::Comment(_));
            match token {
                Token::Word(word) => self.word(word),
                Token::Comment(text) if self.comments => self.comment_on_last(text),
                Token::Comment(_) => {}
                Token::Stray(sign) => {
                    self.refuse(Fault::word(self.plies, sign, Misspelt::NoMove));
                }
            }
        }
    }

    fn word(&mut self, word: &[u8]) {
        // Most words are moves and start with a letter, as neither numbers nor results do.
        if word.first().is_some_and(u8::is_ascii_alphabetic) {
            return self.mv(word);
        }
        if let Some(marker) = Marker::of(word) {
            match (self.marker, marker) {
                (Some(Marker::Ended(one)), Marker::Ended(other)) if one != other => {
                    self.refuse(Fault::Results(one, other));
                }
                _ => self.marker = Some(marker),
            }
            return;
        }
        let (number, rest) = numbered(word);
        let from_start = self.plies == 0 && self.hash == fnv::START;
        if from_start && !matches!(number, b"" | b"1") {
            return self.refuse(Fault::Number(shown(number)));
        }
        if !rest.is_empty() {
            self.mv(rest);
        }
    }

    /// Plays the move that a word names.
    fn mv(&mut self, word: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        if self.marker.is_some() {
            return self.refuse(Fault::AfterEnd(shown(word)));
        }
        match spelling::find(&self.position, word) {
            Ok(mv) => self.play(mv),
            Err(_) if GLYPHS.iter().any(|glyph| glyph.as_bytes() == word) => {}
            Err(why) => self.refuse(Fault::word(self.plies, word, why)),
        }
    }

    fn play(&mut self, mv: Move) {
        if self.plies == MOST_PLIES {
            return self.refuse(Fault::TooLong);
        }
        let played = mv.into();
        if self.filter.wants_ply(self.plies) {
            self.steps.push(Step {
                key: positions::key(&self.position),
                packed: PackedPosition::new(&self.position, self.plies),
                played,
                comment: String::new(),
            });
        }
        self.hash = fnv::bytes(self.hash, bytemuck::bytes_of(&played).iter().copied());
        self.position.play_unchecked(mv);
        self.plies += 1;
    }

    /// Keeps a comment with the move before it.
    fn comment_on_last(&mut self, text: &[u8]) {
        let played = self.plies.wrapping_sub(1);
        if let Some(step) = self.steps.last_mut().filter(|s| usize::from(s.packed.ply) == played) {
            if !step.comment.is_empty() {
                step.comment.push(' ');
            }
            step.comment.push_str(&String::from_utf8_lossy(text));
        }
    }

    /// What has come of the game; `None` if nothing was there but remarks. `cut` says that the
    /// text has ended within a line.
    pub(super) fn end(&mut self, cut: bool) -> Option<Result<(), Fault>> {
        let begun = self.begun || self.lexer.comment;
        begun.then(|| self.sound(cut).map_or(Ok(()), Err))
    }

    /// What is wrong with the whole game.
    fn sound(&mut self, cut: bool) -> Option<Fault> {
        let fault = self.fault.take();
        // Half a word is no move, or another.
        if cut && self.marker.is_none() && matches!(fault, None | Some(Fault::Move(..))) {
            return Some(Fault::CutShort);
        }
        if fault.is_some() {
            return fault;
        }
        match (self.marker, self.tags.result) {
            _ if self.lexer.comment => Some(Fault::Comment),
            _ if self.lexer.variations > 0 => Some(Fault::Variation),
            _ if self.plies == 0 => Some(Fault::NoMoves),
            (Some(Marker::Open), _) | (None, None) => Some(Fault::NoResult),
            (Some(Marker::Ended(end)), Some(tag)) if end != tag => Some(Fault::Results(tag, end)),
            _ if !self.filter.wants_result(self.winner()) => {
                Some(Fault::Unwanted(Unwanted::Result))
            }
            _ if self.steps.is_empty() => Some(Fault::Unwanted(Unwanted::Ply)),
            _ => None,
        }
    }
}

/// Whether a line starts with the number of a game's first move.
fn is_first_move(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [b'1', b'.', rest @ ..] if !rest.starts_with(b"."))
}

/// A word's move number, where one is told by dots or stands alone, and what follows it.
fn numbered(word: &[u8]) -> (&[u8], &[u8]) {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = word.split_at(digits);
    let dots = rest.iter().take_while(|&&byte| byte == b'.').count();
    let rest = rest.strip_prefix("\u{2026}".as_bytes()).unwrap_or(&rest[dots..]);
    // As in `0-0`; and no move has the number 0000.
    if digits > 0 && rest.len() + digits == word.len() && (!rest.is_empty() || number[0] == b'0') {
        return (b"", word);
    }
    (number, rest)
}

/// The names under which sites write ordinary chess in the Variant tag, or nothing.
fn is_chess(variant: &[u8]) -> bool {
    let names = ["standard", "chess", "normal", "from position", "?", "-", ""];
    names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(variant.trim_ascii()))
}
