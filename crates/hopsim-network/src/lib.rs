//! Networks: topologies, their links and shortest paths, and the arrays that engines take of them.
//!
//! Below everything that knows what travels through a network, so it also holds what all of that shares: mistakes in a
//! document ([`error`]), and long work that can be given up ([`interrupt`]).

pub mod by_class;
pub mod error;
pub mod interrupt;
pub mod network;
pub mod nothing;
pub mod topology;
