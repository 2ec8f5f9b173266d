//! The files that programs come in and go out as.
//!
//! Readers take any source of lines or bytes, such as a decompressed stream, and go through it once. They refuse what is not
//! in the format, and what one rank alone does wrong; what must hold between ranks is for [`crate::trace::Trace::check`].

mod any;
pub mod chakra;
pub mod dimemas;
pub mod goal;
pub mod goal_binary;
pub mod mpt;
pub mod paraver;
pub mod table;
mod text;

pub use any::{Contents, Format};
