//! The hopsim engine: an exact simulator of lossless interconnection networks at packet granularity.
//!
//! An experiment document ([`config::Experiment`]) is checked and resolved into a [`plan::Plan`]; a
//! simulation runs the plan and returns what it measured. The crate does no input or output, starts no
//! thread and reads no clock.

/// Version of the simulator: the number, then a digest of its sources.
pub const VERSION: &str = env!("HOPSIM_VERSION");

pub mod config;
pub mod engine;
pub mod error;
pub mod injection;
pub mod interrupt;
pub mod measure;
pub mod memory;
pub mod network;
pub mod plan;
pub use hopsim_random as rng;
pub mod routing;
pub mod survey;
pub mod topology;
pub mod trace;
pub mod traffic;
