//! Measurement of a fabric of InfiniBand or Ethernet: what is counted ([`recorder`]), and the summary and tables made of it.

pub mod completions;
pub mod evidence;
pub mod links;
pub mod losses;
pub mod parts;
pub mod pauses;
pub mod recorder;
pub mod series;
pub mod summary;
pub mod tables;
pub mod victims;
