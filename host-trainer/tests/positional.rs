//! The positional fit on the fixture's lines.
mod common;

use std::path::Path;

use common::fixture;
use kibitzer_core::viveka::positional::FITTED;
use kibitzer_trainer::{
    fit::{
        openings,
        texel::{self, quiet, variance},
    },
    library::{self, LabelledPosition},
};

/// Every `step`-th position of the fixture.
fn positions(step: usize) -> Vec<LabelledPosition> {
    library::read(Path::new(&fixture("library.jsonl.zst")))
        .unwrap()
        .into_iter()
        .step_by(step)
        .collect()
}

#[test]
fn the_features_explain_more_than_material_on_openings_held_out() {
    let positions = positions(6);
    let split = openings::split(&openings::names(positions.iter()), 14, 1).unwrap();
    let fit = texel::fit(&positions, &split).unwrap();
    for parts in [&fit.cross_validated, &fit.held_out] {
        let names: Vec<&str> = parts.iter().map(|e| e.part.as_str()).collect();
        assert_eq!(names, ["all", "opening", "middlegame", "endgame"]);
        let counts: Vec<usize> = parts.iter().map(|e| e.positions).collect();
        assert_eq!(counts[0], counts[1] + counts[2] + counts[3]);
        // A sixth of the library; all of it gives more.
        assert!(parts[0].features > parts[0].material_scaled + 0.05, "{:?}", parts[0]);
        assert!(parts[0].features > 0.6 && parts[0].se > 0.0, "{:?}", parts[0]);
    }
    let quiet = quiet::collect(&positions);
    assert_eq!(quiet.len(), fit.positions + fit.held_out[0].positions, "each is on one side");
    let again = texel::fit(&positions, &split).unwrap();
    assert_eq!(again.weights, fit.weights, "a fit is repeatable");
}

/// A table left behind by a change of the features would not.
#[test]
fn the_built_in_weights_fit_the_features() {
    let quiet = quiet::collect(&positions(4));
    let all: Vec<_> = quiet.iter().collect();
    let explained = variance::explained(&variance::Rivals::predict(&all, &FITTED, 1.0));
    assert!(explained[0].features > 0.7, "{:?}", explained[0]);
}

#[test]
fn without_a_quiet_position_there_is_no_fit() {
    let mut positions = positions(12);
    let split = openings::split(&openings::names(positions.iter()), 0, 1).unwrap();
    for line in positions.iter_mut().flat_map(|p| &mut p.lines) {
        line.score = library::MATE;
    }
    assert!(texel::fit(&positions, &split).is_none());
}
