//! The table of terms: one row each, beside its function, in the file of its theme.
use shakmaty::Bitboard;

use super::{glance::Glance, table};

/// One thing the score counts about a move.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// Short name, as it stands in weight files and explanations.
    pub name: &'static str,
    /// Whether a player sees it at a glance, without working out exchanges; only such terms,
    /// and checkmate, give scan points.
    pub glance: bool,
    /// Which sign its weight may have.
    pub sense: Sense,
    /// One-line meaning, with the unit of the value.
    pub meaning: &'static str,
    /// What is said of a positive value.
    pub positive: Sentence,
    /// What is said of a negative value.
    pub negative: Sentence,
    /// The value.
    pub value: fn(&Glance) -> i32,
}

/// What a term says of a move, the move being the subject: "develops the {piece}".
///
/// Fields: `{n}` is the value's size, `{n:square}` the size and the noun in singular or plural,
/// `{piece}` the moved piece, `{to}` where it lands. `{ours}` and `{theirs}` name the pieces that
/// the sentence is about as they stand after the move, `{ours_before}` and `{theirs_before}` as
/// they stood before it. `{won}` and `{lost}` tell what the exchanges bring, `{threat}` that ours
/// would win something if they passed, `{our_mate}` and `{their_mate}` a move that mates.
#[derive(Debug, Clone, Copy)]
pub struct Sentence {
    /// The text, with fields.
    pub text: &'static str,
    /// Squares of the pieces that it names.
    pub about: Option<fn(&Glance) -> Bitboard>,
}

/// Which way a term can speak. A weight of the other sign would only make up for some other
/// term, and its sentence would mislead; the fit leaves such a term out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// More of it speaks for the move.
    Good,
    /// More of it speaks against the move.
    Bad,
    /// Either, as the data say.
    Either,
}

/// Builds a row. Behind a sentence that names pieces stands `=>` and the function that finds
/// them; a term that is never negative leaves its last sentence out.
macro_rules! term {
    (
        $name:expr, $kind:ident, $sense:ident, $value:expr, $meaning:expr,
        $positive:expr $(=> $about:expr)?
    ) => {
        term!($name, $kind, $sense, $value, $meaning, $positive $(=> $about)?, "")
    };
    (
        $name:expr, $kind:ident, $sense:ident, $value:expr, $meaning:expr,
        $positive:expr $(=> $about_positive:expr)?,
        $negative:expr $(=> $about_negative:expr)?
    ) => {
        Term {
            name: $name,
            glance: term!(@ $kind),
            sense: term!(@ $sense),
            meaning: $meaning,
            positive: term!(@ sentence $positive $(=> $about_positive)?),
            negative: term!(@ sentence $negative $(=> $about_negative)?),
            value: $value,
        }
    };
    (@ sentence $text:expr) => {
        $crate::viveka::Sentence { text: $text, about: None }
    };
    (@ sentence $text:expr => $about:expr) => {
        $crate::viveka::Sentence { text: $text, about: Some($about) }
    };
    (@ glance) => { true };
    (@ worked_out) => { false };
    (@ good) => { $crate::viveka::Sense::Good };
    (@ bad) => { $crate::viveka::Sense::Bad };
    (@ either) => { $crate::viveka::Sense::Either };
}

mod activity;
mod calculation;
mod changes;
mod defence;
mod development;
mod endgame;
mod escapes;
mod hanging;
mod king;
mod king_net;
mod last_move;
mod lines;
mod material;
mod passers;
mod pawns;
mod pieces;
mod space;
mod structure;
mod threats;

/// The themes in the order of the weight table.
const THEMES: &[&[Term]] = &[
    material::ROWS,
    threats::ROWS,
    hanging::ROWS,
    defence::ROWS,
    last_move::ROWS,
    lines::ROWS,
    escapes::ROWS,
    development::ROWS,
    activity::ROWS,
    pieces::ROWS,
    space::ROWS,
    king::ROWS,
    king_net::ROWS,
    pawns::ROWS,
    passers::ROWS,
    structure::ROWS,
    endgame::ROWS,
    calculation::ROWS,
    changes::ROWS,
];

/// The terms that look back at the opponent's last move.
pub const LAST_MOVE: &[Term] = last_move::ROWS;
/// The terms of the moved piece's room to escape.
pub const ESCAPES: &[Term] = escapes::ROWS;
/// The terms of the nets round the kings.
pub const KING_NET: &[Term] = king_net::ROWS;

/// Number of terms.
pub const TERM_COUNT: usize = table::count(THEMES);

/// Place of the term whose weight is 100 points: material, whose unit is a pawn.
pub const MATERIAL: usize = 0;

/// Every term, in the order of the weight table.
pub static TERMS: [Term; TERM_COUNT] = table::concat(THEMES);
