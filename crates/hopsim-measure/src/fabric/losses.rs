//! What is lost where links fail in the middle of a run.

use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::FabricPlan;
use hopsim_infiniband::faults::Loss;

/// What of a flow is lost, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Data packets that had been granted a link before it failed, and whose heads had not arrived.
    pub on_links: u64,
    /// Data packets that a switch discarded.
    pub discarded: u64,
    /// Data packets that came over a link as it failed, and that their destination discarded.
    pub spoiled: u64,
    /// Messages of which a packet is lost.
    pub messages: u64,
}

impl Lost {
    /// All data packets.
    pub fn packets(&self) -> u64 {
        self.on_links + self.discarded + self.spoiled
    }

    /// Adds what is lost of another flow.
    pub fn add(&mut self, other: &Self) {
        self.on_links += other.on_links;
        self.discarded += other.discarded;
        self.spoiled += other.spoiled;
        self.messages += other.messages;
    }

    fn packet(&mut self, why: Loss) {
        let count = match why {
            Loss::Link => &mut self.on_links,
            Loss::Output => &mut self.discarded,
            Loss::Spoiled => &mut self.spoiled,
        };
        *count += 1;
    }
}

/// What a run loses.
#[derive(Debug)]
pub struct Losses {
    /// In the window, by account.
    pub window: Vec<Lost>,
    /// By interval and account; empty if nobody asks.
    pub rows: Vec<Lost>,
    /// In the interval that is open, by account.
    open: Vec<Lost>,
    has_rows: bool,
}

impl Losses {
    /// Nothing yet, if links fail.
    pub fn new(plan: &FabricPlan) -> Option<Self> {
        let none = vec![Lost::default(); plan.accounts.len()];
        (!plan.fabric.faults.is_empty()).then(|| Self {
            window: none.clone(),
            rows: Vec::new(),
            open: none,
            has_rows: plan.experiment.measure.streams.contains(&RecordStream::FlowSeries),
        })
    }

    /// A data packet of an account is lost, in the window or outside.
    pub fn packet(&mut self, account: usize, why: Loss, counts: bool) {
        self.open[account].packet(why);
        if counts {
            self.window[account].packet(why);
        }
    }

    /// A message of an account is lost, in the window or outside.
    pub fn message(&mut self, account: usize, counts: bool) {
        self.open[account].messages += 1;
        self.window[account].messages += u64::from(counts);
    }

    /// The open interval ends.
    pub fn close(&mut self) {
        let closed = self.open.iter_mut().map(std::mem::take);
        if self.has_rows {
            self.rows.extend(closed);
        }
    }
}
