//! `kibitzer analyse`: what Viveka and a network say of a position.
mod board;
mod report;
mod text;

use std::{
    io::{self, BufRead as _, BufWriter, Write},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::{
    position::parse_fen,
    shakmaty::Chess,
    viveka::{FITTED, LastMove, Weights},
};
use report::Report;

use crate::{device::Device, error::UserError, fit::weights, model::Choice, network::Network};

/// Say what Viveka and a network think of a position.
#[derive(Debug, clap::Args)]
pub struct Analyse {
    /// The position; without it, each line of standard input is one, apart from empty lines and
    /// those that start with #.
    fen: Option<String>,
    /// The opponent's last move in UCI; some terms ask what it was.
    #[arg(long, value_name = "UCI", requires = "fen", conflicts_with = "board")]
    last: Option<String>,
    /// A network: a .kbz, a model.safetensors, a checkpoint or a run's folder.
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// Viveka's weights to use instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print one JSON object a position.
    #[arg(long, conflicts_with = "board")]
    json: bool,
    /// Print the lines that a chessboard's firmware prints; a network must then be a .kbz.
    #[arg(long)]
    board: bool,
    /// Where a network in floating point computes.
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    device: Device,
}

impl Analyse {
    /// Analyses and prints.
    ///
    /// # Errors
    /// [`UserError`] for a broken FEN, wrong weights or a wrong model.
    pub fn run(self) -> Result<()> {
        let weights = match &self.weights {
            Some(path) => weights::load(path)?.1,
            None => FITTED.clone(),
        };
        let mut out = BufWriter::new(io::stdout().lock());
        if self.board {
            board::answer(&weights, self.model.as_deref(), self.fens(), &mut out)?;
        } else {
            self.report(&weights, &mut out)?;
        }
        Ok(out.flush()?)
    }

    fn report(&self, weights: &Weights, out: &mut impl Write) -> Result<()> {
        let mut network = match &self.model {
            Some(path) => Some(Network::choose(path, self.choice, self.device, 1)?),
            None => None,
        };
        let last = self.last()?;
        let mut reports = 0;
        for fen in self.fens() {
            let (place, fen) = fen?;
            let fen = String::from_utf8_lossy(&fen);
            if self.fen.is_none() && is_comment(&fen) {
                continue;
            }
            let position = read(&fen, &place)?;
            let net = network.as_mut().map(|network| network.answer(&position)).transpose()?;
            let report = Report::new(&position, last, weights, net);
            if self.json {
                serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
                writeln!(out)?;
            } else {
                let space = if reports > 0 { "\n" } else { "" };
                writeln!(out, "{space}position  {}", fen.trim())?;
                text::print(&report, &position, out)?;
            }
            reports += 1;
            out.flush()?;
        }
        Ok(())
    }

    /// The given FEN, or the lines of standard input; each with where it stands.
    fn fens(&self) -> Box<dyn Iterator<Item = Result<(String, Vec<u8>)>> + '_> {
        if let Some(fen) = &self.fen {
            return Box::new([Ok(("the FEN".to_owned(), fen.clone().into_bytes()))].into_iter());
        }
        // Bytes, not text: the board answers any line, and so must its image on the host.
        Box::new(io::stdin().lock().split(b'\n').enumerate().map(|(number, line)| {
            let place = format!("standard input line {}", number + 1);
            match line {
                Ok(line) => Ok((place, line)),
                Err(error) => Err(UserError::new(error, place, "give lines of text").into()),
            }
        }))
    }

    /// The opponent's last move, if one is given.
    fn last(&self) -> Result<Option<LastMove>> {
        let Some(last) = &self.last else { return Ok(None) };
        let squares = last.parse().ok().and_then(|uci| LastMove::from_uci(&uci));
        Ok(Some(squares.ok_or_else(|| {
            let what = format!("{last} is not a UCI move");
            UserError::new(what, "--last", "write the opponent's last move as in e7e5")
        })?))
    }
}

/// Whether a line of input holds no position on purpose.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn read(fen: &str, place: &str) -> Result<Chess, UserError> {
    parse_fen(fen).map_err(|error| {
        let text = error.to_string();
        let (what, mend) = text.split_once("; ").unwrap_or((&text, "give a FEN"));
        UserError::new(what, format_args!("{place} \"{fen}\""), mend)
    })
}
