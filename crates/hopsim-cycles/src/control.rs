//! What the caller of a run and its threads tell each other.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The caller asked a run to stop, and it has stopped somewhere inside a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// What another thread sees of a running simulation, and how it stops it.
#[derive(Debug, Default)]
pub struct Control {
    /// Whether the run is to stop as [`Cancelled`], which the caller sets.
    pub cancel: AtomicBool,
    /// Whether the state of the run is to be kept soon, which the caller sets.
    pub save: AtomicBool,
    /// How many threads the run may use; 0 counts as 1. Read when the run begins.
    pub threads: AtomicUsize,
    /// Memory that there is for the run \[bytes\]; 0: nobody knows. Read when the run begins.
    pub memory: AtomicU64,
    /// How far the run is, of [`Self::total`]: cycles, or ticks of a fabric.
    pub done: AtomicU64,
    /// How far the run goes, which an adaptive run may raise; 0 before somebody says so.
    pub total: AtomicU64,
    /// Cycles of the attempts of an adaptive run that are over.
    pub before: AtomicU64,
    /// Packet-hops (grants) done.
    pub packet_hops: AtomicU64,
    /// How many threads the run has used at most, if it has used several.
    pub threads_used: AtomicUsize,
    /// Time that all threads of the run have worked, and that they have waited for each other \[ns\].
    pub worked: AtomicU64,
    /// Time that all threads of the run have waited for each other \[ns\].
    pub waited: AtomicU64,
    /// Time that each region has taken in every window, if that is wanted: then one thread simulates all regions, cut as for
    /// several.
    pub profile: Option<Mutex<Vec<Vec<Duration>>>>,
}

impl Control {
    /// Another window has been simulated, by one thread; `times` are what its regions have taken.
    pub fn add_to_profile(&self, times: Vec<Duration>) {
        if let Some(profile) = &self.profile {
            profile.lock().unwrap_or_else(PoisonError::into_inner).push(times);
        }
    }

    /// A thread has worked and waited for others.
    pub fn count_time(&self, worked: Duration, waited: Duration) {
        self.worked.fetch_add(worked.as_nanos() as u64, Ordering::Relaxed);
        self.waited.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
    }
}
