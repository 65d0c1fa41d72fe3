//! Features kept in a file, so that a library's moves are examined once.
//!
//! `features-KEY.safetensors` holds `values` (moves, terms; I16), `drops` (moves; I16, points)
//! and `moves` (positions; U32: how many moves each has). The key is a hash of the positions and
//! of the terms: their names, and the values and drops on a part of the positions, worked out
//! anew at each start, so that a term that counts something else makes another key.
use std::{
    collections::HashMap,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use kibitzer_core::{
    shakmaty::{EnPassantMode, fen::Fen},
    viveka::{TERM_COUNT, TERMS},
};
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use sha2::{Digest as _, Sha256};

use super::features::{self, Features};
use crate::{files, library::LabelledPosition, progress};

/// Positions whose values tell one version of the terms from another, at least; a library that
/// has no more is not worth a file.
const PROBE: usize = 60;

/// Where features are kept.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Cache {
    /// Folder that keeps the terms' values of libraries seen before [default: kibitzer in the
    /// user's cache folder].
    #[arg(long = "cache", value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Cache {
    /// The features of all `positions`: from their file if it is there and whole, else computed
    /// and left there. A default folder that cannot be written costs a warning only.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if a file cannot be written into the folder named.
    pub fn features(&self, positions: &[LabelledPosition]) -> Result<Vec<Features>> {
        let folder = self.folder.clone().or_else(files::cache_folder);
        let Some(folder) = folder.filter(|_| positions.len() > PROBE) else {
            return Ok(compute(positions));
        };
        let key = key(positions);
        let path = folder.join(format!("features-{}.safetensors", &key[..16]));
        match load(&path, &key, positions) {
            Ok(features) => return Ok(features),
            Err(error) if path.exists() => {
                tracing::warn!("{}: {error:#}; computed again", path.display());
            }
            Err(_) => {}
        }
        if self.folder.is_some() {
            files::require_folder(&folder)?;
        }
        let features = compute(positions);
        let kept = files::require_folder(&folder).and_then(|()| save(&path, &key, &features));
        match kept {
            Err(error) if self.folder.is_none() => tracing::warn!("{error:#}"),
            kept => kept?,
        }
        Ok(features)
    }
}

fn compute(positions: &[LabelledPosition]) -> Vec<Features> {
    let bar = progress::bar(positions.len() as u64, "positions");
    let features = features::compute(positions, || bar.inc(1));
    bar.finish_and_clear();
    features
}

/// Hash of the positions and of what the terms make of some of them, in hexadecimal digits.
fn key(positions: &[LabelledPosition]) -> String {
    let mut hash = Sha256::new();
    for labelled in positions {
        let fen = Fen::from_position(&labelled.position, EnPassantMode::Legal);
        hash.update(format!("{fen} {:?} {}\n", labelled.last, labelled.moves.len()));
    }
    for term in &TERMS {
        hash.update(format!("{}\n", term.name));
    }
    let every = positions.len() / PROBE;
    let probe: Vec<Features> = positions.par_iter().step_by(every).map(Features::new).collect();
    for features in &probe {
        hash.update(values_bytes(features));
        hash.update(drops_bytes(features));
    }
    format!("{:x}", hash.finalize())
}

fn values_bytes(features: &Features) -> Vec<u8> {
    features.moves.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
}

fn drops_bytes(features: &Features) -> Vec<u8> {
    features.drops.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Hash of a file's data, which safetensors itself does not check.
fn digest(parts: [&[u8]; 3]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    format!("{:x}", hash.finalize())
}

fn save(path: &Path, key: &str, features: &[Features]) -> Result<()> {
    let values: Vec<u8> = features.iter().flat_map(values_bytes).collect();
    let drops: Vec<u8> = features.iter().flat_map(drops_bytes).collect();
    let counts: Vec<u8> =
        features.iter().flat_map(|f| (f.moves.len() as u32).to_le_bytes()).collect();
    let moves = drops.len() / size_of::<i16>();
    let metadata = HashMap::from([
        ("key".to_string(), key.to_string()),
        ("data".to_string(), digest([&values, &drops, &counts])),
    ]);
    let tensors = [
        ("values", TensorView::new(Dtype::I16, vec![moves, TERM_COUNT], &values)?),
        ("drops", TensorView::new(Dtype::I16, vec![moves], &drops)?),
        ("moves", TensorView::new(Dtype::U32, vec![features.len()], &counts)?),
    ];
    let bytes = safetensors::serialize(tensors, Some(metadata))?;
    files::atomic_write(path, |file| Ok(file.write_all(&bytes)?))
}

/// Reads what [`save`] wrote.
///
/// # Errors
/// If the file is missing, damaged, or not of these positions and terms.
fn load(path: &Path, key: &str, positions: &[LabelledPosition]) -> Result<Vec<Features>> {
    let bytes = std::fs::read(path)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).context("not a safetensors file")?;
    let file = SafeTensors::deserialize(&bytes).context("not a whole safetensors file")?;
    let field = |name: &str| header.metadata().as_ref().and_then(|m| m.get(name));
    ensure!(field("key").is_some_and(|found| found == key), "of other positions or terms");
    let part = |name: &str| file.tensor(name).map(|tensor| tensor.data());
    let (values, drops, counts) = (part("values")?, part("drops")?, part("moves")?);
    let whole = digest([values, drops, counts]);
    ensure!(field("data").is_some_and(|found| *found == whole), "damaged");
    let number = |bytes: &[u8; 2]| i16::from_le_bytes(*bytes);
    let mut rows = values.as_chunks().0.chunks_exact(TERM_COUNT);
    let mut drops = drops.as_chunks().0.iter().map(number);
    let features: Vec<Features> = positions
        .iter()
        .map(|labelled| {
            let moves = rows.by_ref().take(labelled.moves.len());
            Features::of(
                moves.map(|row| std::array::from_fn(|i| number(&row[i]))).collect(),
                drops.by_ref().take(labelled.moves.len()).collect(),
            )
        })
        .collect();
    let whole = positions.iter().zip(&features).all(|(labelled, features)| {
        features.moves.len() == labelled.moves.len() && features.drops.len() == labelled.moves.len()
    });
    ensure!(whole && rows.next().is_none(), "too short or too long");
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::LabelledMove;
    use kibitzer_core::{position::parse_fen, shakmaty::Position as _};

    /// Positions with kings and rooks on many squares, all labels 0.
    fn positions() -> Vec<LabelledPosition> {
        let fens = (0..8).flat_map(|a| {
            (0..8).map(move |b| {
                let row = |at: usize, piece: char| {
                    let mut row = String::new();
                    if at > 0 {
                        row.push_str(&at.to_string());
                    }
                    row.push(piece);
                    if at < 7 {
                        row.push_str(&(7 - at).to_string());
                    }
                    row
                };
                format!("4k3/8/{}/8/8/{}/8/4K3 w - - 0 1", row(a, 'r'), row(b, 'N'))
            })
        });
        fens.map(|fen| {
            let position = parse_fen(&fen).unwrap();
            let moves = position.legal_moves();
            let moves = moves.into_iter().map(|mv| LabelledMove { mv, score: 0, top: false });
            LabelledPosition {
                opening: "x".into(),
                moves: moves.collect(),
                position,
                last: None,
                lines: Vec::new(),
            }
        })
        .collect()
    }

    #[test]
    fn what_was_kept_is_found_and_what_is_damaged_is_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let positions = positions();
        let kept = || -> Vec<PathBuf> {
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let cache = Cache { folder: Some(folder.path().to_owned()) };
        let first = cache.features(&positions).unwrap();
        assert_eq!(first, features::compute(&positions, || ()));
        let [path] = &kept()[..] else { panic!("one file") };
        let whole = std::fs::read(path).unwrap();
        // A value no term has, in a file that is otherwise right, proves that the file is read.
        let key = key(&positions);
        let mut marked = first.clone();
        marked[0].moves[0][0] = 1_234;
        save(path, &key, &marked).unwrap();
        assert_eq!(cache.features(&positions).unwrap(), marked);
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        for bytes in [&whole[..whole.len() / 2], &damaged, b"", b"PK"] {
            std::fs::write(path, bytes).unwrap();
            assert_eq!(cache.features(&positions).unwrap(), first);
            assert_eq!(std::fs::read(path).unwrap().len(), whole.len());
        }
        // Other positions have a file of their own.
        let others = cache.features(&positions[1..]).unwrap();
        assert_eq!(others, first[1..]);
        assert_eq!(kept().len(), 2);
    }
}
