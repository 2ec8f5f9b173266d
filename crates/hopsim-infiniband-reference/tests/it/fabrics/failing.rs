//! Random links that fail, and tables that are written at any time.

use super::forwarding;
use hopsim_infiniband::fabric::{NONE, Port};
use hopsim_infiniband::faults::{Change, Faults, What};
use hopsim_infiniband::forwarding::Tables;
use hopsim_infiniband::time::Ticks;
use proptest::prelude::*;
use std::sync::Arc;

/// Links fail by then \[ticks\].
const LAST: Ticks = 7_000;

/// When a link fails, for how long, when that is known, and whether packets are lost.
type Outage = (Ticks, Option<Ticks>, Ticks, bool);

/// Outages of the links between switches, and tables without one of the links each that are written to any switch.
pub fn faults(first_port: &[u32], ports: &[Port], hosts: u32) -> impl Strategy<Value = Faults> + use<> {
    let links: Vec<u32> = (hosts..ports.len() as u32)
        .filter(|&port| {
            let peer = ports[port as usize].peer;
            peer != NONE && port < peer
        })
        .collect();
    let whole = forwarding(first_port, ports, (hosts as usize, &[]), &[]);
    let tables: Vec<Arc<Tables>> = links
        .iter()
        .map(|&port| [port, ports[port as usize].peer])
        .map(|out| forwarding(first_port, ports, (hosts as usize, &out), &whole))
        .map(|entries| Arc::new(Tables::Wide(entries)))
        .collect();
    let outage = (0..LAST, proptest::option::of(1..LAST / 2), 0..LAST / 4, any::<bool>());
    let outages = proptest::collection::vec(proptest::option::weighted(0.7, outage), links.len());
    let write = (0..2 * LAST, 0..first_port.len() as u32 - 1, 0..=tables.len() as u32);
    let writes = proptest::collection::vec(write, 0..=6);
    (outages, writes).prop_map(move |(outages, writes)| {
        let of_links = links.iter().zip(outages).flat_map(|(&port, outage)| changes(port, outage));
        let written = writes.into_iter().map(|(at, switch, tables)| {
            let what = What::Table { switch, tables };
            Change { at, what }
        });
        let mut changes: Vec<Change> = of_links.chain(written).collect();
        changes.sort_by_key(|change| (change.at, rank(change.what)));
        Faults { changes, tables: tables.clone() }
    })
}

fn changes(port: u32, outage: Option<Outage>) -> Vec<Change> {
    let Some((at, length, detection, drops)) = outage else { return Vec::new() };
    let until = length.map(|length| at + length);
    let mut changes = vec![Change { at, what: What::Fails { port, drops } }];
    if until.is_none_or(|until| at + detection < until) {
        changes.push(Change { at: at + detection, what: What::Detected { port } });
    }
    changes.extend(until.map(|at| Change { at, what: What::Repaired { port } }));
    changes
}

/// The order of what changes in an instant.
fn rank(what: What) -> u8 {
    match what {
        What::Repaired { .. } => 0,
        What::Fails { .. } => 1,
        What::Detected { .. } => 2,
        What::Table { .. } => 3,
    }
}
