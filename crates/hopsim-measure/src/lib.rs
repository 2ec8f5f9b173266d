//! Measurement: what observers count while an engine runs ([`recorder`], [`places`]; [`fabric`]), and the metrics made of it
//! ([`summary`], [`tables`]; [`columns`] says what they mean). All counts are integers, so that no order of events can change a
//! result.

mod allocation;
mod batches;
mod chosen;
pub mod columns;
pub mod evidence;
pub mod fabric;
mod flit_hops;
mod flows;
mod histograms;
pub mod link_series;
mod link_tables;
mod message_sizes;
mod output_queues;
pub mod packet_hops;
pub mod parts;
pub mod places;
pub mod program_tables;
pub mod programs;
pub mod recorder;
pub mod settling;
pub mod standing;
mod standing_tables;
pub mod statistics;
pub mod stop;
pub mod summary;
mod table_kind;
pub mod tables;
pub mod trace;
pub mod trend;
pub mod verdict;
pub mod waits;

/// All that a run has counted.
pub struct Counts {
    /// The sums.
    pub recorder: recorder::Recorder,
    /// The counts of all places.
    pub places: places::Places,
    /// Grants since the beginning of the run.
    pub packet_hops: u64,
    /// How often routing was asked, since the beginning of the run, to choose an output for a head.
    pub decisions: u64,
    /// Packets that stood still, and congestion trees, if they were looked for.
    pub congestion: Option<standing::Congestion>,
}

/// A column of a result table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 32-bit counts and indices.
    U32(Vec<u32>),
    /// 64-bit counts.
    U64(Vec<u64>),
    /// Reals; NaN where there is no value.
    F64(Vec<f64>),
    /// Names.
    Text(Vec<String>),
    /// Few names in many rows.
    Named {
        /// The names.
        names: Vec<String>,
        /// The name of every row, by its place in `names`.
        rows: Vec<u8>,
    },
}

/// A result table: named columns of equal length.
pub type Table = Vec<(String, Column)>;
