//! The report: a page with every table and figure about Viveka on one library.
//!
//! - [`study`]: the library, its split, and what was fitted to one part of it.
//! - [`page`], [`figures`]: Markdown, tables and charts.
//! - [`answer`]: what the opponent answers to a move.
//! - [`choices`]: scan, weights, selection and results.
//! - [`provenance`], [`positional`], [`evolution`], [`backward`], [`information`], [`tail`]:
//!   a section each.
//! - [`experiments`]: what was tried and rejected, tried again.
pub mod answer;
pub mod backward;
pub mod choices;
pub mod evolution;
pub mod experiments;
pub mod figures;
pub mod information;
pub mod page;
pub mod positional;
pub mod provenance;
pub mod study;
pub mod tail;
