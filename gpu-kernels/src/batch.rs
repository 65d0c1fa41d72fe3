use std::sync::LazyLock;

use kibitzer_core::{
    inputs::{AUX, SQUARES, TOKENS},
    moves::{MOVES, MoveIndex},
};

use crate::Error;

/// Positions to evaluate or to learn from: `sequences` games' stretches of `length` positions
/// each, N = sequences · length positions in all, those of one sequence adjacent and in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Number of sequences, at least 1.
    pub sequences: usize,
    /// Positions of a sequence, at least 1.
    pub length: usize,
    /// Board tokens `[N, 64]`, each below [`TOKENS`].
    pub tokens: Vec<u8>,
    /// Scalars `[N, 7]`, finite.
    pub aux: Vec<f32>,
    /// Where each position's entries of `legal` start, and where the last one's end: `[N + 1]`.
    pub legal_offsets: Vec<u32>,
    /// Move indices whose logits are wanted, position after position `[E]`; on the board.
    pub legal: Vec<u16>,
    /// Wanted probability of each legal entry `[E]`, adding up to 1 in each position; empty for
    /// evaluation.
    pub target_policy: Vec<f32>,
    /// Wanted value of each position `[N]`, from −1 to 1; empty for evaluation.
    pub target_value: Vec<f32>,
}

impl Batch {
    /// Number of positions N.
    pub const fn positions(&self) -> usize {
        self.sequences * self.length
    }

    /// The entries of `legal` of one position.
    pub fn entries(&self, position: usize) -> std::ops::Range<usize> {
        self.legal_offsets[position] as usize..self.legal_offsets[position + 1] as usize
    }

    /// Checks lengths and values of everything but the targets.
    ///
    /// # Errors
    /// The first part that is wrong.
    pub fn validate(&self) -> Result<(), Error> {
        let n = self.positions();
        if n == 0 {
            return Err(Error::BatchLength { part: "sequences", expected: 1, found: 0 });
        }
        expect_length("tokens", self.tokens.len(), n * SQUARES)?;
        expect_length("aux", self.aux.len(), n * AUX)?;
        expect_length("legal_offsets", self.legal_offsets.len(), n + 1)?;
        self.validate_offsets()?;
        for (i, &token) in self.tokens.iter().enumerate() {
            let expected = "a token is below 13";
            expect("tokens", i / SQUARES, token.into(), usize::from(token) < TOKENS, expected)?;
        }
        for (i, &scalar) in self.aux.iter().enumerate() {
            let expected = "scalars are finite";
            expect("aux", i / AUX, scalar.into(), scalar.is_finite(), expected)?;
        }
        for position in 0..n {
            for &index in &self.legal[self.entries(position)] {
                let on_board = pairs().get(usize::from(index)).is_some_and(Option::is_some);
                let expected = "a move index stays on the board";
                expect("legal", position, index.into(), on_board, expected)?;
            }
        }
        Ok(())
    }

    /// Checks the targets of a batch that passes [`Batch::validate`].
    ///
    /// # Errors
    /// The first part that is wrong.
    pub fn validate_targets(&self) -> Result<(), Error> {
        let n = self.positions();
        expect_length("target_policy", self.target_policy.len(), self.legal.len())?;
        expect_length("target_value", self.target_value.len(), n)?;
        for position in 0..n {
            let targets = &self.target_policy[self.entries(position)];
            let least = targets.iter().copied().fold(0.0, f32::min);
            let expected = "probabilities are not negative";
            expect("target_policy", position, least.into(), least >= 0.0, expected)?;
            let sum = targets.iter().copied().map(f64::from).sum::<f64>();
            let expected = "probabilities add up to 1";
            expect("target_policy", position, sum, (sum - 1.0).abs() < 1e-3, expected)?;
            let value = self.target_value[position];
            let expected = "values lie from -1 to 1";
            expect("target_value", position, value.into(), value.abs() <= 1.0, expected)?;
        }
        Ok(())
    }

    fn validate_offsets(&self) -> Result<(), Error> {
        let first = self.legal_offsets[0];
        expect("legal_offsets", 0, first.into(), first == 0, "the first offset is 0")?;
        for (position, pair) in self.legal_offsets.windows(2).enumerate() {
            let expected = "offsets never decrease";
            expect("legal_offsets", position, pair[1].into(), pair[0] <= pair[1], expected)?;
        }
        expect_length("legal", self.legal.len(), self.legal_offsets[self.positions()] as usize)
    }
}

fn expect_length(part: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::BatchLength { part, expected, found }) }
}

fn expect(
    part: &'static str,
    position: usize,
    value: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::BatchValue { part, position, value, expected }) }
}

/// What the `from_to` policy reads of a move index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Origin square, 0 to 63.
    pub from: u8,
    /// Destination square, 0 to 63.
    pub to: u8,
    /// Underpromotion plane, 0 to 8.
    pub promotion: Option<u8>,
}

/// The squares of every move index; `None` off the board.
pub fn pairs() -> &'static [Option<Pair>; MOVES] {
    static PAIRS: LazyLock<Box<[Option<Pair>; MOVES]>> = LazyLock::new(|| {
        Box::new(std::array::from_fn(|i| {
            let index = MoveIndex::from_usize(i)?;
            Some(Pair {
                from: index.from() as u8,
                to: index.to()? as u8,
                promotion: index.underpromotion().map(|plane| plane as u8),
            })
        }))
    });
    &PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;

    type Defect = (&'static str, fn(&mut Batch));

    fn batch() -> Batch {
        Batch {
            sequences: 2,
            length: 1,
            tokens: vec![0; 128],
            aux: vec![0.0; 14],
            legal_offsets: vec![0, 2, 3],
            legal: vec![0, 1, 73],
            target_policy: vec![0.25, 0.75, 1.0],
            target_value: vec![-1.0, 0.5],
        }
    }

    #[test]
    fn a_sound_batch_passes() {
        batch().validate().unwrap();
        batch().validate_targets().unwrap();
    }

    #[test]
    fn every_defect_is_named() {
        let defects: [Defect; 10] = [
            ("sequences", |b| b.sequences = 0),
            ("tokens", |b| b.tokens[70] = 13),
            ("tokens", |b| b.tokens.truncate(127)),
            ("aux", |b| b.aux[3] = f32::NAN),
            ("aux", |b| b.aux.push(0.0)),
            ("legal_offsets", |b| b.legal_offsets[0] = 1),
            ("legal_offsets", |b| b.legal_offsets = vec![0, 4, 3]),
            ("legal", |b| b.legal.truncate(2)),
            ("legal", |b| b.legal[1] = MOVES as u16),
            ("legal", |b| b.legal[0] = 7 * 6), // a1, one square west
        ];
        for (part, spoil) in defects {
            let mut spoilt = batch();
            spoil(&mut spoilt);
            let message = spoilt.validate().unwrap_err().to_string();
            assert!(message.starts_with(&format!("batch: {part}")), "{message}");
        }
    }

    #[test]
    fn every_defect_of_a_target_is_named() {
        let defects: [Defect; 6] = [
            ("target_policy", |b| b.target_policy.clear()),
            ("target_policy", |b| b.target_policy[2] = 0.9),
            ("target_policy", |b| b.target_policy[..2].copy_from_slice(&[-0.5, 1.5])),
            ("target_policy", |b| b.target_policy[0] = f32::NAN),
            ("target_value", |b| b.target_value[1] = 1.5),
            ("target_value", |b| b.target_value.clear()),
        ];
        for (part, spoil) in defects {
            let mut spoilt = batch();
            spoil(&mut spoilt);
            let message = spoilt.validate_targets().unwrap_err().to_string();
            assert!(message.starts_with(&format!("batch: {part}")), "{message}");
        }
    }
}
