//! Runs of a program on the ideal network.

use hopsim_programs::host::rules::Rules;
use hopsim_programs::host::{Figures, Host};
use hopsim_programs::ideal::{Ejection, Ideal, Latency, Network};
use hopsim_programs::record::{Record, Script};
use std::sync::Arc;

/// The ideal network with this latency and these cycles per phit.
pub fn network(latency: u32, cycles_per_phit: u32) -> Network<'static> {
    Network { latency: Latency::Constant(latency), cycles_per_phit, ejection: Ejection::Unlimited }
}

/// What the hosts have counted when all is over; all is well then.
pub fn run(script: impl Script + 'static, rules: Rules, network: Network<'_>) -> Vec<Figures> {
    let script: Arc<dyn Script> = Arc::new(script);
    let rules = Arc::new(rules);
    let hosts = (0..script.ranks()).map(|rank| Host::of_script(rank, &script, &rules)).collect();
    let mut ideal = Ideal::new(network, hosts, 0);
    assert!(!ideal.advance(u32::MAX, |_, _| ()));
    assert_eq!(ideal.verdict(), Ok(()));
    ideal.hosts().iter().map(Host::figures).collect()
}

/// When each rank has finished \[cycles\].
pub fn finish(script: impl Script + 'static, rules: Rules, network: Network<'_>) -> Vec<u32> {
    run(script, rules, network).iter().map(|figures| figures.finish).collect()
}

/// All messages and their bytes.
pub fn sent(figures: &[Figures]) -> (u64, u64) {
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum();
    (sum(|figures| figures.messages_sent), sum(|figures| figures.bytes_sent))
}

/// The records of a rank. The script says before each how many are left.
pub fn records(script: &Arc<impl Script + 'static>, rank: u32) -> Vec<Record> {
    let mut records = Arc::clone(script).records(rank);
    let mut all = Vec::new();
    let mut left = vec![records.left()];
    while let Some(record) = records.next() {
        all.push(record);
        left.push(records.left());
    }
    assert_eq!(records.next(), None);
    let expected: Vec<u64> = (0..=all.len() as u64).rev().collect();
    assert_eq!(left, expected, "rank {rank}");
    all
}
