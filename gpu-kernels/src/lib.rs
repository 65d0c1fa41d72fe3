//! The operations of the Kibitzer network, once as WGSL and once as plain Rust.
