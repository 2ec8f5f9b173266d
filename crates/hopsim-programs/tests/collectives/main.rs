//! Collective operations: what they deliver, what it takes, and which algorithm is taken.

#![allow(clippy::unwrap_used)]

mod carried;
mod case;
mod choices;
mod counts;
mod delivery;
mod limits;
mod times;
