//! What is done with a simulation whose kind of routers and mode follow from the system.

use crate::mode::Mode;
use crate::observer::Observer;
use crate::region::Region;
use crate::simulation::{Schedule, Simulation};

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

/// Something done with a simulation, whatever its routers and mode.
pub trait Task<'p>: Sized {
    /// Who hears what happens.
    type Observer: Observer;

    /// What comes of it.
    type Output;

    /// How the task wants to be carried out.
    fn schedule(&self) -> Schedule;

    /// What observers are made from.
    fn wishes(&self) -> &<Self::Observer as Observer>::Wishes;

    /// Does it with a simulation at cycle 0.
    fn with<R>(self, simulation: Simulation<'p, R>) -> Self::Output
    where
        R: Region<'p, Mode: Mode<Observer = Self::Observer>>;
}
