//! The drivers, against parts that behave as their data sheets say and against scripts of what goes
//! over a bus.
mod errors;
mod hc165;
mod ht16k33;
mod matrix;
mod uart;
mod ws2812;
