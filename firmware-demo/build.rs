//! Hands the linker the board's memory map and the program its network's path.
use std::path::PathBuf;
use std::{env, fs};

/// The network in flash when `KIBITZER_NET` names no other.
const DEFAULT_NET: &str = "../fixtures/demo.kbz";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("memory.x"), include_bytes!("memory.x")).expect("OUT_DIR is writable");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rerun-if-changed=memory.x");

    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let named = env::var_os("KIBITZER_NET").unwrap_or_else(|| DEFAULT_NET.into());
    // A relative path is taken from this crate's folder, whatever the compiler's folder is.
    let net = root.join(&named);
    println!("cargo::rerun-if-env-changed=KIBITZER_NET");
    println!("cargo::rerun-if-changed={}", net.display());
    println!("cargo::rustc-env=KIBITZER_NET_PATH={}", net.display());
}
