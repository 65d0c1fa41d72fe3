//! The network in flash, or in DDR memory where it is too large.
//!
//! A section of one's own is `unsafe`, because it might lie where something else does; the memory
//! map gives it a place of its own.
#![allow(unsafe_code)]
use kibitzer_core::net::{Aligned, Model};

/// Bytes of RAM for its inference, as the build script read them from its file.
pub const SCRATCH_BYTES: usize = match usize::from_str_radix(env!("KIBITZER_NET_SCRATCH"), 10) {
    Ok(bytes) => bytes,
    Err(_) => panic!("the build script writes a number"),
};

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
/// If the flash holds other bytes than were built in: the build script refuses a file that is no
/// network.
pub fn open() -> Model<'static> {
    Model::parse(file()).unwrap_or_else(|error| panic!("the network in flash: {error}"))
}
