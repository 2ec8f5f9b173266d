//! Forwarding tables of the document.

use super::super::path;
use super::super::wiring::Cables;
use hopsim_infiniband::fabric::NONE;
use hopsim_infiniband::forwarding::Entry;
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;

/// The forwarding tables of the document, once they have been checked.
pub fn tables<E: Entry>(tables: &[Vec<u16>], cables: &Cables) -> Result<Vec<E>, ConfigError> {
    let (switches, hosts) = (cables.switches(), cables.hosts);
    let key = |index: usize| path(&format!("forwarding.tables.{index}"));
    if tables.len() != switches as usize {
        let reason = format!("has tables of {} switches", tables.len());
        return Err(ConfigError::new(path("forwarding.tables"), reason)
            .valid(format!("{switches} tables, one for each switch")));
    }
    for (switch, table) in tables.iter().enumerate() {
        if table.len() != hosts as usize {
            let reason = format!("has outputs for {} nodes", table.len());
            return Err(
                ConfigError::new(key(switch), reason).valid(format!("{hosts} outputs, one for each node"))
            );
        }
        let outputs = cables.ports(switch as u32).len();
        if let Some(node) = table.iter().position(|&output| usize::from(output) >= outputs) {
            let reason = format!("switch {switch} has no such output");
            return Err(ConfigError::new(format!("{}.{node}", key(switch)), reason)
                .value(table[node])
                .valid(format!("0 … {}", outputs - 1)));
        }
    }
    check_ways(tables, cables).map_err(|reason| {
        ConfigError::new(path("forwarding.tables"), reason).valid("tables that lead to every node")
    })?;
    let mut entries = hopsim_memory::table(switches as usize * hosts as usize);
    for table in tables {
        interrupt::steps(u64::from(hosts));
        entries.extend(table.iter().map(|&output| E::new(output.into())));
    }
    Ok(entries)
}

/// Where an output leads.
#[derive(Clone, Copy, Debug)]
enum Output {
    Node(u32),
    Switch(u32),
}

/// Goes to every node from every switch, as far as the way has not been gone before.
fn check_ways(tables: &[Vec<u16>], cables: &Cables) -> Result<(), String> {
    let output = |switch: u32, node: u32| {
        let port = cables.first_port[switch as usize] + u32::from(tables[switch as usize][node as usize]);
        match cables.ends[port as usize] {
            NONE => Output::Node(cables.peers[port as usize]),
            next => Output::Switch(next),
        }
    };
    // By switch: the number of the way that has led through it last. Ways to one node have numbers that follow each other, and those
    // before the present one have arrived.
    let mut last = vec![0u64; tables.len()];
    for node in 0..cables.hosts {
        interrupt::steps(tables.len() as u64);
        let first = u64::from(node) * tables.len() as u64 + 1;
        for start in 0..cables.switches() {
            let number = first + u64::from(start);
            let mut at = start;
            let arrives = loop {
                match std::mem::replace(&mut last[at as usize], number) {
                    before if before == number => break false,
                    before if before >= first => break true,
                    _ => {}
                }
                match output(at, node) {
                    Output::Switch(next) => at = next,
                    Output::Node(end) => break end == node,
                }
            };
            if !arrives {
                follow(start, node, output)?;
            }
        }
    }
    Ok(())
}

/// Goes from a switch to a node, or says why that does not work.
fn follow(switch: u32, node: u32, output: impl Fn(u32, u32) -> Output) -> Result<(), String> {
    let mut way = vec![switch];
    loop {
        let at = way[way.len() - 1];
        match output(at, node) {
            Output::Node(end) if end == node => return Ok(()),
            Output::Node(end) => {
                return Err(format!("switch {at} sends packets for node {node} to node {end}"));
            }
            Output::Switch(next) => {
                let met = way.iter().position(|&before| before == next);
                way.push(next);
                if let Some(first) = met {
                    let round: Vec<String> =
                        way[first..].iter().map(|switch| format!("switch {switch}")).collect();
                    return Err(format!("packets for node {node} go round: {}", round.join(" → ")));
                }
            }
        }
    }
}
