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
    /// Whether a player sees it at a glance, without working out exchanges; only such terms
    /// give scan points.
    pub glance: bool,
    /// One-line meaning, with the unit of the value.
    pub meaning: &'static str,
    /// Sentence for a positive value. `{n}` stands for the value's size, `{piece}` for the
    /// moved piece, `{to}` for where it lands.
    pub positive: &'static str,
    /// Sentence for a negative value.
    pub negative: &'static str,
    /// The value.
    pub value: fn(&Glance) -> i32,
}

/// Builds a row; a term that is never negative leaves its last sentence out.
macro_rules! term {
    ($name:literal, $kind:ident, $value:path, $meaning:literal, $positive:literal) => {
        term!($name, $kind, $value, $meaning, $positive, "")
    };
    ($name:literal, $kind:ident, $value:path, $meaning:literal, $positive:literal, $negative:literal) => {
        Term {
            name: $name,
            glance: term!(@ $kind),
            meaning: $meaning,
            positive: $positive,
            negative: $negative,
            value: $value,
        }
    };
    (@ glance) => { true };
    (@ worked_out) => { false };
}

/// Number of terms.
pub const TERM_COUNT: usize = TERMS.len();

/// Every term, in the order of the weight table.
pub static TERMS: [Term; 50] = [
    term!(
        "material",
        worked_out,
        material::exchange,
        "material kept after the move and all exchanges, in pawns",
        "wins {n} pawns' worth once all captures are played out",
        "loses {n} pawns' worth once all captures are played out"
    ),
    term!(
        "capture",
        glance,
        material::capture,
        "victim, less the captor if it can be retaken, in pawns, if positive",
        "takes {n} pawns' worth at a glance"
    ),
    term!("takes", glance, material::takes, "1 for any capture", "is a capture"),
    term!("promotes", glance, material::promotes, "1 for a queen promotion", "makes a queen"),
    term!(
        "simplify",
        worked_out,
        material::simplify,
        "even trade, by how many pawns the mover is ahead, at most 3",
        "trades pieces while {n} pawns ahead",
        "trades pieces while {n} pawns behind"
    ),
    term!("mate", worked_out, threats::mate, "1 for checkmate", "is checkmate"),
    term!(
        "draws",
        worked_out,
        material::draws,
        "stalemate, by how many pawns the mover is behind",
        "saves the draw from {n} pawns behind",
        "gives away the win by stalemate, {n} pawns ahead"
    ),
    term!(
        "recapture",
        glance,
        threats::recapture,
        "1 if the piece that just moved is taken",
        "takes the piece that just moved"
    ),
    term!(
        "rescue",
        glance,
        threats::rescue,
        "value in pawns of the moved piece, if it stood loose and no longer does",
        "saves the {piece}, worth {n} pawns"
    ),
    term!(
        "leaves_loose",
        glance,
        threats::leaves_loose,
        "more of our other pieces standing loose than before",
        "leaves {n} more pieces loose",
        "covers {n} loose pieces"
    ),
    term!(
        "lands_loose",
        glance,
        threats::lands_loose,
        "value in pawns of the moved piece, if it can simply be taken",
        "puts the {piece} on {to} where it can be taken, {n} pawns"
    ),
    term!(
        "pawn_chases",
        glance,
        threats::pawn_chases,
        "1 if a piece lands where a pawn attacks it",
        "lets a pawn attack the {piece} on {to}"
    ),
    term!(
        "new_targets",
        glance,
        threats::new_targets,
        "more of their pieces standing loose than before",
        "leaves {n} more enemy pieces loose",
        "lets {n} enemy pieces off"
    ),
    term!(
        "target_value",
        glance,
        threats::target_value,
        "value in pawns of the dearest piece the mover newly attacks and could win",
        "attacks something worth {n} pawns"
    ),
    term!(
        "fork",
        glance,
        threats::fork,
        "1 if the moved piece attacks two or more loose or dearer pieces",
        "forks"
    ),
    term!(
        "mate_threat",
        worked_out,
        threats::mate_threat,
        "1 if we would mate were they to pass",
        "threatens mate"
    ),
    term!("check", glance, threats::check, "1 for a check", "gives check"),
    term!(
        "safe_check",
        glance,
        threats::safe_check,
        "1 for a check by a piece that cannot simply be taken",
        "gives check safely"
    ),
    term!(
        "allows_mate",
        worked_out,
        threats::allows_mate,
        "1 if they have a mate in one",
        "allows mate at once"
    ),
    term!(
        "allows_checks",
        worked_out,
        threats::allows_checks,
        "their safe checks",
        "allows {n} safe checks"
    ),
    term!(
        "safe_replies",
        worked_out,
        threats::safe_replies,
        "their replies that lose nothing by exchanges",
        "leaves them {n} safe moves"
    ),
    term!(
        "replies",
        worked_out,
        threats::replies,
        "their legal replies",
        "leaves them {n} legal moves"
    ),
    term!(
        "few_replies",
        worked_out,
        threats::few_replies,
        "1 if at most two of their moves are safe",
        "leaves them hardly a safe move"
    ),
    term!(
        "own_pins",
        worked_out,
        threats::own_pins,
        "more of our pieces pinned to our king than before",
        "walks into {n} pins",
        "slips out of {n} pins"
    ),
    term!(
        "trapped",
        glance,
        threats::trapped,
        "1 if the moved piece has no safe square from where it landed",
        "leaves the {piece} on {to} without a safe square"
    ),
    term!(
        "defends",
        glance,
        threats::defends,
        "attacked pieces of ours that the moved piece newly protects",
        "protects {n} attacked pieces"
    ),
    term!(
        "development",
        glance,
        activity::development,
        "1 if a knight or bishop leaves its first square",
        "develops the {piece}"
    ),
    term!(
        "undeveloped_queen",
        glance,
        activity::early_queen,
        "minor pieces still at home when the queen moves out",
        "moves the queen with {n} minor pieces at home"
    ),
    term!("castles", glance, activity::castles, "1 for castling", "castles"),
    term!(
        "loses_castling",
        glance,
        activity::loses_castling,
        "castling rights given up without castling",
        "gives up {n} castling rights"
    ),
    term!(
        "centralisation",
        glance,
        activity::centralisation,
        "steps toward the centre of a knight, bishop or queen",
        "moves the {piece} {n} steps toward the centre",
        "moves the {piece} {n} steps from the centre"
    ),
    term!(
        "knight_centre",
        glance,
        activity::knight_centre,
        "steps toward the centre of a knight",
        "brings the knight {n} steps toward the centre",
        "takes the knight {n} steps from the centre"
    ),
    term!(
        "mobility",
        glance,
        activity::mobility,
        "squares our pieces reach, after minus before",
        "gives our pieces {n} more squares",
        "takes {n} squares from our pieces"
    ),
    term!(
        "their_mobility",
        glance,
        activity::their_mobility,
        "squares their pieces reach, after minus before",
        "gives their pieces {n} more squares",
        "takes {n} squares from their pieces"
    ),
    term!(
        "outpost",
        glance,
        activity::outpost,
        "1 if a minor piece lands beyond the middle, held by a pawn and out of pawns' reach",
        "puts the {piece} on an outpost at {to}"
    ),
    term!(
        "open_file",
        glance,
        activity::open_file,
        "2 if a rook or queen enters an open file, 1 a half-open one",
        "enters a file that is open to the degree of {n}"
    ),
    term!(
        "seventh_rank",
        glance,
        activity::seventh_rank,
        "1 if a rook or queen reaches the seventh rank",
        "reaches the seventh rank"
    ),
    term!(
        "bishop_pair",
        glance,
        activity::bishop_pair,
        "their bishop pair broken (1)",
        "breaks their bishop pair"
    ),
    term!("moves_rook", glance, activity::moves_rook, "1 if a rook moves", "moves a rook"),
    term!("moves_queen", glance, activity::moves_queen, "1 if the queen moves", "moves the queen"),
    term!(
        "king_walk",
        glance,
        king::walk,
        "king move other than castling, by phase from 0 to 4",
        "moves the king with {n} quarters of the pieces on the board"
    ),
    term!(
        "king_active",
        glance,
        king::active,
        "steps of the king toward the centre in the endgame, by phase",
        "brings the king toward the centre, {n}",
        "takes the king from the centre, {n}"
    ),
    term!(
        "king_attack",
        glance,
        king::attack,
        "squares round their king that we attack, after minus before",
        "attacks {n} more squares round their king",
        "attacks {n} squares fewer round their king"
    ),
    term!(
        "king_exposure",
        glance,
        king::exposure,
        "squares round our king that they attack, after minus before",
        "lets them attack {n} more squares round our king",
        "frees {n} squares round our king"
    ),
    term!(
        "king_shelter",
        glance,
        king::shelter,
        "pawns before our king, after minus before, in the middlegame",
        "has {n} more pawns before our king",
        "has {n} fewer pawns before our king"
    ),
    term!(
        "centre_pawn",
        glance,
        pawns::centre_pawn,
        "1 if a pawn lands on d4, e4, d5 or e5",
        "puts a pawn in the centre"
    ),
    term!(
        "flank_pawn",
        glance,
        pawns::flank_pawn,
        "1 if an a-, b-, g- or h-pawn moves in the middlegame",
        "moves a flank pawn"
    ),
    term!(
        "passed_push",
        glance,
        pawns::passed_push,
        "a passed pawn's advance, by the square of its steps past the second rank, halved",
        "pushes a passed pawn, worth {n}"
    ),
    term!(
        "passed_pawns",
        glance,
        pawns::passed,
        "our passed pawns minus theirs, after minus before",
        "gains {n} passed pawns on balance",
        "concedes {n} passed pawns on balance"
    ),
    term!(
        "pawn_faults",
        glance,
        pawns::faults,
        "our doubled and isolated pawns minus theirs, after minus before",
        "worsens the pawns by {n} faults",
        "betters the pawns by {n} faults"
    ),
];
