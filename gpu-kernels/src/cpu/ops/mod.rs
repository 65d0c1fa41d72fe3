//! The operations' formulas in plain Rust; [`crate::program::Op`] states each.
//!
//! Every file has a `forward` and a `backward`. Rows are shared between threads in pieces of a
//! fixed size; sums over rows are formed piece by piece, then over the pieces in order.
pub mod attention;
pub mod conv;
pub mod embed;
pub mod linear;
pub mod loss;
pub mod norm;
pub mod pointwise;
pub mod policy;
pub mod pool;
pub mod scan;
pub mod swiglu;
