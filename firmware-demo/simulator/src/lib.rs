//! What surrounds a chessboard's firmware: hands that move the men, in every order and with every
//! unsteadiness; contacts that bounce; games to play.
pub mod contacts;
pub mod desk;
pub mod draw;
pub mod emulated;
pub mod flash;
pub mod games;
pub mod hand;
pub mod sitting;
pub mod table;

pub use kibitzer_core::shakmaty;
