//! What rescales sums on the way to the next product, as assembly and vectors read it.
use crate::net::infer::arithmetic::Shift;

/// A rescaling by more than 32 bits: `(x << left) · multiplier`, of which the upper word and the
/// half are shifted.
///
/// On x86-64 there is one only where the processor has 512 bits and VNNI.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Rescaling {
    pub(super) multiplier: i32,
    pub(super) left: u32,
    pub(super) half: i32,
    pub(super) right: u32,
}

impl Rescaling {
    /// One that changes no number of at most [`Rescaling::KEPT`] in magnitude.
    #[cfg(kernels = "dsp")]
    pub const KEEP: Rescaling = Rescaling { multiplier: 1 << 30, left: 11, half: 1 << 8, right: 9 };
    #[cfg(kernels = "dsp")]
    pub const KEPT: i32 = 1 << 19;

    /// Of numbers below 2^(31 − `room`) in magnitude; `None` where too few bits go.
    pub fn new(multiplier: i32, shift: Shift, room: u32) -> Option<Rescaling> {
        #[cfg(kernels = "x86")]
        if !super::x86::has_steps() {
            return None;
        }
        let (left, shift) = shift.widened(room);
        match shift.bits() {
            bits @ 33.. => {
                Some(Rescaling { multiplier, left, half: 1 << (bits - 33), right: bits - 32 })
            }
            _ => None,
        }
    }

    /// The same by another multiplier.
    #[cfg(kernels = "x86")]
    pub const fn with_multiplier(self, multiplier: i32) -> Rescaling {
        Rescaling { multiplier, ..self }
    }
}
