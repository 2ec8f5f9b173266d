//! Ranges of values that several keys have; those of one key stand beside it.

pub use hopsim_cycles::system::MAX_CYCLES;
pub use hopsim_network::error::within;
use hopsim_routing::vcs::MOST;
pub use hopsim_traffic::PACKET_LENGTHS;
use std::ops::RangeInclusive;

/// Lengths of runs and windows \[cycles\].
pub const CYCLES: RangeInclusive<u32> = 1..=MAX_CYCLES;

/// Times that a processor takes for a message \[cycles\].
pub const PROCESSOR_TIMES: RangeInclusive<u32> = 0..=1_000_000;

/// Packets of messages that wait in a network interface.
pub const NIC_QUEUES: RangeInclusive<u32> = 1..=65_536;

/// VCs of a class of ports.
pub const VCS: RangeInclusive<u32> = 1..=MOST;

/// Delays in a router \[cycles\].
pub const DELAYS: RangeInclusive<u32> = 0..=10_000;

/// Ports that a node injects by.
pub const INJECTION_PORTS: RangeInclusive<u32> = 1..=2;

/// Priority classes of jobs.
pub const PRIORITIES: RangeInclusive<u32> = 0..=255;

/// Service levels of a fabric.
pub const SERVICE_LEVELS: RangeInclusive<u32> = 0..=15;

/// Widths of intervals that are narrow enough, relative to the mean.
pub const WIDTHS: RangeInclusive<f64> = 0.0001..=0.5;

/// Sizes of buffers \[phits\].
pub const BUFFERS: RangeInclusive<u32> = 1..=1 << 24;

/// Flits that may wait at an output port of a virtual-channel router.
pub const OUTPUT_QUEUES: RangeInclusive<u32> = 1..=4_096;
