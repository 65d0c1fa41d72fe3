//! Viveka: an interpretable move chooser that finds candidates, ranks them and checks them.
//!
//! - *Scan*: every legal move gets integer points from glance-level terms; the best eight are
//!   the candidates.
//! - *Score*: `V = Σ wᵢ·xᵢ`, integers, a pawn being 100; a weight may differ between middlegame and
//!   endgame.
//! - *Check*: the opponent's forcing replies; the choice maximises `V − β·100·drop`. The leading
//!   candidate gets a second look, in which our answers are checked in their turn.
//!
//! Every point of a score belongs to a named row of [`TERMS`].
mod analysis;
mod check;
mod choice;
mod double_check;
mod explain;
mod facts;
mod glance;
mod last_change;
pub mod positional;
mod table;
mod taper;
mod terms;
mod weights;

pub use analysis::{Analysis, Candidate, POSITIONS, Stage, analyse, analyse_into, examine};
pub use check::{Drop, MAX_DROP};
pub use choice::{
    CANDIDATES, MAX_WEIGHT, TermWeights, Values, Weights, drop_of, drop_twice_of, entropy,
    scan_order, standings, values,
};
pub use double_check::check_leaders;
pub(crate) use explain::role_name;
pub use explain::{Part, Warning, explain, notation, points};
pub use facts::{FULL_PHASE, phase};
pub use glance::{Before, Glance, LastMove};
pub use taper::Tapered;
pub use terms::{ESCAPES, KING_NET, LAST_MOVE, MATERIAL, Sense, Sentence, TERM_COUNT, TERMS, Term};
pub use weights::{FITTED, V1};
