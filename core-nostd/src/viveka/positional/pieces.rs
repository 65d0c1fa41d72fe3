//! Where the pieces stand and what they reach.
use shakmaty::{Bitboard, Role, Square};

use super::{
    View, features,
    shapes::{CENTRE_FILES, count, files, fill, forward, ranks},
};

features! {
    knight_mobility: "squares that knights attack, no own piece on them and safe from pawns",
    bishop_mobility: "the same of bishops",
    rook_mobility: "the same of rooks, and safe from minor pieces",
    queen_mobility: "the same of queens, and safe from rooks",
    stuck: "knights, bishops, rooks and queens with at most one such square",
    outposts: "knights and bishops on the fourth to sixth rank, defended by a pawn where no enemy \
               pawn can ever attack them",
    rook_files: "2 for a rook on a file without pawns, 1 for one without own pawns",
    bad_bishop: "bishops times the own pawns on files c to f that stand blocked on their colour",
    boxed_rook: "rooks on the first rank behind an own pawn, on the outer side of a king that \
                 cannot castle",
    space: "squares of files c to f on the second to fourth rank without own pawn and safe from \
            pawns; twice when behind an own pawn and attacked by nothing",
}

fn knight_mobility(v: &View) -> i32 {
    v.own.mobility[Role::Knight as usize - 1]
}

fn bishop_mobility(v: &View) -> i32 {
    v.own.mobility[Role::Bishop as usize - 1]
}

fn rook_mobility(v: &View) -> i32 {
    v.own.mobility[Role::Rook as usize - 1]
}

fn queen_mobility(v: &View) -> i32 {
    v.own.mobility[Role::Queen as usize - 1]
}

fn stuck(v: &View) -> i32 {
    v.own.stuck
}

fn outposts(v: &View) -> i32 {
    let posts = v.own.pawn_attacks().without(v.foe.pawn_span) & ranks(3, 5, v.own.color);
    count(v.own.minors() & posts)
}

fn rook_files(v: &View) -> i32 {
    let half_open = v.own.rooks.without(files(v.own.pawns));
    count(half_open) + count(half_open.without(files(v.foe.pawns)))
}

fn bad_bishop(v: &View) -> i32 {
    let blocked = v.own.pawns & forward(v.foe.pieces, v.foe.color) & CENTRE_FILES;
    let of = |colour: Bitboard| count(v.own.bishops & colour) * count(blocked & colour);
    of(Bitboard::LIGHT_SQUARES) + of(Bitboard::DARK_SQUARES)
}

fn boxed_rook(v: &View) -> i32 {
    if v.own.may_castle {
        return 0;
    }
    let king = v.own.king.file() as u32;
    let outside = |rook: &Square| {
        let rook = rook.file() as u32;
        if king >= 4 { rook > king } else { rook < king }
    };
    let home = v.own.rooks & ranks(0, 0, v.own.color) & files(v.own.pawns);
    home.into_iter().filter(outside).count() as i32
}

fn space(v: &View) -> i32 {
    let zone = ranks(1, 3, v.own.color) & CENTRE_FILES;
    let safe = zone.without(v.own.pawns | v.foe.pawn_attacks());
    let behind = fill(v.own.pawns, !v.own.color).without(v.foe.attacks);
    count(safe) + count(safe & behind)
}
