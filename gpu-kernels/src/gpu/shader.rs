//! WGSL text: a kernel's file, the files it draws on, and its sizes as constants above them.
use std::fmt::{self, Write as _};

/// A WGSL file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub name: &'static str,
    text: &'static str,
}

macro_rules! sources {
    ($($constant:ident $name:literal),* $(,)?) => {
        $(pub(super) const $constant: Source = Source {
            name: $name,
            text: include_str!(concat!("wgsl/", $name, ".wgsl")),
        };)*
    };
}

sources! {
    ADAMW "adamw",
    ADD_CONTEXT "add_context",
    ATTENTION "attention",
    ATTENTION_BIAS_GRAD "attention_bias_grad",
    ATTENTION_KEY_GRAD "attention_key_grad",
    ATTENTION_QUERY_GRAD "attention_query_grad",
    ATTENTION_SINGLE "attention_single",
    ATTENTION_SINGLE_GRAD "attention_single_grad",
    BIAS_NONE "bias_none",
    BIAS_SOME "bias_some",
    CLIP "clip",
    COLUMN_SUM "column_sum",
    COMMON "common",
    CONV_SINGLE "conv_single",
    CONV_SINGLE_GRAD "conv_single_grad",
    CONV_SINGLE_WEIGHT_GRAD "conv_single_weight_grad",
    EMBED "embed",
    EMBED_PIECE_GRAD "embed_piece_grad",
    ENTRIES "entries",
    FROM_TO "from_to",
    FROM_TO_GRAD "from_to_grad",
    FROM_TO_PROMOTION_GRAD "from_to_promotion_grad",
    GELU "gelu",
    GEMM "gemm",
    LEGAL_LINEAR "legal_linear",
    LEGAL_LINEAR_GRAD "legal_linear_grad",
    LEGAL_LINEAR_WEIGHT_GRAD "legal_linear_weight_grad",
    LOSS "loss",
    POINTWISE "pointwise",
    POINTWISE_GRAD "pointwise_grad",
    REDUCE "reduce",
    RESIDUAL_NONE "residual_none",
    RESIDUAL_SOME "residual_some",
    RMS_NORM "rms_norm",
    RMS_NORM_GRAD "rms_norm_grad",
    RMS_NORM_WEIGHT_GRAD "rms_norm_weight_grad",
    SCAN_COMMON "scan_common",
    SCAN_SINGLE "scan_single",
    SCAN_SINGLE_BC_GRAD "scan_single_bc_grad",
    SCAN_SINGLE_GATE_GRAD "scan_single_gate_grad",
    SCAN_SINGLE_GRAD "scan_single_grad",
    SCAN_SINGLE_SKIP_GRAD "scan_single_skip_grad",
    SCORE_BIAS_NONE "score_bias_none",
    SCORE_BIAS_SOME "score_bias_some",
    SQUARE_NORM "square_norm",
    SQUARE_SPREAD "square_spread",
    SQUARE_SUM "square_sum",
    SUM256 "sum256",
    SUM64 "sum64",
    SUMMARY "summary",
    SWIGLU "swiglu",
    SWIGLU_GRAD "swiglu_grad",
    TALLY "tally",
    TANH "tanh",
}

/// A constant of a shader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Constant {
    U32(usize),
    F32(f32),
    Bool(bool),
}

impl From<usize> for Constant {
    fn from(value: usize) -> Constant {
        Constant::U32(value)
    }
}

impl From<f32> for Constant {
    fn from(value: f32) -> Constant {
        Constant::F32(value)
    }
}

impl From<bool> for Constant {
    fn from(value: bool) -> Constant {
        Constant::Bool(value)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::U32(value) => write!(f, "u32 = {value}u"),
            Constant::F32(value) => write!(f, "f32 = {value:?}"),
            Constant::Bool(value) => write!(f, "bool = {value}"),
        }
    }
}

/// The constants of a shader, as text.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants(String);

impl Constants {
    pub fn set(&mut self, name: &str, value: impl Into<Constant>) {
        writeln!(self.0, "const {name}: {};", value.into()).expect("a String takes any text");
    }

    /// The whole shader.
    pub fn render(&self, sources: &[Source]) -> String {
        let mut text = self.0.clone();
        for source in std::iter::once(&COMMON).chain(sources) {
            text.push_str(source.text);
        }
        text
    }
}
