//! The reference against itself, against closed forms and against the engine.

mod documents;
mod laws;
