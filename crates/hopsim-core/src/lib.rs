//! The hopsim engine: an exact simulator of lossless interconnection networks at packet granularity.
//!
//! An experiment document ([`config::Experiment`]) is checked and resolved into a [`plan::Plan`]; a
//! simulation runs the plan and returns what it measured. The crate does no input or output, starts no
//! thread and reads no clock.

/// Version of the simulator: the number, then a digest of its sources.
pub const VERSION: &str = env!("HOPSIM_VERSION");

pub mod config;
pub mod document;
pub mod engine;
pub mod error;
pub mod injection;
pub mod measure;
mod memory;
pub mod plan;
pub mod survey;
pub mod trace;
