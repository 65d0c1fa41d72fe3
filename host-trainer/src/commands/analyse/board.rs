//! `--board`: the very lines that the firmware prints, by the same code.
use std::{fs, io::Write, path::Path};

use anyhow::Result;
use kibitzer_core::{
    board::Board,
    net::{Model, scratch_bytes},
    viveka::Weights,
};

use crate::error::UserError;

/// Answers each FEN as a chessboard does, a broken one too.
///
/// # Errors
/// [`UserError`] if the model is no .kbz; those of `fens` and `out`.
pub fn answer(
    weights: &Weights,
    model: Option<&Path>,
    fens: impl Iterator<Item = Result<(String, Vec<u8>)>>,
    out: &mut impl Write,
) -> Result<()> {
    let bytes = model.map(|path| read(path).map(|bytes| (path, bytes))).transpose()?;
    let model = bytes.as_ref().map(|(path, bytes)| parse(path, bytes)).transpose()?;
    let mut scratch = vec![0; model.as_ref().map_or(0, |model| scratch_bytes(model.config()))];
    let net = model.as_ref().map(|model| (model, scratch.as_mut_slice()));
    let mut board = Board { weights, net };
    let mut text = String::new();
    for fen in fens {
        text.clear();
        board.answer(&fen?.1, &mut text)?;
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, UserError> {
    fs::read(path).map_err(|error| UserError::cannot_read(path, &error))
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Model<'a>, UserError> {
    let mend = "a board's answer needs a .kbz; make it with kibitzer quantize";
    Model::parse(bytes).map_err(|error| UserError::new(error, path.display(), mend))
}
