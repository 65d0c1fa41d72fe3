//! The tail: what large errors cost, and of what kind they are.
use anyhow::Result;
use kibitzer_core::{
    shakmaty::{Chess, Move, Position as _},
    viveka::Weights,
};

use super::{
    answer::{after, answer},
    choices::Chooser,
    figures::{Series, bars},
    page::{NOTHING, Page, Table, number, percent},
};
use crate::{fit::Row, library::LabelledPosition};

/// Upper ends of the bands of losses, in centipawns; the last is the cap.
const BANDS: [i32; 6] = [0, 50, 100, 200, 300, 1000];
/// A larger loss than this, in centipawns, is an error whose kind is told.
const ERROR: i32 = 100;

/// An error by two questions: whether the engine's move was forcing, and whether the answer to
/// ours is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Neither.
    QuietMove,
    /// Only the answer to our move.
    ForcingReply,
    /// Only the engine's move.
    MissedWin,
    /// Both.
    Sharp,
}

const KINDS: [(Kind, &str); 4] = [
    (Kind::QuietMove, "follows a quiet engine move, the answer to ours being quiet too"),
    (Kind::ForcingReply, "walks into a forcing reply"),
    (Kind::MissedWin, "misses a forcing win"),
    (Kind::Sharp, "sharp both ways"),
];

impl Kind {
    /// The kind of choosing move number `i`.
    fn of(labelled: &LabelledPosition, i: usize, weights: &Weights) -> Kind {
        let forcing = engine_s_move(labelled).is_some_and(|mv| is_forcing(&labelled.position, mv));
        let known = engine_s_reply_is_forcing(labelled, i);
        match (forcing, known.unwrap_or_else(|| our_reply_is_forcing(labelled, i, weights))) {
            (false, false) => Kind::QuietMove,
            (false, true) => Kind::ForcingReply,
            (true, false) => Kind::MissedWin,
            (true, true) => Kind::Sharp,
        }
    }
}

/// Whether `mv` is a capture, a promotion or a check.
fn is_forcing(position: &Chess, mv: Move) -> bool {
    mv.is_capture() || mv.is_promotion() || after(position, mv).is_check()
}

/// The first move of the engine's best line, or a best move if there is no line.
fn engine_s_move(labelled: &LabelledPosition) -> Option<Move> {
    let first = labelled.lines.first().and_then(|line| line.moves.first().copied());
    let best = || (0..labelled.moves.len()).find(|&i| labelled.loss(i) == 0);
    first.or_else(|| best().map(|i| labelled.moves[i].mv))
}

/// Whether the engine's reply to move number `i` is forcing; `None` if no line holds it.
fn engine_s_reply_is_forcing(labelled: &LabelledPosition, i: usize) -> Option<bool> {
    let mv = labelled.moves[i].mv;
    labelled.lines.iter().find_map(|line| match line.moves[..] {
        [first, reply, ..] if first == mv => {
            Some(is_forcing(&after(&labelled.position, mv), reply))
        }
        _ => None,
    })
}

/// Whether Viveka's own reply to move number `i` is forcing.
fn our_reply_is_forcing(labelled: &LabelledPosition, i: usize, weights: &Weights) -> bool {
    let mv = labelled.moves[i].mv;
    let replies = answer(&labelled.position, mv, weights).candidates;
    replies.first().is_some_and(|c| is_forcing(&after(&labelled.position, mv), c.mv))
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

/// Errors of one chooser.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Errors {
    /// Share of the positions in which the choice is an error of each of [`KINDS`].
    kinds: [f64; KINDS.len()],
    /// Errors to which the engine's reply is known.
    known: usize,
    /// Of these, those to which Viveka's reply is forcing or quiet like the engine's.
    alike: usize,
}

impl Errors {
    fn of(rows: &[Row], chooser: &Chooser, weights: &Weights) -> Errors {
        let mut errors = Errors::default();
        for ((labelled, _), choices) in rows.iter().zip(&chooser.choices) {
            let weight = 1.0 / (choices.len().max(1) * rows.len()) as f64;
            for &i in choices.iter().filter(|&&i| labelled.loss(i) > ERROR) {
                let kind = Kind::of(labelled, i, weights);
                let place = KINDS.iter().position(|(other, _)| *other == kind);
                place.into_iter().for_each(|place| errors.kinds[place] += weight);
                if let Some(forcing) = engine_s_reply_is_forcing(labelled, i) {
                    let alike = our_reply_is_forcing(labelled, i, weights) == forcing;
                    errors.known += 1;
                    errors.alike += usize::from(alike);
                }
            }
        }
        errors
    }
}

/// Bands of losses of all `choosers`, and the errors of `viveka`, which has these weights.
pub fn section(
    page: &mut Page,
    rows: &[Row],
    choosers: &[Chooser],
    viveka: &Chooser,
    weights: &Weights,
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
    page.add(kinds_table(&viveka.name, &Errors::of(rows, viveka, weights)));
    Ok(())
}

fn kinds_table(name: &str, errors: &Errors) -> String {
    let all: f64 = errors.kinds.iter().sum();
    let mut table = Table::new(["kind of error", "of the errors", "of the positions"]);
    for (share, (_, meaning)) in errors.kinds.iter().zip(KINDS) {
        let of_errors = share / all.max(f64::MIN_POSITIVE);
        table.row([meaning.to_string(), percent(of_errors), percent(*share)]);
    }
    let alike = match errors.known {
        0 => NOTHING.to_string(),
        known => percent(errors.alike as f64 / known as f64),
    };
    format!(
        "The choices of {name} that lose more than {ERROR} cp ({} of the positions), by whether \
         the engine's move is forcing (a capture, promotion or check), and whether the answer to \
         ours is: the engine's where a line holds it, else Viveka's own. Where both are known \
         ({} errors) they are forcing or quiet alike in {alike}.\n\n{table}",
        percent(all),
        errors.known
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fit::features::Features,
        library::{LabelledMove, Line},
    };
    use kibitzer_core::{position::parse_fen, viveka::FITTED};

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
        Kind::of(&labelled, number_of(&labelled, chosen), &FITTED)
    }

    const FORK: &str = "4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1";

    #[test]
    fn four_kinds_on_hand_made_positions() {
        assert_eq!(kind("4k3/7p/8/8/8/7P/8/4K3 w - - 0 1", "e1e2", "h3h4"), Kind::QuietMove);
        // …Nc2+ forks king and rook.
        assert_eq!(kind(FORK, "a1d1", "h3h4"), Kind::ForcingReply);
        // The rook can take a pawn on a7.
        assert_eq!(kind("4k3/p7/8/8/8/7P/8/R3K3 w - - 0 1", "a1a7", "a1d1"), Kind::MissedWin);
        assert_eq!(kind("4k3/p7/8/8/1n6/7P/8/R3K3 w - - 0 1", "a1a7", "h3h4"), Kind::Sharp);
    }

    #[test]
    fn the_engine_s_reply_decides_where_it_is_known() {
        let mut labelled = labelled(FORK, "a1d1");
        let chosen = number_of(&labelled, "h3h4");
        assert_eq!(engine_s_reply_is_forcing(&labelled, chosen), None);
        let mv = labelled.moves[chosen].mv;
        let replies = after(&labelled.position, mv).legal_moves();
        let quiet = replies.into_iter().find(|&r| crate::network::uci(r) == "e8e7").unwrap();
        labelled.lines = vec![Line { score: 0, moves: vec![mv, quiet] }];
        assert_eq!(engine_s_reply_is_forcing(&labelled, chosen), Some(false));
        let features = Features::new(&labelled);
        let chooser = Chooser { name: "x".into(), choices: vec![vec![chosen]] };
        let errors = Errors::of(&[(&labelled, &features)], &chooser, &FITTED);
        assert_eq!((errors.known, errors.alike), (1, 0), "Viveka forks");
    }

    #[test]
    fn bands_sum_to_the_mean_loss_and_kinds_to_the_errors() {
        let labelled = labelled(FORK, "a1d1");
        let features = Features::new(&labelled);
        let rows = [(&labelled, &features), (&labelled, &features)];
        let [best, fork] = ["a1d1", "h3h4"].map(|uci| number_of(&labelled, uci));
        let chooser = Chooser { name: "x".into(), choices: vec![vec![best, fork], vec![fork]] };
        let bands = bands(&rows, &chooser);
        assert_eq!(bands[0], Band { share: 0.25, loss: 0.0 });
        assert_eq!(bands[5], Band { share: 0.75, loss: 375.0 });
        let errors = Errors::of(&rows, &chooser, &FITTED);
        assert_eq!(errors, Errors { kinds: [0.0, 0.75, 0.0, 0.0], known: 0, alike: 0 });
    }
}
