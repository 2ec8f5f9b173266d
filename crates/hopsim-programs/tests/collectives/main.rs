//! Collective operations: what they deliver, what it takes, and which algorithm is taken.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod carried;
mod case;
mod choices;
mod counts;
mod delivery;
mod limits;
mod order;
mod times;
