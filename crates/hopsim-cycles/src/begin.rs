//! What the crate is given to begin a simulation, and what it gives back. The function `begin` in `lib.rs`
//! takes a [`Beginning`] from its caller (`engine/measured.rs` of `hopsim-core`) and hands it down, by the
//! kind of router, to `modes.rs`, which picks the mode and returns an [`AnySimulation`]. The types are in
//! a file of their own because all three use them, and files import each other in one direction only.

use crate::observer::Observer;
use crate::simulation::{Schedule, Simulate};
use crate::system::System;

/// Which of the modes that fit a system a run has. Modes leave out, at compile time, what a system does not
/// need (`mode.rs`); all that fit give the same results, at different speeds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The fastest one: it leaves out the most.
    Tight,
    /// One that leaves out as little as possible, to measure what the others gain.
    Loose,
    /// The one of this name, which must fit: tests compare the results of all.
    #[cfg(feature = "trace")]
    Mode(&'static str),
}

/// A simulation whose kind of routers and mode the caller need not know; observers of type `O` are told what
/// happens in it.
pub type AnySimulation<'p, O> = Box<dyn Simulate<'p, O> + 'p>;

/// The arguments of `begin`: all that a simulation at cycle 0 is made of.
pub struct Beginning<'p, 'w, O: Observer> {
    /// The network, its routers and jobs.
    pub system: &'p System,
    /// What the observers are made from, such as what they are to record.
    pub wishes: &'w O::Wishes,
    /// Which mode the run has.
    pub fit: Fit,
    /// How the simulation is carried out: on how many threads, and how the network is cut for them.
    pub schedule: Schedule,
}
