//! Forwarding tables: the output of every switch for every destination.

pub mod ecmp;
mod given;
mod min_hop;
mod spread;
mod up_down;

use super::path;
use super::wiring::Cables;
use crate::config::infiniband::Forwarding;
use hopsim_infiniband::fabric::NONE;
use hopsim_infiniband::forwarding::{Entry, Tables};
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;

/// Most bytes of all tables together.
const MOST_BYTES: u64 = 1 << 31;

/// Whether an entry of the tables of a topology takes a byte.
fn is_narrow(topology: &Topology) -> bool {
    topology.ports().len() <= u8::OUTPUTS as usize
}

/// Refuses a topology with tables that are too large.
pub fn check_size(topology: &Topology) -> Result<(), ConfigError> {
    let (hosts, routers) = (topology.nodes(), topology.routers());
    let entry = if is_narrow(topology) { size_of::<u8>() } else { size_of::<u16>() };
    let bytes = u64::from(hosts) * u64::from(routers) * entry as u64;
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let reason = format!("the forwarding tables of {routers} switches to {hosts} nodes would be too large");
    Err(ConfigError::new("topology", reason)
        .value(format!("{bytes} bytes"))
        .valid(format!("at most {MOST_BYTES} bytes")))
}

/// The forwarding tables. `outputs` are those of the ports of the topology, see [`Cables::new`].
pub fn tables(
    how: &Forwarding,
    topology: &Topology,
    cables: &Cables,
    outputs: &[u32],
) -> Result<Tables, ConfigError> {
    if is_narrow(topology) {
        return entries(how, topology, cables, outputs).map(Tables::Narrow);
    }
    entries(how, topology, cables, outputs).map(Tables::Wide)
}

/// The forwarding tables over what is left of a topology. `whole` are the outputs of the ports of the topology with all its links, which are
/// those of the tables.
pub fn tables_without(how: &Forwarding, rest: &Topology, whole: &[u32]) -> Result<Tables, ConfigError> {
    let (cables, outputs) = Cables::new(rest);
    let mut tables = tables(how, rest, &cables, &outputs)?;
    let width = rest.ports().len();
    for switch in 0..rest.routers() {
        let row = switch as usize * width..(switch as usize + 1) * width;
        let ports = outputs[row.clone()].iter().zip(&whole[row]);
        let number: Vec<u32> =
            ports.filter(|(output, _)| **output != NONE).map(|(_, &whole)| whole).collect();
        interrupt::steps(u64::from(rest.nodes()));
        let entries = switch as usize * rest.nodes() as usize;
        tables.renumber(entries..entries + rest.nodes() as usize, |output| {
            number.get(output as usize).copied().unwrap_or(0)
        });
    }
    Ok(tables)
}

fn entries<E: Entry>(
    how: &Forwarding,
    topology: &Topology,
    cables: &Cables,
    outputs: &[u32],
) -> Result<Vec<E>, ConfigError> {
    match how {
        Forwarding::Minimal => Ok(minimal(topology, outputs)),
        Forwarding::MinHop | Forwarding::Ecmp => Ok(min_hop::tables(topology, cables)),
        Forwarding::UpDown => Ok(up_down::tables(topology, cables)),
        Forwarding::File(file) => {
            let refused = ConfigError::new(path("forwarding.file"), "has not been read");
            Err(refused.value(format!("{file:?}")).valid("tables in its place"))
        }
        Forwarding::Tables(tables) => given::tables(tables, cables),
    }
}

/// Tables to fill in: every entry is output 0.
fn empty<E: Entry>(topology: &Topology) -> Vec<E> {
    let entries = topology.routers() as usize * topology.nodes() as usize;
    let mut tables = hopsim_memory::table(entries);
    for _ in 0..topology.routers() {
        interrupt::steps(u64::from(topology.nodes()));
        tables.resize(tables.len() + topology.nodes() as usize, E::new(0));
    }
    tables
}

/// Fills in the outputs of a switch to its own hosts, which come first.
fn to_own_hosts<E: Entry>(topology: &Topology, switch: u32, table: &mut [E]) {
    for (output, host) in (0..).zip(topology.nodes_of(switch)) {
        table[host as usize] = E::new(output);
    }
}

/// Forwarding tables by the port that minimal routing takes; which of several, the number of the node says.
fn minimal<E: Entry>(topology: &Topology, outputs: &[u32]) -> Vec<E> {
    let (width, hosts) = (topology.ports().len(), topology.nodes() as usize);
    let mut tables = empty(topology);
    for (switch, table) in (0..).zip(tables.chunks_mut(hosts)) {
        interrupt::steps(hosts as u64);
        let output = &outputs[switch as usize * width..][..width];
        if output.iter().all(|&output| output == NONE) {
            // A switch that is out of order leads nowhere.
            continue;
        }
        topology.minimal_runs(switch, |nodes, port| {
            table[nodes.start as usize..nodes.end as usize].fill(E::new(output[port]));
        });
        to_own_hosts(topology, switch, table);
    }
    tables
}
