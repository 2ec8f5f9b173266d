//! The reference of the InfiniBand fabric against laws and closed forms.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in its helpers")]

mod closed_forms;
mod congestion;
mod fabrics;
mod lanes;
mod laws;
