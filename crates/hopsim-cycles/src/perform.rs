//! The kind of router and the mode of a simulation, picked once per run.

#[cfg(feature = "trace")]
use crate::modes;
use crate::router;
use crate::system::System;
use crate::task::{Fit, Task};

/// Picks the kind of router and the mode, once per run: everything below is compiled for it.
pub fn perform<'p, T: Task<'p>>(system: &'p System, fit: Fit, task: T) -> T::Output {
    router::cioq::perform(system, fit, task)
}

/// The names of all modes that fit a system.
#[cfg(feature = "trace")]
pub fn fitting(system: &System) -> Vec<&'static str> {
    modes::fitting(system)
}
