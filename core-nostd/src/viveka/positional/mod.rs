//! A tapered evaluation by 41 features a player knows by name.
//!
//! Each feature counts something for one side; its value `f` is our count minus theirs, an
//! integer that changes its sign with the side it is seen from. Each has a weight for the
//! middlegame and one for the endgame, in centipawns, blended by the [phase](super::facts::phase)
//! (Fruit's taper); `kibitzer fit` writes them (Texel tuning).
mod camp;
mod king;
mod material;
mod passed;
mod pawns;
mod pieces;
mod shapes;
mod threats;
mod weights;

use shakmaty::{Chess, Color, Position as _};

use super::{
    facts::{Facts, phase},
    table,
    taper::{Tapered, rounded},
};
use camp::Camp;
pub use weights::FITTED;

/// One thing the evaluation counts.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// Short name, as it stands in weight tables.
    pub name: &'static str,
    /// One-line meaning of one side's count, with its unit.
    pub meaning: &'static str,
    /// One side's count.
    count: fn(&View) -> i32,
}

/// A position as one side's counts see it.
#[derive(Debug)]
struct View<'a> {
    /// The side counted for.
    own: &'a Camp,
    /// The other.
    foe: &'a Camp,
    /// Who is to move.
    turn: Color,
    /// Game phase, 24 (middlegame) to 0 (endgame).
    phase: i32,
}

/// Builds the rows of one theme: name, function, meaning.
macro_rules! features {
    ($($count:ident: $meaning:literal,)*) => {
        pub(super) const ROWS: &[$crate::viveka::positional::Feature] = &[$(
            $crate::viveka::positional::Feature {
                name: stringify!($count),
                meaning: $meaning,
                count: $count,
            },
        )*];
    };
}
use features;

/// The themes in the order of the weight table.
const THEMES: [&[Feature]; 6] =
    [material::ROWS, pawns::ROWS, passed::ROWS, pieces::ROWS, king::ROWS, threats::ROWS];

/// Number of features.
pub const FEATURE_COUNT: usize = 41;

/// Values of all features, in the order of [`FEATURES`].
pub type Features = [i32; FEATURE_COUNT];

/// All features.
pub static FEATURES: [Feature; FEATURE_COUNT] = table::concat(&THEMES);

/// What all features of one position read, worked out once.
#[derive(Debug)]
pub struct Survey {
    us: Camp,
    them: Camp,
    turn: Color,
    phase: i32,
}

impl Survey {
    /// Surveys `position` from the side of `facts`, which must be facts of this position.
    pub fn new(position: &Chess, facts: &Facts) -> Survey {
        let board = position.board();
        let rights = position.castles().castling_rights();
        Survey {
            us: Camp::new(board, rights, &facts.us, &facts.them),
            them: Camp::new(board, rights, &facts.them, &facts.us),
            turn: position.turn(),
            phase: phase(board),
        }
    }

    /// Surveys `position` from `us`'s side, whoever is to move.
    pub fn of(position: &Chess, us: Color) -> Survey {
        Survey::new(position, &Facts::new(position, us))
    }

    /// Game phase, 24 (middlegame) to 0 (endgame).
    pub fn phase(&self) -> i32 {
        self.phase
    }

    /// Value of one feature: our count minus theirs.
    pub fn value(&self, feature: &Feature) -> i32 {
        let (turn, phase) = (self.turn, self.phase);
        let ours = View { own: &self.us, foe: &self.them, turn, phase };
        let theirs = View { own: &self.them, foe: &self.us, turn, phase };
        (feature.count)(&ours) - (feature.count)(&theirs)
    }

    /// Values of all features.
    pub fn values(&self) -> Features {
        core::array::from_fn(|i| self.value(&FEATURES[i]))
    }
}

/// A name and two weights in centipawns a feature: middlegame, endgame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionalWeights {
    /// One row a feature, in the order of [`FEATURES`]; weights from −10,000 to 10,000, so that
    /// no sum overflows.
    pub rows: [(&'static str, i32, i32); FEATURE_COUNT],
}

impl PositionalWeights {
    /// The evaluation in centipawns of features at a phase, rounded once to nearest, halves away
    /// from zero: the other side's evaluation is its negative.
    pub fn evaluate(&self, features: &Features, phase: i32) -> i32 {
        let blend = |&(_, middlegame, endgame): &(_, i32, i32)| {
            Tapered { middlegame, endgame }.blend(phase)
        };
        rounded(self.rows.iter().zip(features).map(|(row, f)| blend(row) * f).sum())
    }
}

/// The position's evaluation from `us`'s side, in centipawns, by the built-in weights.
pub fn evaluate(position: &Chess, us: Color) -> i32 {
    let survey = Survey::of(position, us);
    FITTED.evaluate(&survey.values(), survey.phase())
}
