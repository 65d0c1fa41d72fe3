//! The tail: what large errors cost, and of what kind they are.
use anyhow::Result;
use kibitzer_core::{
    shakmaty::Position as _,
    viveka::{MATERIAL, TERMS},
};

use super::{
    choices::Chooser,
    figures::{Series, bars},
    page::{Page, Table, number, percent},
};
use crate::{fit::Row, library::LabelledPosition};

/// Upper ends of the bands of losses, in centipawns; the last is the cap.
const BANDS: [i32; 6] = [0, 50, 100, 200, 300, 1000];
/// A larger loss than this, in centipawns, is an error whose kind is told.
const ERROR: i32 = 100;

/// The term that counts what a move threatens to win.
const THREATENS: &str = "threatens";

/// What becomes of a choice that loses much: whether the engine's best move was forcing, and
/// whether the opponent has a forcing answer to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The engine plays a quiet move, and ours is not punished by force.
    QuietMove,
    /// The engine plays a quiet move; ours allows a forcing reply that costs material or mates.
    ForcingReply,
    /// The engine's move is forcing, ours only lets it pass.
    MissedWin,
    /// The engine's move is forcing, and so is the answer to ours.
    Sharp,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::QuietMove, "the engine's move is quiet, ours not punished by force"),
    (Kind::ForcingReply, "walks into a forcing reply"),
    (Kind::MissedWin, "misses a forcing win"),
    (Kind::Sharp, "sharp both ways"),
];

impl Kind {
    /// The kind of choosing move number `i`.
    fn of(row: &Row, i: usize) -> Kind {
        match (is_forcing(row, engine_s_move(row.0)), is_punished(row, i)) {
            (false, false) => Kind::QuietMove,
            (false, true) => Kind::ForcingReply,
            (true, false) => Kind::MissedWin,
            (true, true) => Kind::Sharp,
        }
    }
}

/// The number of the move that the engine's best line begins with, or of a best move if there is
/// no line.
fn engine_s_move(labelled: &LabelledPosition) -> usize {
    let first = labelled.lines.first().and_then(|line| line.moves.first());
    let of_line = first.and_then(|&mv| labelled.moves.iter().position(|m| m.mv == mv));
    let best = || (0..labelled.moves.len()).find(|&i| labelled.loss(i) == 0);
    of_line.or_else(best).unwrap_or(0)
}

/// Whether move number `i` is a capture, a promotion, a check, or threatens to win by exchanges
/// what could not be won before.
fn is_forcing((labelled, features): &Row, i: usize) -> bool {
    let mv = labelled.moves[i].mv;
    let mut after = labelled.position.clone();
    after.play_unchecked(mv);
    let threatens = || {
        let term = TERMS.iter().position(|term| term.name == THREATENS);
        term.is_some_and(|term| features.moves[i][term] > 0)
    };
    mv.is_capture() || mv.is_promotion() || after.is_check() || threatens()
}

/// Whether the opponent has a forcing reply to move number `i` that costs material or mates: by
/// exchanges alone, or beyond them.
fn is_punished((_, features): &Row, i: usize) -> bool {
    features.moves[i][MATERIAL] < 0 || features.drops[i] > 0
}

/// What a way of choosing loses in one band of losses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Band {
    /// Share of the choices.
    share: f64,
    /// Their part of the mean loss, in centipawns.
    loss: f64,
}

/// The bands of a chooser's losses; the parts of the mean loss sum to it.
fn bands(rows: &[Row], chooser: &Chooser) -> [Band; BANDS.len()] {
    let mut bands = [Band::default(); BANDS.len()];
    let mut count = |loss: i32, weight: f64| {
        let band = BANDS.iter().position(|&most| loss <= most).unwrap_or(BANDS.len() - 1);
        bands[band].share += weight;
        bands[band].loss += weight * f64::from(loss);
    };
    for ((labelled, _), choices) in rows.iter().zip(&chooser.choices) {
        let weight = 1.0 / (choices.len().max(1) * rows.len()) as f64;
        choices.iter().for_each(|&i| count(labelled.loss(i), weight));
    }
    bands
}

fn band_name(band: usize) -> String {
    match band {
        0 => "0".into(),
        _ => format!("{}–{}", BANDS[band - 1] + 1, BANDS[band]),
    }
}

/// Share of the positions in which the choice is an error of each of [`KINDS`].
fn kinds(rows: &[Row], chooser: &Chooser) -> [f64; KINDS.len()] {
    let mut shares = [0.0; KINDS.len()];
    for (row, choices) in rows.iter().zip(&chooser.choices) {
        let weight = 1.0 / (choices.len().max(1) * rows.len()) as f64;
        for &i in choices.iter().filter(|&&i| row.0.loss(i) > ERROR) {
            let kind = Kind::of(row, i);
            for (share, (other, _)) in shares.iter_mut().zip(KINDS) {
                *share += if kind == other { weight } else { 0.0 };
            }
        }
    }
    shares
}

/// Bands of losses of all `choosers`, and the errors of the last of Viveka's, `viveka`.
pub fn section(
    page: &mut Page,
    rows: &[Row],
    choosers: &[Chooser],
    viveka: &Chooser,
) -> Result<()> {
    let all: Vec<_> = choosers.iter().map(|chooser| bands(rows, chooser)).collect();
    page.add("Contribution of each size of error to the mean loss, cp:");
    let names = || choosers.iter().map(|c| c.name.as_str());
    let mut table = Table::new(["loss, cp"].into_iter().chain(names()));
    for band in 0..BANDS.len() {
        let cells = all.iter().map(|bands| number(bands[band].loss, 1));
        table.row([band_name(band)].into_iter().chain(cells));
    }
    let sums = all.iter().map(|bands| number(bands.iter().map(|b| b.loss).sum(), 1));
    table.row(["all".to_string()].into_iter().chain(sums));
    page.add(table);
    page.add("Share of the choices:");
    let mut table = Table::new(["loss, cp"].into_iter().chain(names()));
    for band in 0..BANDS.len() {
        let cells = all.iter().map(|bands| percent(bands[band].share));
        table.row([band_name(band)].into_iter().chain(cells));
    }
    page.add(table);
    // The bars of a random move and of material would dwarf the others.
    let series: Vec<Series> = choosers
        .iter()
        .zip(&all)
        .skip(2)
        .map(|(c, bands)| Series::of(c.name.as_str(), bands.iter().map(|b| b.loss)))
        .collect();
    let groups: Vec<String> = (0..BANDS.len()).map(band_name).collect();
    let figure = bars("size of the error, cp", "part of the mean loss, cp", &groups, &series)?;
    page.figure("tail", "what errors of each size contribute to the mean loss", figure);
    page.part("Four kinds of error");
    page.add(kinds_table(rows, viveka));
    Ok(())
}

fn kinds_table(rows: &[Row], viveka: &Chooser) -> String {
    let shares = kinds(rows, viveka);
    let errors: f64 = shares.iter().sum();
    let mut table = Table::new(["kind of error", "of the errors", "of the positions"]);
    for (share, (_, meaning)) in shares.iter().zip(KINDS) {
        let of_errors = share / errors.max(f64::MIN_POSITIVE);
        table.row([meaning.to_string(), percent(of_errors), percent(*share)]);
    }
    format!(
        "The choices of {} that lose more than {ERROR} cp ({} of the positions), by whether the \
         engine's best move is forcing (a capture, promotion, check, or a threat to win what could not be won before), and whether the \
         opponent has a forcing reply to ours that costs material or mates.\n\n{table}",
        viveka.name,
        percent(errors)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fit::features::Features,
        library::{LabelledMove, LabelledPosition},
    };
    use kibitzer_core::position::parse_fen;

    /// A position whose best move is `best`, all others losing 500 cp.
    fn labelled(fen: &str, best: &str) -> LabelledPosition {
        let position = parse_fen(fen).unwrap();
        let moves = position.legal_moves().into_iter().map(|mv| {
            let score = if crate::network::uci(mv) == best { 500 } else { 0 };
            LabelledMove { mv, score, top: false }
        });
        LabelledPosition {
            opening: "x".into(),
            last: None,
            moves: moves.collect(),
            lines: Vec::new(),
            position,
        }
    }

    fn number_of(labelled: &LabelledPosition, uci: &str) -> usize {
        labelled.moves.iter().position(|m| crate::network::uci(m.mv) == uci).unwrap()
    }

    fn kind(fen: &str, best: &str, chosen: &str) -> Kind {
        let labelled = labelled(fen, best);
        let features = Features::new(&labelled);
        Kind::of(&(&labelled, &features), number_of(&labelled, chosen))
    }

    #[test]
    fn the_term_is_there() {
        assert!(TERMS.iter().any(|term| term.name == THREATENS));
    }

    #[test]
    fn four_kinds_on_hand_made_positions() {
        // Black threatens …Nc2+ with a fork of king and rook.
        let fork = "4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1";
        assert_eq!(kind(fork, "a1d1", "h3h4"), Kind::ForcingReply);
        assert_eq!(kind(fork, "e1e2", "a1d1"), Kind::QuietMove);
        // The rook can also take a pawn on a7.
        let pawn = "4k3/p7/8/8/1n6/7P/8/R3K3 w - - 0 1";
        assert_eq!(kind(pawn, "a1a7", "a1d1"), Kind::MissedWin);
        assert_eq!(kind(pawn, "a1a7", "h3h4"), Kind::Sharp);
        // The rook puts itself where the knight takes it.
        assert_eq!(kind(fork, "a1d1", "a1a2"), Kind::ForcingReply);
    }

    #[test]
    fn bands_sum_to_the_mean_loss_and_kinds_to_the_errors() {
        let labelled = labelled("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "a1d1");
        let features = Features::new(&labelled);
        let rows = [(&labelled, &features), (&labelled, &features)];
        let [best, fork] = ["a1d1", "h3h4"].map(|uci| number_of(&labelled, uci));
        let chooser = Chooser { name: "x".into(), choices: vec![vec![best, fork], vec![fork]] };
        let bands = bands(&rows, &chooser);
        assert_eq!(bands[0], Band { share: 0.25, loss: 0.0 });
        assert_eq!(bands[5], Band { share: 0.75, loss: 375.0 });
        assert_eq!(kinds(&rows, &chooser), [0.0, 0.75, 0.0, 0.0]);
    }
}
