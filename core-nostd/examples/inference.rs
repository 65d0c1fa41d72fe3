//! The digest of this machine's answer to the initial position, as a board prints it:
//! `inference NET.kbz`.
use std::error::Error;
use std::{env, fs};

use kibitzer_core::net::Model;
use kibitzer_core::net::infer::self_test::{FIRST_MOVES, score_first_moves};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the network's file")?;
    let bytes = fs::read(path)?;
    let model = Model::parse(&bytes)?;
    let mut scratch = vec![0; model.scratch_bytes()];
    let digest = score_first_moves(&model, &mut [0; FIRST_MOVES], &mut scratch)?;
    println!("digest {digest:016x}");
    Ok(())
}
