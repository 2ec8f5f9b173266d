//! Generated programs: what they send, when they finish, and which parameters they refuse.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod beside;
mod collective;
mod laws;
mod refusals;
mod run;
mod stencil;
mod training;
