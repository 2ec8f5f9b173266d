//! The reference against itself, against closed forms and against the engine.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in its helpers")]

mod changes;
mod documents;
mod engine;
mod failing;
mod flits;
mod found;
mod laws;
mod metrics;
mod on_off;
mod packet_lists;
mod program_laws;
mod programs;
mod routing;
mod snapshots;
mod stepping;
mod stopping;
mod traffic;
mod trunks;
mod verdict;
