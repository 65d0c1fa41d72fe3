//! What engines say of moves that the board's coach colours: `cargo run --release -p kibitzer-tests
//! --example grades -- LIBRARY.jsonl.zst [NET.kbz]`.
use std::io::{BufRead as _, BufReader};

use anyhow::{Context as _, Result};
use kibitzer_core::coach::{Coach, Grade, Mind};
use kibitzer_core::net::{Aligned, Evaluation, Model};
use kibitzer_core::position::parse_fen;
use kibitzer_core::shakmaty::{Position as _, Square, uci::UciMove};
use kibitzer_core::viveka::{FITTED, LastMove};
use serde_json::Value;

/// The largest network that is read, in bytes.
const MAX_NET: usize = 4 << 20;

/// An engine's centipawns; mates count as ten thousand.
fn centipawns(score: &Value) -> i64 {
    let mate = |text: &str| if text.starts_with("m-") { -10_000 } else { 10_000 };
    score.as_i64().unwrap_or_else(|| score.as_str().map_or(0, mate))
}

/// What engines say of the moves of one colour.
#[derive(Default)]
struct Colour {
    moves: u64,
    loss: i64,
    over_100: u64,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().context("which library?")?;
    let mut file = Box::new(Aligned([0; MAX_NET]));
    let net = arguments.next().map(std::fs::read).transpose()?;
    let model = match &net {
        Some(bytes) => {
            let place = file.0.get_mut(..bytes.len()).context("the network is too large")?;
            place.copy_from_slice(bytes);
            Some(Model::parse(place).map_err(|error| anyhow::anyhow!("{error}"))?)
        }
        None => None,
    };
    let mut scratch = vec![0; model.as_ref().map_or(0, Model::scratch_bytes)];
    let mut colours: [Colour; 4] = Default::default();
    let mut warnings = [(0u64, 0u64); 4];
    // For the slope of losses over nats.
    let (mut products, mut squares) = (0.0, 0.0);
    for line in BufReader::new(zstd::Decoder::new(std::fs::File::open(path)?)?).lines() {
        let entry: Value = serde_json::from_str(&line?)?;
        let fen = entry["fen"].as_str().context("fen")?;
        let position = parse_fen(fen).map_err(anyhow::Error::msg)?;
        let last = entry["last"].as_str().and_then(|uci| uci.parse::<UciMove>().ok());
        let last = last.as_ref().and_then(LastMove::from_uci);
        let mut mind =
            Mind { weights: &FITTED, net: model.as_ref().map(|model| (model, &mut scratch[..])) };
        let mut coach = Coach::new();
        coach.think(&position, last, &mut mind, &mut || ());
        let mut evaluation = Evaluation::default();
        if let Some(model) = &model {
            let done = model.evaluate_into(&mut evaluation, &position, &mut scratch);
            done.map_err(|error| anyhow::anyhow!("{error}"))?;
        }
        let deep: Vec<(&str, i64)> = entry["top"]
            .as_array()
            .context("top")?
            .iter()
            .map(|row| (row[0].as_str().unwrap_or(""), centipawns(&row[1])))
            .collect();
        let (best, third) = (deep[0].1, deep[deep.len() - 1].1);
        let label = |uci: &str| {
            let shallow = entry["all"].as_array()?.iter().find(|row| row[0] == uci)?;
            let deep = deep.iter().find(|row| row.0 == uci).map(|row| row.1);
            Some(deep.unwrap_or_else(|| centipawns(&shallow[1]).min(third)))
        };
        for square in Square::ALL {
            if !position.us().contains(square) {
                continue;
            }
            for graded in coach.grade(&position, last, square, &FITTED) {
                let uci = kibitzer_core::board::uci(graded.mv).to_string();
                let Some(label) = label(&uci) else { continue };
                let loss = (best - label).clamp(0, 1_000);
                let place =
                    Grade::THRESHOLDS.iter().position(|row| row.0 == Grade::of(graded.loss));
                let warned = coach.review(&position, last, graded.mv, &FITTED).is_some();
                let bin =
                    usize::from(loss > 30) + usize::from(loss > 100) + usize::from(loss > 300);
                warnings[bin].0 += u64::from(warned);
                warnings[bin].1 += 1;
                let colour = &mut colours[place.context("a grade")?];
                colour.moves += 1;
                colour.loss += loss;
                colour.over_100 += u64::from(loss > 100);
                let scored = evaluation.moves();
                if let (Some(first), Some(own)) =
                    (scored.first(), scored.iter().find(|scored| scored.mv == graded.mv))
                {
                    let nats =
                        f64::from(first.logit - own.logit) / f64::from(Evaluation::LOGIT_ONE);
                    products += nats * loss as f64;
                    squares += nats * nats;
                }
            }
        }
    }
    for ((grade, most), colour) in Grade::THRESHOLDS.iter().zip(&colours) {
        let count = colour.moves.max(1) as f64;
        println!(
            "{grade:?} (up to {most}): {} moves, mean loss {:.0} cp, {:.1} % lose over 100",
            colour.moves,
            colour.loss as f64 / count,
            100.0 * colour.over_100 as f64 / count
        );
    }
    for ((warned, all), bin) in warnings.iter().zip(["up to 30", "to 100", "to 300", "more"]) {
        println!("moves that lose {bin}: {warned} of {all} warned of");
    }
    if squares > 0.0 {
        println!("a nat is {:.1} cp", products / squares);
    }
    Ok(())
}
