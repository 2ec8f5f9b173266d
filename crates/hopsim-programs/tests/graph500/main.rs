//! The model of Graph500: how much is sent, and what ranks do with it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod host;
mod kronecker;
mod messages;
mod numbers;
mod program;
mod refusals;
mod volume;
