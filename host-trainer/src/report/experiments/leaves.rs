//! Learned evaluation at the leaves: play the move, resolve the exchanges, evaluate.
use anyhow::Result;
use kibitzer_core::{
    exchange::exchanges,
    exchange_line::settle,
    shakmaty::{Chess, Move, Position as _},
    viveka::positional::{PositionalWeights, Survey},
};
use rayon::prelude::*;

use super::{Duel, Page, Study};
use crate::{
    judge::best_of,
    library::{LabelledPosition, MATE},
    report::page::{Table, number},
};

/// Value of `mv` in centipawns: the positional evaluation where the exchanges after it end.
fn value(position: &Chess, mv: Move, weights: &PositionalWeights) -> i32 {
    let us = position.turn();
    let mut after = position.clone();
    after.play_unchecked(mv);
    if after.legal_moves().is_empty() {
        return if after.is_check() { MATE } else { 0 };
    }
    let leaf = settle(&after, exchanges(&after));
    let survey = Survey::of(&leaf, us);
    weights.evaluate(&survey.values(), survey.phase())
}

fn choose(labelled: &LabelledPosition, weights: &PositionalWeights) -> Vec<usize> {
    let values: Vec<i32> =
        labelled.moves.iter().map(|m| value(&labelled.position, m.mv, weights)).collect();
    best_of(values.into_iter().enumerate())
}

/// Compares the evaluation's choices with the counting score's, among all legal moves of the
/// positions held out.
pub(super) fn section(page: &mut Page, study: &Study) -> Result<()> {
    let weights = study.positional()?.weights;
    let rows = study.held_out_rows();
    let tried: Vec<Vec<usize>> = rows.par_iter().map(|row| choose(row.0, &weights)).collect();
    let rival: Vec<Vec<usize>> = study.examine(&rows).iter().map(|p| p.score()).collect();
    let duel = Duel::new(&rows, &tried, &rival);
    page.part("The positional evaluation at the leaves");
    page.add(format_args!(
        "Play the move, resolve the exchanges, evaluate by the 41 features, choose the best of \
         all legal moves; {} positions held out.",
        rows.len()
    ));
    let mut table = Table::new(["choice by", "mean loss, cp"]);
    table.row(["the 41-feature evaluation".to_string(), number(duel.tried, 1)]);
    table.row(["the counting score".to_string(), number(duel.rival, 1)]);
    page.add(table);
    page.add(duel.verdict());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kibitzer_core::{position::parse_fen, shakmaty::uci::UciMove, viveka::positional::FITTED};

    fn value_of(fen: &str, uci: &str) -> i32 {
        let position = parse_fen(fen).unwrap();
        let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        value(&position, mv, &FITTED)
    }

    #[test]
    fn exchanges_are_resolved_before_the_evaluation() {
        let defended = "4k3/8/4p3/3n4/8/8/8/3RK3 w - - 0 1";
        // The rook for the knight, not the knight for nothing.
        assert!(value_of(defended, "d1d5") < value_of(defended, "d1d4"));
        let loose = "4k3/8/8/3n4/8/8/8/3RK3 w - - 0 1";
        assert!(value_of(loose, "d1d5") > value_of(loose, "d1d4"));
    }

    #[test]
    fn the_game_s_end_counts_as_it_is() {
        assert_eq!(value_of("6k1/5ppp/8/8/8/8/8/3RK3 w - - 0 1", "d1d8"), MATE);
        assert_eq!(value_of("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7"), 0);
    }
}
