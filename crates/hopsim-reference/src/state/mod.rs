//! The state of a network between two cycles, and what each part of the state does by itself.
//!
//! No file here knows the [`Simulator`](crate::simulator::Simulator), which holds all of it. What happens in a cycle is in files
//! beside this folder, which do: what `state/nic.rs` describes changes in `nic.rs`, and so on.

pub mod delay;
pub mod flits;
pub mod nic;
pub mod packet;
pub mod parts;
pub mod place;
pub mod program;
pub mod sensors;
pub mod signal;
pub mod standing;
pub mod waiting;
