//! Integration tests of documents and plans: one binary, one module per concern.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod conformance;
mod cut_ways;
mod documents;
mod errors;
mod fuzz;
mod parts;
mod plans;
mod proofs;
mod shortest_paths;
mod stopping;
mod virtual_channel;
