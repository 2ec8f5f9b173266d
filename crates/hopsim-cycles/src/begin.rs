//! What a simulation begins with.

use crate::observer::Observer;
use crate::simulation::{Schedule, Simulate};
use crate::system::System;

/// How closely the mode of a run fits its system.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// A mode with nothing compiled in that the system does not need, as far as there is one.
    Tight,
    /// A mode with everything.
    Loose,
    /// The mode of this name.
    #[cfg(feature = "trace")]
    Mode(&'static str),
}

/// A simulation of some system, whatever its routers and mode, of which such observers hear.
pub type AnySimulation<'p, O> = Box<dyn Simulate<'p, O> + 'p>;

/// All that a simulation at cycle 0 is made of.
pub struct Beginning<'p, 'w, O: Observer> {
    /// What is simulated.
    pub system: &'p System,
    /// What observers are made from.
    pub wishes: &'w O::Wishes,
    /// How closely the mode fits.
    pub fit: Fit,
    /// How the simulation is carried out.
    pub schedule: Schedule,
}
