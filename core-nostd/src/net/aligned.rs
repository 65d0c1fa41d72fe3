//! Where a model file lies in flash.

/// Bytes at a multiple of 16, the alignment that the sections of a model file have:
/// `static NET: &Aligned<[u8]> = &Aligned(*include_bytes!("net.kbz"));`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Aligned<T: ?Sized>(pub T);
