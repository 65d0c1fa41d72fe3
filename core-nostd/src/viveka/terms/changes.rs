//! What a move changes in the position: each feature after the move and the exchanges that
//! follow, minus the feature before.
use super::Term;
use crate::viveka::{
    glance::Glance,
    positional::{FEATURE_COUNT, FEATURES},
};

/// Builds the rows: the feature's name, the term's sense, and its sentences.
macro_rules! changes {
    ($($feature:literal, $sense:ident, $positive:literal, $negative:literal;)*) => {
        pub(super) const ROWS: &[Term] = &[$(term!(
            concat!("d_", $feature),
            worked_out,
            $sense,
            change::<{ place($feature) }>,
            concat!("change of the positional feature ", $feature),
            $positive,
            $negative
        ),)*];
        // Every feature has a row.
        const _: () = assert!(ROWS.len() == FEATURE_COUNT);
    };
}

changes! {
    "pawns", either, "has {n:pawn} more on balance", "has {n:pawn} fewer on balance";
    "knights", either, "has {n:knight} more on balance", "has {n:knight} fewer on balance";
    "bishops", either, "has {n:bishop} more on balance", "has {n:bishop} fewer on balance";
    "rooks", either, "has {n:rook} more on balance", "has {n:rook} fewer on balance";
    "queens", either, "has {n:queen} more on balance", "has {n:queen} fewer on balance";
    "bishop_pair", good, "has the better of the bishop pair", "gives up the bishop pair";
    "knight_pawns", either, "suits the knights to the pawns, by {n}", "suits the knights ill to the pawns, by {n}";
    "traded_lead", good, "comes nearer to an ending with more material, by {n}", "comes nearer to an ending with less material, by {n}";
    "doubled", bad, "doubles {n:pawn}", "undoubles {n:pawn}";
    "isolated", bad, "isolates {n:pawn}", "joins {n:isolated pawn} to others";
    "backward", bad, "leaves {n:pawn} backward", "relieves {n:backward pawn}";
    "connected", good, "connects {n:pawn}", "disconnects {n:pawn}";
    "passed_low", good, "gains {n:passed pawn} far back", "loses {n:passed pawn} far back";
    "passed_fifth", good, "has {n:more passed pawn} on the fifth rank", "has {n:passed pawn} fewer on the fifth rank";
    "passed_sixth", good, "has {n:more passed pawn} on the sixth rank", "has {n:passed pawn} fewer on the sixth rank";
    "passed_seventh", good, "has {n:more passed pawn} on the seventh rank", "has {n:passed pawn} fewer on the seventh rank";
    "passed_connected", good, "connects {n:passed pawn}", "disconnects {n:passed pawn}";
    "passed_free", good, "clears the way of passed pawns, by {n:rank}", "lets passed pawns be stopped, by {n:rank}";
    "passed_kings", good, "brings the kings {n:step} better to the passed pawns", "brings the kings {n:step} worse to the passed pawns";
    "passed_unstoppable", good, "has a pawn that the king cannot catch", "lets a pawn run that the king cannot catch";
    "knight_mobility", good, "gives the knights {n:safe square} more", "takes {n:safe square} from the knights";
    "bishop_mobility", good, "gives the bishops {n:safe square} more", "takes {n:safe square} from the bishops";
    "rook_mobility", good, "gives the rooks {n:safe square} more", "takes {n:safe square} from the rooks";
    "queen_mobility", good, "gives the queen {n:safe square} more", "takes {n:safe square} from the queen";
    "stuck", bad, "leaves {n:piece} hardly a square", "frees {n:piece} that had hardly a square";
    "outposts", good, "gains {n:outpost}", "gives up {n:outpost}";
    "rook_files", good, "opens files for the rooks, by {n}", "closes files for the rooks, by {n}";
    "bad_bishop", bad, "shuts in the bishop by {n:pawn}", "frees the bishop from {n:pawn}";
    "boxed_rook", bad, "shuts in a rook", "lets out a rook";
    "space", good, "gains {n:square} of space", "gives up {n:square} of space";
    "king_shelter", good, "shelters the king better, by {n}", "shelters the king worse, by {n}";
    "king_files", bad, "opens {n:file} at the king", "closes {n:file} at the king";
    "king_stuck", bad, "keeps the king in the centre", "takes the king out of the centre";
    "king_attack", good, "attacks their king more, by {n}", "attacks their king less, by {n}";
    "safe_checks", good, "prepares {n:safe check}", "gives up {n:safe check}";
    "tropism", good, "brings pieces {n:step} nearer to their king", "takes pieces {n:step} from their king";
    "king_centre", either, "brings the king {n:step} nearer to the centre than theirs", "takes the king {n:step} from the centre";
    "by_less", good, "attacks {n:piece} by something cheaper", "gives up the attack on {n:dearer piece}";
    "pawn_targets", good, "attacks {n:weak pawn}", "gives up the attack on {n:weak pawn}";
    "loose", bad, "leaves {n:piece} undefended", "defends {n:undefended piece}";
    "tempo", either, "keeps the move", "spends the move";
}

/// Place of the feature among all; does not compile for another name.
const fn place(name: &str) -> usize {
    let mut i = 0;
    while i < FEATURE_COUNT {
        if equal(FEATURES[i].name.as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no such feature")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while a.len() == b.len() && i < a.len() && a[i] == b[i] {
        i += 1;
    }
    a.len() == b.len() && i == a.len()
}

fn change<const PLACE: usize>(g: &Glance) -> i32 {
    let feature = &FEATURES[PLACE];
    g.settled().value(feature) - g.before.survey().value(feature)
}
