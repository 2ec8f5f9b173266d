//! Experiments: what a document may say, from its text to its points, and the plan that each point is checked and resolved
//! into. Nothing here simulates, or knows what is measured.

mod circle;
mod circles;
pub mod config;
pub mod cut_ways;
pub mod document;
pub mod memory;
pub mod parts;
pub mod plan;
pub mod proof;
pub mod survey;
pub mod topology_info;
