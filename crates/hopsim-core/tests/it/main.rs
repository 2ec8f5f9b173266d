//! Integration tests of the core: one binary, one module per concern.

mod documents;
mod errors;
mod fuzz;
