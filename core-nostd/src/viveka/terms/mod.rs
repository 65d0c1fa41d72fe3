//! The table of terms: one row each, and nowhere else.
mod activity;
mod king;
mod material;
mod pawns;
mod threats;

use super::glance::Glance;

/// One thing the score counts about a move.
#[derive(Debug)]
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
    /// Sentence for a positive value. `{n}` stands for the value's size, `{n:square}` for the
    /// size and the noun in singular or plural, `{piece}` for the moved piece, `{to}` for where
    /// it lands.
    pub positive: &'static str,
    /// Sentence for a negative value.
    pub negative: &'static str,
    /// The value.
    pub value: fn(&Glance) -> i32,
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

/// Builds a row; a term that is never negative leaves its last sentence out.
macro_rules! term {
    ($name:literal, $kind:ident, $sense:ident, $value:path, $meaning:literal, $positive:literal) => {
        term!($name, $kind, $sense, $value, $meaning, $positive, "")
    };
    ($name:literal, $kind:ident, $sense:ident, $value:path, $meaning:literal, $positive:literal, $negative:literal) => {
        Term {
            name: $name,
            glance: term!(@ $kind),
            sense: term!(@ $sense),
            meaning: $meaning,
            positive: $positive,
            negative: $negative,
            value: $value,
        }
    };
    (@ glance) => { true };
    (@ worked_out) => { false };
    (@ good) => { Sense::Good };
    (@ bad) => { Sense::Bad };
    (@ either) => { Sense::Either };
}

/// Number of terms.
pub const TERM_COUNT: usize = TERMS.len();

/// Every term, in the order of the weight table.
pub static TERMS: [Term; 50] = [
    term!(
        "material",
        worked_out,
        good,
        material::exchange,
        "material kept after the move and all exchanges, in pawns",
        "wins {n:pawn} once all captures are played out",
        "loses {n:pawn} once all captures are played out"
    ),
    term!(
        "capture",
        glance,
        good,
        material::capture,
        "victim, less the captor if it can be retaken, in pawns, if positive",
        "takes {n:pawn} at a glance"
    ),
    term!("takes", glance, either, material::takes, "1 for any capture", "is a capture"),
    term!("promotes", glance, good, material::promotes, "1 for a queen promotion", "makes a queen"),
    term!(
        "simplify",
        worked_out,
        either,
        material::simplify,
        "even trade, by how many pawns the mover is ahead, at most 3",
        "trades pieces while {n:pawn} ahead",
        "trades pieces while {n:pawn} behind"
    ),
    term!("mate", worked_out, good, threats::mate, "1 for checkmate", "is checkmate"),
    term!(
        "draws",
        worked_out,
        good,
        material::draws,
        "stalemate, by how many pawns the mover is behind",
        "saves the draw from {n:pawn} behind",
        "gives away the win by stalemate, {n:pawn} ahead"
    ),
    term!(
        "recapture",
        glance,
        good,
        threats::recapture,
        "1 if the piece that just moved is taken",
        "takes the piece that just moved"
    ),
    term!(
        "rescue",
        glance,
        good,
        threats::rescue,
        "value in pawns of the moved piece, if it stood loose and no longer does",
        "saves the {piece}, worth {n:pawn}"
    ),
    term!(
        "leaves_loose",
        glance,
        bad,
        threats::leaves_loose,
        "more of our other pieces standing loose than before",
        "leaves {n:more piece} loose",
        "covers {n:loose piece}"
    ),
    term!(
        "lands_loose",
        glance,
        bad,
        threats::lands_loose,
        "value in pawns of the moved piece, if it can simply be taken",
        "puts the {piece} on {to} where it can be taken, {n:pawn}"
    ),
    term!(
        "pawn_chases",
        glance,
        bad,
        threats::pawn_chases,
        "1 if a piece lands where a pawn attacks it, or will after a push onto a square free of us",
        "lets a pawn attack the {piece} on {to}"
    ),
    term!(
        "new_targets",
        glance,
        good,
        threats::new_targets,
        "more of their pieces standing loose than before",
        "leaves {n:more enemy piece} loose",
        "lets {n:enemy piece} off"
    ),
    term!(
        "target_value",
        glance,
        good,
        threats::target_value,
        "value in pawns of the dearest piece the mover newly attacks and could win",
        "attacks something worth {n:pawn}"
    ),
    term!(
        "fork",
        glance,
        good,
        threats::fork,
        "1 if the moved piece attacks two or more loose or dearer pieces",
        "forks"
    ),
    term!(
        "mate_threat",
        worked_out,
        good,
        threats::mate_threat,
        "1 if we would mate were they to pass",
        "threatens mate"
    ),
    term!("check", glance, either, threats::check, "1 for a check", "gives check"),
    term!(
        "safe_check",
        glance,
        good,
        threats::safe_check,
        "1 for a check by a piece that cannot simply be taken",
        "gives check safely"
    ),
    term!(
        "allows_mate",
        worked_out,
        bad,
        threats::allows_mate,
        "1 if they have a mate in one",
        "allows mate at once"
    ),
    term!(
        "allows_checks",
        worked_out,
        bad,
        threats::allows_checks,
        "their safe checks",
        "allows {n:safe check}"
    ),
    term!(
        "safe_replies",
        worked_out,
        bad,
        threats::safe_replies,
        "their replies that lose nothing by exchanges",
        "leaves them {n:safe move}"
    ),
    term!(
        "replies",
        worked_out,
        bad,
        threats::replies,
        "their legal replies",
        "leaves them {n:legal move}"
    ),
    term!(
        "few_replies",
        worked_out,
        good,
        threats::few_replies,
        "1 if at most two of their moves are safe",
        "leaves them hardly a safe move"
    ),
    term!(
        "own_pins",
        worked_out,
        bad,
        threats::own_pins,
        "more of our pieces pinned to our king than before",
        "walks into {n:pin}",
        "slips out of {n:pin}"
    ),
    term!(
        "trapped",
        glance,
        bad,
        threats::trapped,
        "1 if the moved piece has no safe square from where it landed",
        "leaves the {piece} on {to} without a safe square"
    ),
    term!(
        "defends",
        glance,
        good,
        threats::defends,
        "attacked pieces of ours that the moved piece newly protects",
        "protects {n:attacked piece}"
    ),
    term!(
        "development",
        glance,
        good,
        activity::development,
        "1 if a knight or bishop leaves its first square",
        "develops the {piece}"
    ),
    term!(
        "undeveloped_queen",
        glance,
        bad,
        activity::early_queen,
        "minor pieces still at home when the queen moves out",
        "moves the queen with {n:minor piece} at home"
    ),
    term!("castles", glance, good, activity::castles, "1 for castling", "castles"),
    term!(
        "loses_castling",
        glance,
        bad,
        activity::loses_castling,
        "castling rights given up without castling",
        "gives up {n:castling right}"
    ),
    term!(
        "centralisation",
        glance,
        good,
        activity::centralisation,
        "steps toward the centre of a knight, bishop or queen",
        "moves the {piece} {n:step} toward the centre",
        "moves the {piece} {n:step} from the centre"
    ),
    term!(
        "knight_centre",
        glance,
        good,
        activity::knight_centre,
        "steps toward the centre of a knight",
        "brings the knight {n:step} toward the centre",
        "takes the knight {n:step} from the centre"
    ),
    term!(
        "mobility",
        glance,
        good,
        activity::mobility,
        "squares our pieces reach, after minus before",
        "gives our pieces {n:more square}",
        "takes {n:square} from our pieces"
    ),
    term!(
        "their_mobility",
        glance,
        bad,
        activity::their_mobility,
        "squares their pieces reach, after minus before",
        "gives their pieces {n:more square}",
        "takes {n:square} from their pieces"
    ),
    term!(
        "outpost",
        glance,
        good,
        activity::outpost,
        "1 if a minor piece lands beyond the middle, held by a pawn and out of pawns' reach",
        "puts the {piece} on an outpost at {to}"
    ),
    term!(
        "open_file",
        glance,
        good,
        activity::open_file,
        "how much more open the file is that a rook or queen moves to: open 2, half-open 1",
        "enters a more open file, by {n:step}"
    ),
    term!(
        "seventh_rank",
        glance,
        good,
        activity::seventh_rank,
        "1 if a rook or queen reaches the seventh rank",
        "reaches the seventh rank"
    ),
    term!(
        "bishop_pair",
        glance,
        good,
        activity::bishop_pair,
        "their bishop pair broken (1)",
        "breaks their bishop pair"
    ),
    term!("moves_rook", glance, either, activity::moves_rook, "1 if a rook moves", "moves a rook"),
    term!(
        "moves_queen",
        glance,
        either,
        activity::moves_queen,
        "1 if the queen moves",
        "moves the queen"
    ),
    term!(
        "king_walk",
        glance,
        bad,
        king::walk,
        "king move other than castling, by phase from 0 to 4",
        "moves the king with {n:quarter} of the pieces still on the board"
    ),
    term!(
        "king_active",
        glance,
        good,
        king::active,
        "steps of the king toward the centre in the endgame, by phase",
        "brings the king toward the centre for the endgame, by {n}",
        "takes the king from the centre in the endgame, by {n}"
    ),
    term!(
        "king_attack",
        glance,
        good,
        king::attack,
        "squares round their king that we attack, after minus before",
        "attacks {n:more square} round their king",
        "attacks {n:square} fewer round their king"
    ),
    term!(
        "king_exposure",
        glance,
        bad,
        king::exposure,
        "squares round our king that they attack, after minus before",
        "lets them attack {n:more square} round our king",
        "frees {n:square} round our king"
    ),
    term!(
        "king_shelter",
        glance,
        good,
        king::shelter,
        "pawns before our king, after minus before, in the middlegame",
        "has {n:more pawn} before our king",
        "has {n:fewer pawn} before our king"
    ),
    term!(
        "centre_pawn",
        glance,
        good,
        pawns::centre_pawn,
        "1 if a pawn lands on d4, e4, d5 or e5",
        "puts a pawn in the centre"
    ),
    term!(
        "flank_pawn",
        glance,
        either,
        pawns::flank_pawn,
        "1 if an a-, b-, g- or h-pawn moves in the middlegame",
        "moves a flank pawn"
    ),
    term!(
        "passed_push",
        glance,
        good,
        pawns::passed_push,
        "a passed pawn's advance, by the square of its steps past the second rank, halved",
        "pushes a passed pawn, worth {n}"
    ),
    term!(
        "passed_pawns",
        glance,
        good,
        pawns::passed,
        "our passed pawns minus theirs, after minus before",
        "gains {n:passed pawn} on balance",
        "concedes {n:passed pawn} on balance"
    ),
    term!(
        "pawn_faults",
        glance,
        bad,
        pawns::faults,
        "our doubled and isolated pawns minus theirs, after minus before",
        "worsens the pawns by {n:fault}",
        "betters the pawns by {n:fault}"
    ),
];
