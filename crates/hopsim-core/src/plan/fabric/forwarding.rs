//! Forwarding tables: the output of every switch for every destination.

use super::path;
use super::wiring::Plugs;
use crate::config::infiniband::Forwarding;
use crate::error::ConfigError;
use crate::topology::shortest::distances;
use crate::topology::{PortClass, Topology};

/// The tables, by switch · hosts + destination: outputs counted from the first port of the switch.
pub fn tables(
    how: &Forwarding,
    topology: &Topology,
    (first_port, plugs): (&[u32], &Plugs),
) -> Result<Vec<u16>, ConfigError> {
    let (routers, nodes) = (topology.routers(), topology.nodes());
    let number = |router: u32, port: usize| (plugs.of(router, port) - first_port[router as usize]) as u16;
    let ports = match how {
        Forwarding::Minimal => minimal(topology),
        Forwarding::MinHop => spread(topology, &|switch: u32| nearer(topology, switch)),
        Forwarding::UpDown => {
            let levels = levels(topology);
            spread(topology, &|switch: u32| legal(topology, &levels, switch))
        }
        Forwarding::File(file) => {
            let refused = ConfigError::new(path("forwarding.file"), "has not been read");
            return Err(refused.value(format!("{file:?}")).valid("tables in its place"));
        }
        Forwarding::Tables(tables) => return given(tables, topology),
    };
    let place = |router: u32, node: u32| router as usize * nodes as usize + node as usize;
    let tables =
        (0..routers).flat_map(|router| (0..nodes).map(move |node| (router, node))).map(|(router, node)| {
            let here = topology.nodes_of(router);
            let port =
                if here.contains(&node) { (node - here.start) as usize } else { ports[place(router, node)] };
            number(router, port)
        });
    Ok(tables.collect())
}

/// Checks tables of the document.
fn given(tables: &[Vec<u16>], topology: &Topology) -> Result<Vec<u16>, ConfigError> {
    let (routers, nodes) = (topology.routers(), topology.nodes());
    let key = |index: usize| path(&format!("forwarding.tables.{index}"));
    if tables.len() != routers as usize {
        let reason = format!("has tables of {} switches", tables.len());
        return Err(ConfigError::new(path("forwarding.tables"), reason)
            .valid(format!("{routers} tables, one for each switch")));
    }
    let outputs: Vec<Vec<Output>> = (0..routers).map(|router| outputs(topology, router)).collect();
    for (switch, table) in tables.iter().enumerate() {
        if table.len() != nodes as usize {
            let reason = format!("has outputs for {} nodes", table.len());
            return Err(
                ConfigError::new(key(switch), reason).valid(format!("{nodes} outputs, one for each node"))
            );
        }
        if let Some(node) = table.iter().position(|&output| usize::from(output) >= outputs[switch].len()) {
            let reason = format!("switch {switch} has no such output");
            return Err(ConfigError::new(format!("{}.{node}", key(switch)), reason)
                .value(table[node])
                .valid(format!("0 … {}", outputs[switch].len() - 1)));
        }
    }
    let starts = (0..nodes).flat_map(|node| (0..routers).map(move |switch| (switch, node)));
    for (switch, node) in starts {
        follow((switch, node), |switch, node| {
            outputs[switch as usize][usize::from(tables[switch as usize][node as usize])]
        })
        .map_err(|reason| {
            ConfigError::new(path("forwarding.tables"), reason).valid("tables that lead to every node")
        })?;
    }
    Ok(tables.concat())
}

/// Where an output leads.
#[derive(Clone, Copy, Debug)]
enum Output {
    Node(u32),
    Switch(u32),
}

/// Those of a switch: its nodes, then its links.
fn outputs(topology: &Topology, router: u32) -> Vec<Output> {
    let nodes = topology.nodes_of(router).map(Output::Node);
    nodes.chain(links(topology, router).map(|(_, peer)| Output::Switch(peer))).collect()
}

/// Goes from a switch to a node, or says why that does not work.
fn follow((switch, node): (u32, u32), output: impl Fn(u32, u32) -> Output) -> Result<(), String> {
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

/// Ports to other switches that are plugged in, with the switch there.
fn links(topology: &Topology, router: u32) -> impl Iterator<Item = (usize, u32)> {
    let ports = topology.ports().into_iter().enumerate();
    let links = ports.filter(|(_, class)| *class != PortClass::Terminal);
    links.filter_map(move |(port, _)| Some((port, topology.neighbour(router, port)?.0)))
}

/// By router and node: the port that minimal routing takes; which of several, the number of the node says.
fn minimal(topology: &Topology) -> Vec<usize> {
    let port = |router: u32, node: u32| match topology.router_of(node) {
        to if to == router => 0,
        to => topology.minimal_port(router, to, topology.trunk_of(router, to, node)).0,
    };
    let nodes = topology.nodes();
    (0..topology.routers()).flat_map(|router| (0..nodes).map(move |node| port(router, node))).collect()
}

/// By router and node: of the ports that `choices` gives a router for the switch of the node, the one that has been chosen for the
/// fewest nodes before it, of several the first.
fn spread(topology: &Topology, choices: &dyn Fn(u32) -> Vec<Vec<usize>>) -> Vec<usize> {
    let (routers, nodes) = (topology.routers() as usize, topology.nodes() as usize);
    let width = topology.ports().len();
    let mut chosen = vec![0u32; routers * width];
    let mut ports = vec![0; routers * nodes];
    for switch in 0..topology.routers_with_nodes() {
        let choices = choices(switch);
        for node in topology.nodes_of(switch) {
            for (router, choices) in choices.iter().enumerate() {
                let fewest = choices.iter().min_by_key(|&&port| (chosen[router * width + port], port));
                if let Some(&port) = fewest {
                    chosen[router * width + port] += 1;
                    ports[router * nodes + node as usize] = port;
                }
            }
        }
    }
    ports
}

/// By router: the ports by which a shortest path to a switch begins.
fn nearer(topology: &Topology, switch: u32) -> Vec<Vec<usize>> {
    let far = distances(topology.routers() as usize, switch, |router| {
        links(topology, router).map(|(_, peer)| peer)
    });
    let choices = |router: u32| {
        let nearer = move |peer: u32| far[peer as usize] < far[router as usize];
        links(topology, router).filter(move |&(_, peer)| nearer(peer)).map(|(port, _)| port).collect()
    };
    (0..topology.routers()).map(|router| choices.clone()(router)).collect()
}

/// Links from the root to every router. The root is the router whose farthest one is nearest, of several the first.
fn levels(topology: &Topology) -> Vec<u32> {
    let all = (0..topology.routers()).map(|root| {
        distances(topology.routers() as usize, root, |router| links(topology, router).map(|(_, peer)| peer))
    });
    all.min_by_key(|levels| levels.iter().copied().max()).unwrap_or_default()
}

/// By router: the ports by which a shortest way to a switch begins that goes up first and then down only. A table does not know
/// where a packet comes from: a router from which a way goes down only takes such a way, so that no packet goes up again.
fn legal(topology: &Topology, levels: &[u32], switch: u32) -> Vec<Vec<usize>> {
    let routers = topology.routers();
    let is_up = |from: u32, to: u32| (levels[to as usize], to) < (levels[from as usize], from);
    // Backwards from the switch: a packet goes down to where this walk goes up.
    let down = distances(routers as usize, switch, |router| {
        links(topology, router).map(|(_, peer)| peer).filter(move |&peer| is_up(router, peer))
    });
    let mut total = down.clone();
    let mut order: Vec<u32> = (0..routers).collect();
    order.sort_by_key(|&router| (levels[router as usize], router));
    for &router in order.iter().filter(|&&router| down[router as usize] == u32::MAX) {
        let ups = links(topology, router).filter(|&(_, peer)| is_up(router, peer));
        let best = ups.map(|(_, peer)| total[peer as usize]).min().unwrap_or(u32::MAX);
        total[router as usize] = best.saturating_add(1);
    }
    let choices = |router: u32| {
        let goes_down = down[router as usize] != u32::MAX;
        let after = if goes_down { &down } else { &total };
        let begins = |&(_, peer): &(usize, u32)| {
            is_up(router, peer) != goes_down
                && after[peer as usize].checked_add(1) == Some(after[router as usize])
        };
        links(topology, router).filter(begins).map(|(port, _)| port).collect()
    };
    (0..routers).map(choices).collect()
}
