//! The hopsim engine: an exact simulator of lossless interconnection networks at packet granularity.
//!
//! An experiment document ([`hopsim_experiment::config::Experiment`]) is checked and resolved into a [`hopsim_experiment::plan::Plan`]; a
//! simulation runs the plan and returns what it measured. The crate does no input or output, starts no
//! thread and reads no clock.

/// Version of the simulator: the number, then a digest of its sources.
pub const VERSION: &str = env!("HOPSIM_VERSION");

pub mod engine;
pub mod error;
pub mod measure;
pub mod trace;
