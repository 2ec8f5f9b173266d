//! Kinds of routers.

pub mod cioq;
