//! What this machine's network answers: FEN lines in, a digest a line out, as a board prints them.
//!
//! `digest NET.kbz < POSITIONS.fen`
use std::error::Error;
use std::io::{self, BufRead as _};
use std::{env, fs};

use kibitzer_core::board;
use kibitzer_core::net::{Model, scratch_bytes};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the network's file")?;
    let bytes = fs::read(path)?;
    let model = Model::parse(&bytes)?;
    let mut scratch = vec![0; scratch_bytes(model.config())];
    for line in io::stdin().lock().split(b'\n') {
        let mut answer = String::new();
        board::digest(&model, &line?, &mut scratch, &mut answer)?;
        print!("{answer}");
    }
    Ok(())
}
