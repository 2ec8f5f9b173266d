//! What nodes run: programs of computations and messages that depend on each other.
//!
//! A program is, for each of its ranks, either a sequence of [`record::Record`]s, as a trace of MPI calls or a generator gives
//! them, or a [`graph::Graph`] of operations, as GOAL and Chakra files do. A [`host::Host`] executes the part of one rank; it
//! knows no network. [`generators`] and [`graph500`] are programs of a few numbers. [`ideal`] is the simplest
//! network there is: a latency and a rate.
//!
//! The crate does no input or output: readers take text or bytes.

pub mod collectives;
pub mod error;
pub mod formats;
pub mod generators;
pub mod graph;
pub mod graph500;
pub mod host;
pub mod ideal;
pub mod info;
pub mod job;
pub mod program;
pub mod record;
pub mod repeated;
pub mod standstill;
pub mod trace;
pub mod units;
