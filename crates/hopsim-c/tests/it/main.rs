//! The library as programs in C and C++ use it.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod c;
mod integrations;
mod support;
