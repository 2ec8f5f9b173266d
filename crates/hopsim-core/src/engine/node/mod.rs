//! What hangs from the routers.

pub mod synthetic;
