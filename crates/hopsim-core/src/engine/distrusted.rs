//! Runs that go on with a state from outside.
//!
//! The checksum of a snapshot tells what has happened to it by chance. A snapshot that was made to deceive may hold any numbers,
//! and whether these can be a state shows only where they are used.

use crate::error::RunError;
use hopsim_network::interrupt::Interrupted;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many runs there are that go on with a state from outside. Their panics are not told, in whatever thread.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// What `go_on` returns; [`RunError::Snapshot`] if the state that it goes on with makes it panic, which is then not told on
/// standard error.
pub fn distrusted<T>(go_on: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if RUNS.load(Ordering::Relaxed) == 0 {
                tell(panic);
            }
        }));
    });
    RUNS.fetch_add(1, Ordering::Relaxed);
    // What it has changed is dropped with what it would have returned.
    let done = catch_unwind(AssertUnwindSafe(go_on));
    RUNS.fetch_sub(1, Ordering::Relaxed);
    done.unwrap_or_else(|payload| {
        if payload.is::<Interrupted>() { resume_unwind(payload) } else { Err(RunError::Snapshot) }
    })
}
