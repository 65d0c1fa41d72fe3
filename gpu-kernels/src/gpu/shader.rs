//! WGSL text: a kernel's file, the files it draws on, and its sizes as constants above them.
use std::fmt;

use super::plan::{Binding, Element, Packing};

/// A WGSL file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub name: &'static str,
    pub text: &'static str,
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
    AVERAGE "average",
    ADD_CONTEXT "add_context",
    ATTENTION "attention",
    ATTENTION_BIAS_GRAD "attention_bias_grad",
    ATTENTION_COMMON "attention_common",
    ATTENTION_KEY_GRAD "attention_key_grad",
    ATTENTION_KEYS "attention_keys",
    ATTENTION_LANES "attention_lanes",
    ATTENTION_MEMORY "attention_memory",
    ATTENTION_QUERY_GRAD "attention_query_grad",
    BENCH_COPY "bench_copy",
    BENCH_FMA "bench_fma",
    BIAS_NONE "bias_none",
    BIAS_SOME "bias_some",
    BIAS_VECTORS "bias_vectors",
    COLUMN_SUM "column_sum",
    COMMON "common",
    CONV "conv",
    CONV_COMMON "conv_common",
    CONV_GRAD "conv_grad",
    CONV_SLOPE "conv_slope",
    CONV_WEIGHT_GRAD "conv_weight_grad",
    DECIDE "decide",
    ELEMENTS "elements",
    EMBED "embed",
    EMBED_PIECE_GRAD "embed_piece_grad",
    ENTRIES "entries",
    FROM_TO "from_to",
    FROM_TO_GRAD "from_to_grad",
    FROM_TO_PROMOTION_GRAD "from_to_promotion_grad",
    GELU "gelu",
    GEMM "gemm",
    GEMM_DIRECT "gemm_direct",
    GEMM_LANES "gemm_lanes",
    GEMM_ROW_ELEMENTS "gemm_row_elements",
    GEMM_ROW_VECTORS "gemm_row_vectors",
    GEMM_STORE_ELEMENTS "gemm_store_elements",
    GEMM_STORE_VECTORS "gemm_store_vectors",
    GEMM_TILED "gemm_tiled",
    GROUP_SUM "group_sum",
    LEGAL_LINEAR "legal_linear",
    LEGAL_LINEAR_GRAD "legal_linear_grad",
    LEGAL_LINEAR_WEIGHT_GRAD "legal_linear_weight_grad",
    LOSS "loss",
    NORM "norm",
    POINTWISE "pointwise",
    POINTWISE_GRAD "pointwise_grad",
    REDUCE "reduce",
    RESIDUAL_NONE "residual_none",
    RESIDUAL_SOME "residual_some",
    RESIDUAL_VECTORS "residual_vectors",
    RMS_NORM "rms_norm",
    RMS_NORM_GRAD "rms_norm_grad",
    RMS_NORM_WEIGHT_GRAD "rms_norm_weight_grad",
    ROW_SUM "row_sum",
    SCAN "scan",
    SCAN_ADVANCE "scan_advance",
    SCAN_COMMON "scan_common",
    SCAN_GATE_GRAD "scan_gate_grad",
    SCAN_GRAD "scan_grad",
    SCORE_BIAS_NONE "score_bias_none",
    SCORE_BIAS_SOME "score_bias_some",
    SQUARE_NORM "square_norm",
    SQUARE_SPREAD "square_spread",
    STORE_ROW_ELEMENTS "store_row_elements",
    STORE_ROW_VECTORS "store_row_vectors",
    SUM256 "sum256",
    SUM64 "sum64",
    SUM_LANES "sum_lanes",
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

/// The constants and bindings of a shader, as text.
///
/// A binding `x` is an array of what its buffer holds, and `x_element` is that type: shaders
/// compute in f32, read `f32(x[i])` and write `x[i] = x_element(value)`, or the same with vectors
/// of four. A summary is one struct.
#[derive(Debug, Clone, Default)]
pub(super) struct Declarations {
    lines: Vec<String>,
    /// Whether a binding holds 16-bit floats.
    halves: bool,
}

impl Declarations {
    pub fn push(&mut self, name: &str, binding: Binding, packing: Packing) {
        let Binding { number, slice, writable } = binding;
        let access = if writable { "read_write" } else { "read" };
        let element = slice.element.name();
        self.halves |= slice.element == Element::F16;
        let space = format!("@group(0) @binding({number}) var<storage, {access}> {name}");
        let alias = format!("alias {name}_element = {element};\n{space}");
        let text = match (slice.element, packing) {
            (Element::Summary | Element::Control, _) => format!("{space}: {element};"),
            (_, Packing::Elements) => format!("{alias}: array<{name}_element>;"),
            (_, Packing::Vectors) => format!("{alias}: array<vec4<{name}_element>>;"),
        };
        self.line(text);
    }

    /// Adds a line, unless it stands there already.
    fn line(&mut self, text: String) {
        if !self.lines.contains(&text) {
            self.lines.push(text);
        }
    }

    pub fn set(&mut self, name: &str, value: impl Into<Constant>) {
        self.line(format!("const {name}: {};", value.into()));
    }

    /// The whole shader.
    pub fn render(&self, sources: &[Source]) -> String {
        let enable = if self.halves { "enable f16;\n" } else { "" };
        let mut text = format!("{enable}{}\n", self.lines.join("\n"));
        for source in std::iter::once(&COMMON).chain(sources) {
            text.push_str(source.text);
        }
        text
    }
}
