//! Chooses the board by the target, or the chip by its feature; hands the linker its memory map and
//! the program its network's path and how much RAM its inference takes.
use std::path::{Path, PathBuf};
use std::{env, fs};

use kibitzer_core::net::Model;

/// The network in flash when `KIBITZER_NET` names no other.
const DEFAULT_NET: &str = "../fixtures/demo.kbz";
/// Chips that have a feature and a memory map of their own.
const CHIPS: [&str; 2] = ["rp2040", "stm32f405"];
/// Bytes of the largest network for which an STM32F405 has room beside the program.
const SMALL_NET: u64 = 768 * 1024;
/// Bytes of the largest for which the tightly coupled memory of the Cortex-M55's board has.
const COUPLED_NET: u64 = 384 * 1024;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));

    let target = env::var("TARGET").expect("cargo sets it");
    let board = chip().unwrap_or_else(|| board(&target));
    println!(
        "cargo::rustc-check-cfg=cfg(board, values(\"an505\", \"mps2\", \"mps3\", \"virt\", \"rp2040\", \"stm32f405\"))"
    );
    println!("cargo::rustc-cfg=board=\"{board}\"");
    let named = env::var_os("KIBITZER_NET").unwrap_or_else(|| DEFAULT_NET.into());
    // A relative path is taken from this crate's folder, whatever the compiler's folder is.
    let net = root.join(&named);
    println!("cargo::rerun-if-env-changed=KIBITZER_NET");
    println!("cargo::rerun-if-changed={}", net.display());
    println!("cargo::rustc-env=KIBITZER_NET_PATH={}", net.display());

    let (bytes, scratch) = match measure(&net) {
        Ok(both) => both,
        // cargo ends the build after this.
        Err(why) => return println!("cargo::error=the network {}: {why}", net.display()),
    };
    println!("cargo::rustc-env=KIBITZER_NET_SCRATCH={scratch}");
    let map = match board {
        "mps2" if bytes > SMALL_NET => "mps2-large",
        "mps3" if bytes > COUPLED_NET => "mps3-large",
        _ => board,
    };
    println!("cargo::rustc-check-cfg=cfg(net_in_ddr)");
    if map == "mps3-large" {
        println!("cargo::rustc-cfg=net_in_ddr");
    }
    println!("cargo::rustc-check-cfg=cfg(smallest)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "z") {
        println!("cargo::rustc-cfg=smallest");
    }
    let map = root.join("memory").join(map).with_extension("x");
    println!("cargo::rerun-if-changed={}", map.display());
    fs::copy(map, out.join("memory.x")).expect("OUT_DIR is writable");
    println!("cargo::rustc-link-search={}", out.display());
    if env::var_os("CARGO_FEATURE_LOGGING").is_some() {
        // Where the texts of defmt's messages lie.
        println!("cargo::rustc-link-arg-bin=logging=-Tdefmt.x");
    }
}

/// Bytes of the network's file, and of the RAM that its inference takes; or why it is none.
fn measure(net: &Path) -> Result<(u64, usize), String> {
    let file = fs::read(net).map_err(|error| error.to_string())?;
    let model = Model::parse(&file).map_err(|error| error.to_string())?;
    Ok((file.len() as u64, model.scratch_bytes()))
}

/// The chip whose feature is on.
fn chip() -> Option<&'static str> {
    let mut chips = CHIPS
        .into_iter()
        .filter(|chip| env::var_os(format!("CARGO_FEATURE_{}", chip.to_uppercase())).is_some());
    let chip = chips.next();
    assert!(chips.next().is_none(), "one chip at a time: the features of several are on");
    chip
}

/// The kind of board that QEMU has for a target: its memory map, and which UARTs lie where.
fn board(target: &str) -> &'static str {
    match target.split('.').next().unwrap_or(target) {
        "thumbv8m" if env::var_os("CARGO_FEATURE_AN505").is_some() => "an505",
        "thumbv8m" => "mps3",
        arm if arm.starts_with("thumb") => "mps2",
        _ => "virt",
    }
}
