//! Openings: positions of one opening resemble each other, so they are fitted on together or
//! held out together.
use std::collections::BTreeSet;

use anyhow::Result;
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

use crate::{error::UserError, library::LabelledPosition};

/// Folds of the cross-validation.
pub const FOLDS: usize = 5;

/// The names of the positions' openings, sorted.
pub fn names<'a>(positions: impl IntoIterator<Item = &'a LabelledPosition>) -> Vec<String> {
    let names: BTreeSet<&str> = positions.into_iter().map(|p| p.opening.as_str()).collect();
    names.into_iter().map(String::from).collect()
}

/// Openings to fit on and openings to hold out, each sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Openings whose positions are fitted on.
    pub fitted: Vec<String>,
    /// Openings whose positions are kept apart.
    pub held_out: Vec<String>,
}

/// Holds out `count` openings, drawn by `seed`.
///
/// # Errors
/// [`UserError`] if fewer than [`FOLDS`] openings would remain.
pub fn split(names: &[String], count: usize, seed: u64) -> Result<Split> {
    if names.len() < FOLDS {
        let what = match names.len() {
            1 => "1 opening is too few".to_string(),
            number => format!("{number} openings are too few"),
        };
        let mend = format!("give positions of at least {FOLDS}, for cross-validation by opening");
        return Err(UserError::new(what, "the library", mend).into());
    }
    if names.len() < count.saturating_add(FOLDS) {
        let what = format!("{} openings are too few to hold out {count}", names.len());
        let mend = format!("leave at least {FOLDS} openings to fit on");
        return Err(UserError::new(what, "--hold-out", mend).into());
    }
    let mut shuffled = names.to_vec();
    shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut fitted = shuffled.split_off(count);
    fitted.sort();
    shuffled.sort();
    Ok(Split { fitted, held_out: shuffled })
}

/// The fold of an opening, by its place among the sorted names.
pub fn fold(names: &[String], opening: &str) -> usize {
    names.partition_point(|name| name.as_str() < opening) % FOLDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_names() -> Vec<String> {
        (0..20).map(|i| format!("opening {i:02}")).collect()
    }

    #[test]
    fn a_split_parts_the_openings_and_depends_on_the_seed_alone() {
        let names = some_names();
        let parts = split(&names, 6, 1).unwrap();
        assert_eq!((parts.fitted.len(), parts.held_out.len()), (14, 6));
        let mut all = [parts.fitted.clone(), parts.held_out.clone()].concat();
        all.sort();
        assert_eq!(all, names);
        assert_eq!(split(&names, 6, 1).unwrap(), parts);
        assert_ne!(split(&names, 6, 2).unwrap(), parts);
    }

    #[test]
    fn too_few_openings_are_refused() {
        assert!(split(&some_names(), 16, 1).is_err());
        assert!(split(&some_names(), 15, 1).is_ok());
        let said = |names: &[String]| split(names, 0, 1).unwrap_err().to_string();
        assert!(said(&some_names()[..1]).starts_with("1 opening is too few, the library: "));
        assert!(said(&some_names()[..4]).starts_with("4 openings are too few, the library: "));
    }

    #[test]
    fn every_opening_has_one_fold() {
        let names = some_names();
        let counts = names.iter().fold([0; FOLDS], |mut counts, name| {
            counts[fold(&names, name)] += 1;
            counts
        });
        assert_eq!(counts, [4; FOLDS]);
    }
}
