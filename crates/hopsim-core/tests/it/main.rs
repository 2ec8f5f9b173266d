//! Integration tests of the core: one binary, one module per concern.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod conformance;
mod deadlock;
mod documents;
mod errors;
mod fabric_links;
mod fabric_programs;
mod fabric_verdicts;
mod fabrics;
mod fuzz;
mod graphs;
mod injection;
mod laws;
mod microscope;
mod modes;
mod packet_hops;
mod plans;
mod programs;
mod shortest_paths;
mod snapshots;
mod stepping;
mod stopping;
mod traffic;
