//! What must hold of any bytes that are read as weights: the tests try bytes near good ones, the
//! fuzz targets of `fuzz/` any.
#![allow(dead_code)] // each program uses its own part of it
use std::path::Path;

use kibitzer_trainer::{
    fit::weights,
    model::{read_tensors, write_tensors},
};

/// The name that an error must give.
const PATH: &str = "the-file";

/// A `viveka.json` is refused in one line, or has weights in their ranges.
pub fn of_viveka_json(text: &str) {
    match weights::read(text, Path::new(PATH)) {
        Err(error) => is_one_line(&error.to_string()),
        Ok((file, weights)) => {
            assert_eq!(weights.validate(), Ok(()));
            let again = serde_json::to_string(&file).expect("what was read can be written");
            let (file_again, weights_again) = weights::read(&again, Path::new(PATH)).expect("good");
            assert_eq!((file_again, weights_again), (file, weights));
        }
    }
}

/// A `model.safetensors` is refused in one line, or written again is the same network.
pub fn of_safetensors(bytes: &[u8]) {
    match read_tensors(bytes, Path::new(PATH), &[""]) {
        Err(error) => is_one_line(&error.to_string()),
        Ok((config, parts)) => {
            let mut again = Vec::new();
            write_tensors(&mut again, &config, &[("", &parts[0])]).expect("memory takes all");
            let read = read_tensors(&again, Path::new(PATH), &[""]).expect("just written");
            assert_eq!(read, (config, parts));
        }
    }
}

fn is_one_line(error: &str) {
    assert!(error.contains(PATH) && error.lines().count() == 1, "{error:?}");
}
