//! The network in flash, or in DDR memory where it is too large.
//!
//! A section of one's own is `unsafe`, because it might lie where something else does; the memory
//! map gives it a place of its own.
#![allow(unsafe_code)]
use kibitzer_core::net::{Aligned, Model, scratch_bytes};

/// Bytes of RAM for its inference; the demo's network needs less.
pub const SCRATCH_BYTES: usize = 32 * 1024;

#[cfg_attr(net_in_ddr, unsafe(link_section = ".ddr"))]
static NET: Aligned<[u8; BYTES.len()]> = Aligned(*BYTES);
const BYTES: &[u8; include_bytes!(env!("KIBITZER_NET_PATH")).len()] =
    include_bytes!(env!("KIBITZER_NET_PATH"));

/// Its file.
pub fn file() -> &'static [u8] {
    &NET.0
}

/// The network that was built in.
///
/// # Panics
/// If the file is no network or one whose inference wants more RAM: found at the first start,
/// whatever is sent.
pub fn open() -> Model<'static> {
    let net = Model::parse(file()).unwrap_or_else(|error| panic!("the network in flash: {error}"));
    let needed = scratch_bytes(net.config());
    assert!(needed <= SCRATCH_BYTES, "the network needs {needed} bytes of {SCRATCH_BYTES}");
    net
}
