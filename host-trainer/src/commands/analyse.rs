//! `kibitzer analyse`: what Viveka and a network say of a position.
use std::{
    io::{self, BufRead as _, Write},
    path::PathBuf,
};

use anyhow::Result;
use kibitzer_core::{position::parse_fen, shakmaty::Chess};
use serde::Serialize;

use crate::{
    device::Device,
    error::UserError,
    network::{Answer, Network},
};

/// Moves of the network that the text shows.
const SHOWN: usize = 5;

/// Say what Viveka and a network think of a position.
#[derive(Debug, clap::Args)]
pub struct Analyse {
    /// The position; without it, each line of standard input is one.
    fen: Option<String>,
    /// A network: a model.safetensors, a checkpoint or a run's folder.
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Print one JSON object a position.
    #[arg(long)]
    json: bool,
    /// Where the network computes.
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    device: Device,
}

/// Everything said of one position.
#[derive(Debug, Serialize)]
struct Analysis {
    #[serde(skip_serializing_if = "Option::is_none")]
    net: Option<Answer>,
}

impl Analyse {
    /// Analyses and prints.
    ///
    /// # Errors
    /// [`UserError`] for a broken FEN or a wrong model.
    pub fn run(self) -> Result<()> {
        let mut network = match &self.model {
            Some(path) => Some(Network::open(path, self.device, 1)?),
            None => None,
        };
        let mut out = io::stdout().lock();
        if let Some(fen) = &self.fen {
            let position = read(fen, "the FEN")?;
            return self.analyse(&position, network.as_mut(), &mut out);
        }
        for (number, line) in io::stdin().lock().lines().enumerate() {
            let place = format!("standard input line {}", number + 1);
            let line = line.map_err(|error| UserError::new(error, &place, "give text"))?;
            let position = read(&line, &place)?;
            self.analyse(&position, network.as_mut(), &mut out)?;
        }
        Ok(())
    }

    fn analyse(
        &self,
        position: &Chess,
        network: Option<&mut Network>,
        out: &mut impl Write,
    ) -> Result<()> {
        let net = network.map(|network| network.answer(position)).transpose()?;
        let analysis = Analysis { net };
        if self.json {
            serde_json::to_writer(&mut *out, &analysis).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        if let Some(net) = &analysis.net {
            write_net(net, out)?;
        }
        Ok(())
    }
}

fn read(fen: &str, place: &str) -> Result<Chess, UserError> {
    parse_fen(fen).map_err(|error| {
        let text = error.to_string();
        let (what, mend) = text.split_once("; ").unwrap_or((&text, "give a FEN"));
        UserError::new(what, format_args!("{place} \"{fen}\""), mend)
    })
}

fn write_net(net: &Answer, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "network: value {:+.3}", net.value)?;
    for likely in net.moves.iter().take(SHOWN) {
        let mv = crate::network::uci(likely.mv);
        writeln!(out, "  {mv:<5} {:5.1} %", 100.0 * likely.probability)?;
    }
    Ok(())
}
