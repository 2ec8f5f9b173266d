//! Networks of routers with virtual cut-through and credits, simulated exactly, cycle by cycle.
//!
//! A [`System`](system::System) says what is simulated: a network, its routers and network interfaces, and jobs. A
//! [`Simulation`](simulation::Simulation) of it tells an [`Observer`](observer::Observer) what happens, and knows nothing of
//! documents, nor of what is measured. The crate does no input or output. It starts the threads that a
//! [`Schedule`](simulation::Schedule) may have, and reads the clock for nothing but how many of them are worth while: no result
//! depends on it.

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
pub mod perform;
pub mod region;
mod router;
pub mod simulation;
pub mod standing;
pub mod state;
pub mod system;
pub mod task;
mod threads;

pub use modes::Full;
pub use router::cioq::Cioq;
