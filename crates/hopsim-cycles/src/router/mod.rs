//! Kinds of routers.

pub mod cioq;
mod damq;
mod inputs;
mod outstanding;
pub mod virtual_channel;
