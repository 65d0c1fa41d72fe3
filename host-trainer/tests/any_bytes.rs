//! What must hold of any bytes that are read as weights, of bytes near good ones and of those that
//! fuzzing found worth keeping (`docs/fuzzing.md`).
mod properties;

use std::{fs, path::Path};

use proptest::{prelude::*, sample::Index};

/// The contents of the files that are committed for a fuzz target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = files.map(|file| file.expect("readable").path());
    let contents: Vec<_> = paths.map(|path| fs::read(path).expect("readable")).collect();
    assert!(!contents.is_empty(), "{}", folder.display());
    contents
}

/// One of the committed files, some of its bytes replaced, perhaps cut.
fn nearby(target: &str) -> impl Strategy<Value = Vec<u8>> {
    let corpus = corpus(target);
    let other = prop_oneof![3 => prop::sample::select(b"0123456789-eE.,:[]{}\"".to_vec()), 1 => any::<u8>()];
    let edits = prop::collection::vec((any::<Index>(), other), 0..4);
    (any::<Index>(), edits, prop::option::weighted(0.1, any::<Index>())).prop_map(
        move |(which, edits, cut)| {
            let mut bytes = which.get(&corpus).clone();
            for (place, other) in edits.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let place = place.index(bytes.len());
                bytes[place] = *other;
            }
            bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len() + 1)));
            bytes
        },
    )
}

#[test]
fn what_fuzzing_kept_holds() {
    for bytes in corpus("viveka") {
        properties::of_viveka_json(&String::from_utf8_lossy(&bytes));
    }
    corpus("safetensors").iter().for_each(|bytes| properties::of_safetensors(bytes));
}

proptest! {
    #[test]
    fn weights_near_good_ones_are_read_or_refused(bytes in nearby("viveka")) {
        properties::of_viveka_json(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn networks_near_good_ones_are_read_or_refused(bytes in nearby("safetensors")) {
        properties::of_safetensors(&bytes);
    }
}
