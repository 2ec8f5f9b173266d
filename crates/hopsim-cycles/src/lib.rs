//! Networks of routers with credits, through which whole packets move (virtual cut-through) or flits (wormhole), simulated exactly,
//! cycle by cycle.
//!
//! A [`System`](system::System) says what is simulated: a network, its routers and network interfaces, and jobs. A
//! [`Simulation`](simulation::Simulation) of it tells an [`Observer`](observer::Observer) what happens, and knows nothing of
//! documents, nor of what is measured. The crate does no input or output. It starts the threads that a
//! [`Schedule`](simulation::Schedule) may have, and reads the clock for nothing but how many of them are worth while: no result
//! depends on it.

pub mod begin;
pub mod change;
pub mod choices;
pub mod control;
pub mod deadlock;
pub mod injection;
pub mod jobs;
pub mod kernel;
pub mod mode;
mod modes;
pub mod node;
pub mod observer;
pub mod region;
mod router;
pub mod simulation;
pub mod speedup;
pub mod standing;
pub mod state;
pub mod system;
mod threads;

pub use modes::Full;
pub use router::cioq::Cioq;
pub use router::virtual_channel::VirtualChannel;

use begin::{AnySimulation, Beginning};
use observer::Observer;
use system::RouterPlan;
#[cfg(feature = "trace")]
use system::System;

/// A simulation at cycle 0: the kind of router and the mode are picked once per run, and everything below is compiled for them.
pub fn begin<'p, O: Observer>(beginning: &Beginning<'p, '_, O>) -> AnySimulation<'p, O> {
    match &beginning.system.router {
        RouterPlan::Cioq(_) => router::cioq::begin(beginning),
        RouterPlan::VirtualChannel(_) => router::virtual_channel::begin(beginning),
    }
}

/// The names of all modes that fit a system.
#[cfg(feature = "trace")]
pub fn fitting(system: &System) -> Vec<&'static str> {
    match &system.router {
        RouterPlan::Cioq(_) => modes::fitting(system),
        RouterPlan::VirtualChannel(_) => vec!["Full"],
    }
}
