//! What rescales sums on the way to the next product, as assembly and vectors read it.
#[cfg(not(kernels = "armv6m"))]
use crate::inputs::SQUARES;
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
}

/// What makes binary exponents of a query's scores.
#[cfg(kernels = "dsp")]
#[derive(Debug)]
pub struct Exponents<'a> {
    /// A bias for each key.
    pub biases: &'a [i8; SQUARES],
    pub score: Rescaling,
    pub bias: Rescaling,
}

#[cfg(kernels = "dsp")]
impl Exponents<'static> {
    /// Without biases.
    pub const fn of_scores(score: Rescaling) -> Self {
        let nothing = Rescaling { multiplier: 0, left: 0, half: 1, right: 1 };
        Exponents { biases: &[0; SQUARES], score, bias: nothing }
    }
}

/// Of every key a number for each query.
#[cfg(kernels = "x86")]
pub type AllNumbers = [[i32; SQUARES]; SQUARES];

/// Of every two keys a word for each query, whose halves are their probabilities.
#[cfg(kernels = "x86")]
pub type AllProbabilities = [[u32; SQUARES]; SQUARES / 2];

/// What makes binary exponents of all queries' scores.
#[cfg(kernels = "x86")]
#[derive(Debug)]
pub struct AllExponents<'a> {
    pub score: Rescaling,
    pub biases: Option<AllBiases<'a>>,
}

/// For every query a bias for each key.
#[cfg(kernels = "x86")]
#[derive(Debug, Clone, Copy)]
pub struct AllBiases<'a> {
    pub bytes: &'a [i8; SQUARES * SQUARES],
    /// What rescales them, but for the multiplier.
    pub rescaling: Rescaling,
    /// Every query's, little-endian.
    pub multipliers: &'a [[u8; 4]; SQUARES],
}
