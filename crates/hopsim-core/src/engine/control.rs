//! What the caller of a run and its threads tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// What another thread sees of a running simulation, and how it stops it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to stop the run with [`RunError::Cancelled`].
    pub cancel: AtomicBool,
    /// How many threads the run may use; 0 counts as 1. Read when it begins.
    pub threads: AtomicUsize,
    /// How far the run is, of [`AnyPlan::length`]: cycles, or ticks of a fabric.
    pub done: AtomicU64,
    /// Packet-hops (grants) done.
    pub packet_hops: AtomicU64,
    /// How many threads the run has used at most, if it has used several.
    pub threads_used: AtomicUsize,
    /// Time that all of these have worked, and that they have waited for each other \[ns\].
    pub worked: AtomicU64,
    /// See [`Self::worked`].
    pub waited: AtomicU64,
}

impl Control {
    /// A thread has worked and waited for others.
    pub fn count_time(&self, worked: Duration, waited: Duration) {
        self.worked.fetch_add(worked.as_nanos() as u64, Ordering::Relaxed);
        self.waited.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
    }
}
