//! Kinds of routers.

pub mod cioq;
mod damq;
mod inputs;
mod outstanding;
mod reason;
pub mod virtual_channel;
