//! An exact, event-driven simulator of InfiniBand fabrics: channel adapters, switches with virtual output queues, congestion
//! control. The rules are in docs/infiniband.md.
//!
//! A [`fabric::Fabric`] and its [`flow::Flow`]s are arrays of numbers, everything in ticks and bytes; the crate knows no topologies, and
//! of documents what one says of a [`reaction`]. A [`engine::Simulation`] runs them and tells an [`observer::Observer`] what happens.

pub mod alone;
pub mod congestion;
pub mod engine;
pub mod error;
pub mod fabric;
pub mod faults;
pub mod flow;
pub mod forwarding;
pub mod lanes;
pub mod observer;
pub mod paths;
pub mod pfc;
pub mod reaction;
pub mod time;
pub mod workload;
