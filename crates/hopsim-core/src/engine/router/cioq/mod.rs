//! Routers with queues at inputs and outputs, and an allocator between them.

pub mod active;
pub mod allocator;
pub mod arbiter;
pub mod choices;
pub mod contention;
pub mod context;
pub mod credits;
pub mod damq;
pub mod deciding;
pub mod draws;
pub mod extras;
pub mod marks;
pub mod outlook;
pub mod routers;
pub mod sat;
pub mod signal;
pub mod transfer;
pub mod visit;
pub mod waiting;
