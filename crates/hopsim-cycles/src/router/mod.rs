//! Kinds of routers.

pub mod cioq;
mod damq;
mod inputs;
pub mod virtual_channel;
