//! The reference of the InfiniBand fabric against laws, closed forms and the engine.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in its helpers")]

mod alone;
mod closed_forms;
mod completions;
mod congestion;
mod engine;
mod fabrics;
mod lanes;
mod laws;
mod limits;
mod losses;
mod messages;
mod pauses;
mod programs;
mod verdicts;
