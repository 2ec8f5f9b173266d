//! Requests of the allocators of switches, and how many of them were granted: the record stream `allocation`.

use super::{Column, Counts, Table};
use crate::table_kind::ColumnText;
use hopsim_cycles::choices::Consumption;
use hopsim_cycles::kernel::rows::row;
use hopsim_cycles::observer::Grant;
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use serde::{Deserialize, Serialize};

/// Columns of the table.
pub const ALLOCATION: [ColumnText; 4] = [
    ("router", "", "Number of the router, from 0."),
    (
        "requests",
        "",
        "Requests that the inputs of its crossbar made in the window: at most one of each input in an iteration of the allocator.",
    ),
    ("grants", "", "Those of them that were granted: packets that crossed the crossbar."),
    ("grant_fraction", "", "Share of the requests that were granted [0 … 1]; empty without requests."),
];

/// What the allocator of a router did in the window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Requests {
    granted: u64,
    refused: u64,
}

/// What the allocators of some routers did in the window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Allocations {
    by_router: Vec<Requests>,
    /// Whether packets leave for their nodes past the allocator.
    consumes: bool,
}

impl Allocations {
    /// Empty counters of so many routers, if the plan asks for them and its routers have such an allocator.
    pub fn wanted(plan: &Plan, routers: usize) -> Option<Self> {
        let router = plan.system.router.cioq()?;
        let wanted = plan.experiment.measure.streams.contains(&RecordStream::Allocation);
        let consumes = router.consumption == Consumption::Parallel;
        wanted.then(|| Self { by_router: vec![Requests::default(); routers], consumes })
    }

    /// A packet was granted an output of a router.
    pub fn grant(&mut self, router: usize, grant: &Grant) {
        if !(self.consumes && grant.asked.is_none()) {
            self.by_router[router].granted += 1;
        }
    }

    /// Requests of a router were granted nothing.
    pub fn refuse(&mut self, router: usize, requests: usize) {
        self.by_router[router].refused += requests as u64;
    }

    /// The counts of some routers.
    pub fn part(&self, first: usize, count: usize) -> Self {
        Self { by_router: row(&self.by_router, first, count), consumes: self.consumes }
    }

    /// Appends the counts of the routers behind these.
    pub fn append(&mut self, other: Self) {
        self.by_router.extend(other.by_router);
    }
}

/// A row per router.
pub fn table(Counts { places, .. }: &Counts) -> Option<Table> {
    let rows = &places.links.as_ref()?.allocations.as_ref()?.by_router;
    let column = |value: &dyn Fn(&Requests) -> u64| Column::U64(rows.iter().map(value).collect());
    let requests = |row: &Requests| row.granted + row.refused;
    let share = |row: &Requests| row.granted as f64 / requests(row) as f64;
    Some(vec![
        ("router".into(), Column::U32((0..rows.len() as u32).collect())),
        ("requests".into(), column(&requests)),
        ("grants".into(), column(&|row| row.granted)),
        ("grant_fraction".into(), Column::F64(rows.iter().map(share).collect())),
    ])
}
