//! What is counted in the equal parts of the window: what the [verdict](crate::verdict) is made of.

use crate::parts::{PARTS, Parts, TENTHS};
use hopsim_experiment::plan::fabric::FabricPlan;
use hopsim_infiniband::time::Ticks;

/// What is delivered in a part, of one job.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartCounts {
    /// Data packets delivered.
    pub packets: u64,
    /// Bytes of the data packets delivered.
    pub bytes: u64,
    /// Sum of the latencies of the data packets delivered \[ticks\].
    pub latency: u128,
}

impl PartCounts {
    /// Adds other packets.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.latency += other.latency;
    }
}

/// What an account is given to send, and sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountBacklog {
    /// Messages that the account is given in all tenths.
    pub messages: u64,
    /// Bytes of the messages that the account is given in all tenths.
    pub bytes: u64,
    /// Sum of the squares of their lengths \[bytes²\].
    squares: u128,
    /// Bytes of the messages that the account is given less those of the packets that it begins to send, by tenth.
    pub growth: [i64; TENTHS],
}

impl AccountBacklog {
    /// How many messages of one length would spread as much as those that the account is given: as many where all have one length.
    pub fn draws(&self) -> f64 {
        let (sum, messages) = (u128::from(self.bytes), u128::from(self.messages));
        if sum * sum == messages * self.squares {
            return self.messages as f64;
        }
        sum as f64 * sum as f64 / self.squares as f64
    }
}

/// The counts of a run.
#[derive(Debug)]
pub struct FabricParts {
    /// Where the parts are.
    pub parts: Parts,
    jobs: usize,
    /// What is delivered, by part and job.
    by_part: Vec<PartCounts>,
    /// What each account is given to send, and sends.
    pub backlogs: Vec<AccountBacklog>,
}

impl FabricParts {
    /// Empty counters.
    pub fn new(plan: &FabricPlan) -> Self {
        let jobs = plan.jobs.len();
        Self {
            parts: Parts::new(plan.span.warmup, plan.span.window()),
            jobs,
            by_part: vec![PartCounts::default(); PARTS as usize * jobs],
            backlogs: vec![AccountBacklog::default(); plan.accounts.len()],
        }
    }

    /// An account is given a message to send.
    pub fn posted(&mut self, at: Ticks, account: usize, bytes: u64) {
        if let Some(tenth) = self.parts.tenth(at) {
            let backlog = &mut self.backlogs[account];
            backlog.messages += 1;
            backlog.bytes += bytes;
            backlog.squares += u128::from(bytes) * u128::from(bytes);
            backlog.growth[tenth] += bytes as i64;
        }
    }

    /// An account begins to send a packet.
    pub fn sent(&mut self, at: Ticks, account: usize, bytes: u32) {
        if let Some(tenth) = self.parts.tenth(at) {
            self.backlogs[account].growth[tenth] -= i64::from(bytes);
        }
    }

    /// A packet of a job is delivered.
    pub fn delivered(&mut self, at: Ticks, job: usize, bytes: u32, latency: Ticks) {
        if let Some(part) = self.parts.part(at) {
            let one = PartCounts { packets: 1, bytes: bytes.into(), latency: latency.into() };
            self.by_part[part * self.jobs + job].add(&one);
        }
    }

    /// What is delivered in every part, of some jobs together.
    pub fn of(&self, jobs: &[usize]) -> impl Iterator<Item = PartCounts> {
        self.by_part.chunks(self.jobs).map(move |row| {
            let mut sum = PartCounts::default();
            for &job in jobs {
                sum.add(&row[job]);
            }
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(lengths: &[u64]) -> f64 {
        let squares = lengths.iter().map(|&length| u128::from(length).pow(2)).sum();
        let messages = lengths.len() as u64;
        AccountBacklog { messages, bytes: lengths.iter().sum(), squares, ..AccountBacklog::default() }.draws()
    }

    #[test]
    fn messages_of_one_length_are_as_many_as_they_are_and_others_fewer() {
        for (lengths, expected) in [
            (&[][..], 0.0),
            (&[700; 3], 3.0),
            (&[1 << 32; 49], 49.0),
            // (1 + 1 + 4)² / (1 + 1 + 16).
            (&[1, 1, 4], 2.0),
        ] {
            assert!((draws(lengths) - expected).abs() < 1e-12, "{lengths:?}: {}", draws(lengths));
        }
    }
}
