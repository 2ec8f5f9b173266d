//! Kinds of routers.

pub mod cioq;
mod inputs;
pub mod virtual_channel;
