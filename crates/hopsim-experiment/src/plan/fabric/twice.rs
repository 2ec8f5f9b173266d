//! Forwarding tables, circles and used ports computed a second time: node by node and pair by pair, as the rules say it.

use super::kept::Kept;
use super::wiring::Network;
use super::*;
use crate::config::infiniband::Forwarding;
use crate::document;
use crate::plan::fabric::used::{Place, used};
use crate::plan::programs::no_files;
use hopsim_infiniband::faults::What;
use hopsim_network::topology::PortClass;
use hopsim_network::topology::shortest::distances;
use hopsim_random::{Purpose, Stream};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeSet;

/// Random networks and what is sent in them.
struct Dice(Stream);

impl Dice {
    fn new(case: u64) -> Self {
        Self(Stream::new(case, Purpose::Sampling, 34))
    }

    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.0.below(most - least + 1)
    }

    fn topology(&mut self) -> String {
        let [a, b, n] = [self.between(2, 5), self.between(2, 4), self.between(1, 3)];
        match self.0.below(7) {
            0 => format!("fat_tree = {{ k = {}, levels = {} }}", b, self.between(1, 3)),
            1 => format!("mesh = {{ sides = [{a}, {b}], nodes_per_router = {n} }}"),
            2 => format!("torus = {{ sides = [{a}, {b}], nodes_per_router = {n} }}"),
            3 => format!("ring = {{ routers = {}, nodes_per_router = {n} }}", self.between(2, 9)),
            4 => format!("hyperx = {{ sides = [{a}, {b}], nodes_per_router = {n} }}"),
            5 => {
                format!(
                    "dragonfly = {{ p = {n}, a = {b}, h = {}, groups = {} }}",
                    self.between(1, 2),
                    self.between(2, 3)
                )
            }
            _ => self.graph(),
        }
    }

    /// A tree with some more links, parallel ones among them.
    fn graph(&mut self) -> String {
        let routers = self.between(2, 9);
        let mut edges: Vec<[u32; 2]> = (1..routers).map(|router| [self.0.below(router), router]).collect();
        for _ in 0..self.between(0, 6) {
            let one = self.0.below(routers);
            edges.push([one, (one + self.between(1, routers - 1)) % routers]);
        }
        self.0.shuffle(&mut edges);
        let edges: Vec<String> = edges.iter().map(|ends| format!("{{ between = {ends:?} }}")).collect();
        let with_nodes = self.between(2, routers);
        let nodes: Vec<u32> = (0..with_nodes).map(|_| self.between(1, 3)).collect();
        format!("graph = {{ nodes = {nodes:?}, edges = [{}] }}", edges.join(", "))
    }

    /// Flows, nodes that draw and nodes that run a program, each perhaps, in some VLs.
    fn jobs(&mut self, nodes: u32) -> String {
        let mut all: Vec<u32> = (0..nodes).collect();
        self.0.shuffle(&mut all);
        let (drawing, running) = all.split_at(self.0.below(nodes + 1) as usize);
        let mut jobs = Vec::new();
        if drawing.len() > 1 && self.0.below(2) == 0 {
            let level = self.0.below(16);
            jobs.push(format!(
                "{{ placement = {{ list = {drawing:?} }}, messages = {{ rate = \"1 Gb/s\", service_level = {level} }} }}"
            ));
        }
        if running.len() > 1 && self.0.below(2) == 0 {
            let level = self.0.below(16);
            jobs.push(format!(
                "{{ placement = {{ list = {running:?} }}, host = {{ service_level = {level} }}, \
                 program = {{ collective = {{ kind = \"barrier\" }} }} }}"
            ));
        }
        if jobs.is_empty() || self.0.below(2) == 0 {
            let flows: Vec<String> = (0..self.between(1, 12)).map(|_| self.flow(nodes)).collect();
            jobs.push(format!("{{ flows = [{}] }}", flows.join(", ")));
        }
        jobs.join(", ")
    }

    fn flow(&mut self, nodes: u32) -> String {
        let source = self.0.below(nodes);
        let destination = (source + self.between(1, nodes - 1)) % nodes;
        let level = self.0.below(16);
        format!("{{ source = {source}, destination = {destination}, service_level = {level} }}")
    }

    /// Tables that lead to every node somehow.
    fn tables(&mut self, topology: &Topology) -> Vec<Vec<u16>> {
        let (routers, nodes) = (topology.routers(), topology.nodes());
        let mut tables = vec![vec![0; nodes as usize]; routers as usize];
        for node in 0..nodes {
            let home = topology.router_of(node);
            let mut led = BTreeSet::from([home]);
            tables[home as usize][node as usize] = (node - topology.nodes_of(home).start) as u16;
            while led.len() < routers as usize {
                let outside = (0..routers).filter(|router| !led.contains(router));
                let leads: Vec<(u32, usize)> = outside
                    .flat_map(|router| links(topology, router).map(move |(port, peer)| (router, port, peer)))
                    .filter(|(.., peer)| led.contains(peer))
                    .map(|(router, port, _)| (router, port))
                    .collect();
                let (router, port) = leads[self.0.below(leads.len() as u32) as usize];
                led.insert(router);
                tables[router as usize][node as usize] = output(topology, router, port) as u16;
            }
        }
        tables
    }
}

fn text(topology: &str, more: &str, jobs: &str) -> String {
    format!("topology.{topology}\n{more}\njobs = [{jobs}]\n")
}

fn plan(text: &str) -> FabricPlan {
    let points = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    FabricPlan::new(&points[0].experiment, &no_files).unwrap()
}

/// A flow, where it does not matter what is sent.
const FLOW: &str = "{ flows = [{ source = 0, destination = 1 }] }";

fn built(topology: &str) -> Arc<Topology> {
    plan(&text(topology, "router = \"infiniband\"", FLOW)).topology
}

/// The output of a port of a router: plugged ports before it.
fn output(topology: &Topology, router: u32, port: usize) -> u32 {
    let classes = topology.ports();
    let is_plugged = |&port: &usize| match classes[port] {
        PortClass::Terminal => port < topology.nodes_of(router).len(),
        PortClass::Link(_) => topology.neighbour(router, port).is_some(),
    };
    (0..port).filter(is_plugged).count() as u32
}

fn links(topology: &Topology, router: u32) -> impl Iterator<Item = (usize, u32)> {
    let ports = topology.ports().into_iter().enumerate();
    let links = ports.filter(|(_, class)| *class != PortClass::Terminal);
    links.filter_map(move |(port, _)| Some((port, topology.neighbour(router, port)?.0)))
}

/// The outputs by switch · hosts + destination, if the ports to a switch are these by router and the nodes are spread over them.
fn spread(topology: &Topology, choices: impl Fn(u32) -> Vec<Vec<usize>>) -> Vec<u32> {
    let (routers, nodes) = (topology.routers(), topology.nodes());
    let mut chosen: FxHashMap<(u32, usize), u32> = FxHashMap::default();
    let mut outputs = vec![0; (routers * nodes) as usize];
    for node in 0..nodes {
        let home = topology.router_of(node);
        let choices = choices(home);
        for router in 0..routers {
            let count = |&port: &usize| chosen.get(&(router, port)).copied().unwrap_or(0);
            let fewest = choices[router as usize].iter().copied().min_by_key(|port| (count(port), *port));
            let port = fewest.filter(|_| router != home);
            if let Some(port) = port {
                *chosen.entry((router, port)).or_default() += 1;
            }
            let own = || (node - topology.nodes_of(home).start) as usize;
            outputs[(router * nodes + node) as usize] = output(topology, router, port.unwrap_or_else(own));
        }
    }
    outputs
}

fn minimal(topology: &Topology) -> Vec<u32> {
    let all =
        (0..topology.routers()).flat_map(|router| (0..topology.nodes()).map(move |node| (router, node)));
    let port = |(router, node): (u32, u32)| match topology.router_of(node) {
        to if to == router => (node - topology.nodes_of(to).start) as usize,
        to => topology.minimal_port(router, to, topology.trunk_of(router, to, node)).0,
    };
    all.map(|pair| output(topology, pair.0, port(pair))).collect()
}

fn min_hop(topology: &Topology) -> Vec<u32> {
    spread(topology, |switch| {
        let peers = |router| links(topology, router).map(|(_, peer)| peer);
        let far = distances(topology.routers() as usize, switch, peers);
        let nearer = |router: u32| {
            let ports = links(topology, router);
            ports
                .filter(|&(_, peer)| far[peer as usize] < far[router as usize])
                .map(|(port, _)| port)
                .collect()
        };
        (0..topology.routers()).map(nearer).collect()
    })
}

fn up_down(topology: &Topology) -> Vec<u32> {
    let routers = topology.routers();
    let from =
        |root| distances(routers as usize, root, |router| links(topology, router).map(|(_, peer)| peer));
    // Routers that are out of order have no links.
    let roots = (0..routers).filter(|&root| root == 0 || links(topology, root).next().is_some());
    let farthest = |levels: &Vec<u32>| levels.iter().copied().filter(|&level| level < u32::MAX).max();
    let levels = roots.map(from).min_by_key(farthest).unwrap();
    let is_up = |from: u32, to: u32| (levels[to as usize], to) < (levels[from as usize], from);
    let mut order: Vec<u32> = (0..routers).collect();
    order.sort_by_key(|&router| (levels[router as usize], router));
    spread(topology, |switch| {
        let above =
            |router| links(topology, router).map(|(_, peer)| peer).filter(move |&peer| is_up(router, peer));
        let down = distances(routers as usize, switch, above);
        let mut total = down.clone();
        for &router in order.iter().filter(|&&router| down[router as usize] == u32::MAX) {
            let after = above(router).map(|peer| total[peer as usize]).min();
            total[router as usize] = after.map_or(u32::MAX, |after| after.saturating_add(1));
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
    })
}

fn forwarding(plan: &FabricPlan) -> Vec<u32> {
    plan.fabric.forwarding.outputs().collect()
}

#[test]
fn tables_are_those_of_the_rules_node_by_node() {
    for case in 0..150 {
        let mut dice = Dice::new(case);
        let topology = dice.topology();
        let found =
            |how: &str| plan(&text(&topology, &format!("router.infiniband.forwarding = {how}"), FLOW));
        let built = Arc::clone(&found("\"minimal\"").topology);
        assert_eq!(forwarding(&found("\"minimal\"")), minimal(&built), "{topology}");
        assert_eq!(forwarding(&found("\"min_hop\"")), min_hop(&built), "{topology}");
        assert_eq!(forwarding(&found("\"up_down\"")), up_down(&built), "{topology}");
        let tables = dice.tables(&built);
        let given: Vec<u32> = tables.iter().flatten().map(|&output| output.into()).collect();
        let allowed = format!("{{ tables = {tables:?} }}\nrouter.infiniband.lanes.allow_deadlock = true");
        assert_eq!(forwarding(&found(&allowed)), given, "{topology}");
    }
}

/// The number that an output of what is left of a topology has among the outputs of the whole one.
fn among_all(whole: &Topology, rest: &Topology, router: u32, number: u32) -> u32 {
    let is_plugged = |&port: &usize| {
        let is_own = rest.ports()[port] == PortClass::Terminal && port < rest.nodes_of(router).len();
        is_own || rest.neighbour(router, port).is_some()
    };
    let port = (0..rest.ports().len()).filter(is_plugged).nth(number as usize);
    port.map_or(0, |port| output(whole, router, port))
}

#[test]
fn tables_without_some_links_are_those_of_the_rest() {
    let mut accepted = 0;
    for case in 0..150 {
        let mut dice = Dice::new(case);
        let topology = dice.graph();
        let faults = format!("[{{ links = {{ fraction = 0.{}, seed = {case} }} }}]", dice.between(10, 40));
        let found = |how: &str, faults: &str| {
            let more =
                format!("router.infiniband = {{ forwarding = \"{how}\", lanes.allow_deadlock = true }}");
            let points = document::points(&text(&topology, &format!("{more}\nfaults = {faults}"), FLOW), &[]);
            points.map(|points| FabricPlan::new(&points[0].experiment, &no_files).unwrap())
        };
        let whole = found("minimal", "[]").unwrap();
        let rest = match found("minimal", &faults) {
            Ok(plan) => plan,
            Err(error) => {
                assert!(error.reason.contains("falls apart"), "{error}");
                continue;
            }
        };
        accepted += usize::from(rest.topology.routers() > 2);
        assert_eq!(rest.fabric.ports, whole.fabric.ports, "ports keep their numbers");
        let of_rest = [minimal(&rest.topology), min_hop(&rest.topology), up_down(&rest.topology)];
        for (how, tables) in ["minimal", "min_hop", "up_down"].into_iter().zip(of_rest) {
            let hosts = rest.fabric.hosts;
            let expected: Vec<u32> = (0..)
                .zip(tables)
                .map(|(entry, output)| among_all(&whole.topology, &rest.topology, entry / hosts, output))
                .collect();
            assert_eq!(forwarding(&found(how, &faults).unwrap()), expected, "{how}: {topology}, {faults}");
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn no_way_leads_over_a_switch_that_is_out_of_order() {
    let topology = "xgft = { children = [4, 4], parents = [1, 3] }";
    for how in ["minimal", "min_hop", "up_down"] {
        let more = format!("router.infiniband.forwarding = \"{how}\"\nfaults = [{{ routers = [4, 6] }}]");
        let found = plan(&text(topology, &more, ALL_TO_ALL));
        let spines = [4, 5, 6].map(|spine| found.wiring.cables.ports(spine));
        let mut passed = BTreeSet::new();
        for pair in (0..16).flat_map(|from| (0..16).filter(move |&to| to != from).map(move |to| [from, to])) {
            passed
                .extend(outputs(&found.fabric, pair, 0).into_iter().filter(|port| *port >= spines[0].start));
        }
        assert!(
            !passed.is_empty() && passed.iter().all(|port| spines[1].contains(port)),
            "{how}: {passed:?}"
        );
    }
}

#[test]
fn switches_with_many_ports_have_tables_of_two_bytes() {
    let found =
        plan(&text("hyperx = { sides = [200], nodes_per_router = 58 }", "router = \"infiniband\"", FLOW));
    assert!(matches!(*found.fabric.forwarding, hopsim_infiniband::forwarding::Tables::Wide(_)));
    for (switch, node) in [(0, 0), (0, 57), (0, 58), (199, 0), (199, 58 * 199 - 1), (7, 58 * 150)] {
        let to = found.topology.router_of(node);
        let port = if to == switch { node % 58 } else { 58 + to - u32::from(to > switch) };
        assert_eq!(found.fabric.output(switch, node, 0), found.fabric.first_port[switch as usize] + port);
    }
    let last = found.fabric.ports[found.fabric.output(0, 58 * 199, 0) as usize].peer;
    assert!((found.fabric.first_port[199]..found.fabric.first_port[200]).contains(&last));
    let narrow =
        plan(&text("hyperx = { sides = [200], nodes_per_router = 57 }", "router = \"infiniband\"", FLOW));
    assert!(matches!(*narrow.fabric.forwarding, hopsim_infiniband::forwarding::Tables::Narrow(_)));
}

/// Source, destination and VL of everything that is sent.
fn pairs(plan: &FabricPlan) -> Vec<([u32; 2], u8)> {
    let listed =
        plan.flows.iter().map(|flow| ([flow.source, flow.destination], plan.lane(flow.service_level)));
    let drawn = plan.messages.iter().map(|plan| (&plan.nodes, plan.service_level));
    let run = plan.programs.iter().map(|program| (&program.plan.nodes, program.service_level));
    let between = drawn.chain(run).flat_map(|(nodes, service_level)| {
        let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| [from, to]));
        pairs.filter(|[from, to]| from != to).map(move |pair| (pair, plan.lane(service_level)))
    });
    listed.chain(between).collect()
}

/// The ports of every way from one node to another: all shortest ones if flows choose among them.
fn all_ways(plan: &FabricPlan, [source, destination]: [u32; 2]) -> Vec<Vec<u32>> {
    let fabric = &plan.fabric;
    if fabric.paths.is_none() {
        return vec![outputs(fabric, [source, destination], 0)];
    }
    let mut ways = vec![vec![source]];
    // Ways grow until the first ones are there: these are the shortest.
    loop {
        let end = |way: &Vec<u32>| fabric.ports[way[way.len() - 1] as usize].peer;
        let there: Vec<Vec<u32>> = ways.iter().filter(|way| end(way) == destination).cloned().collect();
        if !there.is_empty() {
            return there;
        }
        let longer = |way: &Vec<u32>| {
            let switch = fabric.switch_of(end(way)).map(|switch| switch as usize);
            let ports = switch.map(|at| fabric.first_port[at]..fabric.first_port[at + 1]);
            ports.into_iter().flatten().map(|port| [&way[..], &[port]].concat()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
}

/// The VL and the switches of the circle that is named, if there is one.
fn circle(plan: &FabricPlan) -> Option<(u8, Vec<u32>)> {
    let mut waits: DiGraphMap<(u8, u32), ()> = DiGraphMap::new();
    for (there, lane) in pairs(plan) {
        let back = plan.fabric.congestion.is_some().then_some([there[1], there[0]]);
        for way in std::iter::once(there).chain(back).flat_map(|pair| all_ways(plan, pair)) {
            for pair in way.windows(2) {
                waits.add_edge((lane, pair[0]), (lane, pair[1]), ());
            }
        }
    }
    let circles = tarjan_scc(&waits).into_iter().filter(|component| component.len() > 1);
    let component = circles.min_by_key(|component| component.iter().min().copied())?;
    let mut way = vec![*component.iter().min()?];
    loop {
        let last = *way.last()?;
        let next = waits.neighbors(last).filter(|next| component.contains(next)).min()?;
        if let Some(start) = way.iter().position(|&member| member == next) {
            return Some((next.0, way.split_off(start).into_iter().map(|(_, port)| port).collect()));
        }
        way.push(next);
    }
}

/// A document of a random fabric, which is accepted whether its packets may wait in a circle or not, and of the same fabric which is not.
fn fabric(case: u64) -> [String; 2] {
    let mut dice = Dice::new(case);
    let topology = dice.topology();
    let built = built(&topology);
    let how = match dice.0.below(5) {
        0 => "\"minimal\"".into(),
        1 => "\"min_hop\"".into(),
        2 => "\"up_down\"".into(),
        3 => "\"ecmp\"".into(),
        _ => format!("{{ tables = {:?} }}", dice.tables(&built)),
    };
    let control = ["", "router.infiniband.congestion_control = {}\n"][dice.0.below(2) as usize];
    let (lanes, jobs) = (dice.between(1, 3), dice.jobs(built.nodes()));
    [true, false].map(|allowed| {
        let lanes = format!("router.infiniband.lanes = {{ count = {lanes}, allow_deadlock = {allowed} }}");
        text(&topology, &format!("router.infiniband.forwarding = {how}\n{control}{lanes}"), &jobs)
    })
}

#[test]
fn circles_are_those_of_all_pairs_of_nodes() {
    let (mut refused, mut in_other_lanes) = (0, 0);
    for case in 1000..1600 {
        let [allowed, strict] = fabric(case);
        let found = plan(&allowed);
        let expected = circle(&found);
        let (circle, _) = found.wiring.circle(found.ways(found.fabric.congestion.is_some()));
        assert_eq!(circle.map(|circle| (circle.lane, circle.ports.clone())), expected, "{allowed}");
        let said = document::points(&strict, &[]).err().map(|error| (error.path, error.reason));
        let message = expected.map(|(lane, ports)| {
            (refused, in_other_lanes) = (refused + 1, in_other_lanes + u32::from(lane > 0));
            let switch = |&port: &u32| found.fabric.first_port.partition_point(|&first| first <= port) - 1;
            let switches = ports.iter().chain(&ports[..1]).map(|port| format!("switch {}", switch(port)));
            let way = switches.collect::<Vec<_>>().join(" → ");
            let reason = format!(
                "packets of VL {lane} can wait for each other in a circle, for room behind these links: {way}"
            );
            ("topology".to_owned(), reason)
        });
        assert_eq!(said, message, "{strict}");
    }
    assert!(refused > 80 && refused < 500 && in_other_lanes > 10, "{refused}, {in_other_lanes}");
}

#[test]
fn used_ports_are_those_of_all_pairs_of_nodes() {
    for case in 2000..2200 {
        let found = plan(&fabric(case)[0]);
        let of_pair = |(way, lane): ([u32; 2], u8)| {
            all_ways(&found, way).concat().into_iter().map(move |port| (port, lane))
        };
        let expected: BTreeSet<(u32, u8)> = pairs(&found).into_iter().flat_map(of_pair).collect();
        let found: Vec<(u32, u8)> = used(&found).iter().map(|&Place { port, lane }| (port, lane)).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}

/// What is wrong with the first of all ways that are, destinations in ascending order and then switches.
fn wrong_way(topology: &Topology, tables: &[Vec<u16>]) -> Option<String> {
    let leads = |router: u32, node: u32| {
        let output = usize::from(tables[router as usize][node as usize]);
        let own = topology.nodes_of(router);
        match output.checked_sub(own.len()) {
            None => Err(own.start + output as u32),
            Some(number) => Ok(links(topology, router).nth(number).unwrap().1),
        }
    };
    let ways = (0..topology.nodes()).flat_map(|node| (0..topology.routers()).map(move |start| (node, start)));
    for (node, start) in ways {
        let mut way = vec![start];
        loop {
            let at = *way.last()?;
            match leads(at, node) {
                Err(end) if end == node => break,
                Err(end) => return Some(format!("switch {at} sends packets for node {node} to node {end}")),
                Ok(next) => way.push(next),
            }
            let last = way[way.len() - 1];
            if let Some(first) = way[..way.len() - 1].iter().position(|&before| before == last) {
                let round: Vec<String> =
                    way[first..].iter().map(|switch| format!("switch {switch}")).collect();
                return Some(format!("packets for node {node} go round: {}", round.join(" → ")));
            }
        }
    }
    None
}

#[test]
fn tables_that_do_not_lead_to_every_node_are_refused_by_the_first_way_that_does_not() {
    let mut refused = 0;
    for case in 3000..3300 {
        let mut dice = Dice::new(case);
        let topology = dice.topology();
        let built = built(&topology);
        let mut tables = dice.tables(&built);
        for _ in 0..dice.between(1, 2) {
            let (router, node) = (dice.0.below(built.routers()), dice.0.below(built.nodes()));
            let outputs = built.nodes_of(router).len() + links(&built, router).count();
            tables[router as usize][node as usize] = dice.0.below(outputs as u32) as u16;
        }
        let how = format!(
            "router.infiniband = {{ forwarding = {{ tables = {tables:?} }}, lanes = {{ allow_deadlock = true }} }}"
        );
        let said = document::points(&text(&topology, &how, FLOW), &[]).err().map(|error| error.reason);
        let expected = wrong_way(&built, &tables);
        refused += u32::from(expected.is_some());
        assert_eq!(said, expected, "{topology} {tables:?}");
    }
    assert!(refused > 50 && refused < 280, "{refused}");
}

const ALL_TO_ALL: &str = "{ messages = { rate = \"1 Gb/s\" } }";

#[test]
fn work_grows_with_destinations_times_switches_and_not_with_pairs_of_nodes() {
    for how in ["minimal", "min_hop", "up_down"] {
        // Fat trees of 64 to 2,025 nodes, many on a switch and few, and a mesh of long ways.
        for topology in [
            "fat_tree = { k = 4, levels = 3 }",
            "fat_tree = { k = 2, levels = 8 }",
            "fat_tree = { k = 8, levels = 3 }",
            "fat_tree = { k = 45, levels = 2 }",
            "mesh = { sides = [30, 30] }",
        ] {
            let more = format!(
                "router.infiniband.forwarding = \"{how}\"\nrouter.infiniband.lanes.allow_deadlock = true"
            );
            let found = plan(&text(topology, &more, ALL_TO_ALL));
            let steps = found.steps + found.wiring.circle(found.ways(true)).1;
            let cables = &found.wiring.cables;
            let (hosts, switches) = (u64::from(cables.hosts), u64::from(cables.switches()));
            // What each switch looks for is a port for each destination's switch.
            let searched = u64::from(found.topology.routers_with_nodes()) * cables.ends.len() as u64;
            let allowed = 7 * hosts * switches + if how == "minimal" { 0 } else { 3 * searched };
            assert!(steps <= allowed, "{topology}, {how}: {steps} of {allowed}");
            assert!(steps >= 3 * hosts * switches, "{topology}, {how}: {steps}");
            let mut left = 0;
            for ways in found.ways(true).values() {
                ways.follow(cables, &found.wiring.forwarding, &mut |_| left += 1);
            }
            assert!(left <= 2 * hosts * switches, "{topology}, {how}: {left}");
        }
    }
}

#[test]
fn points_with_the_same_network_share_it() {
    let kept = Kept::new();
    let of = |topology: &str, how: &str| {
        let text = text(topology, &format!("router.infiniband.lanes.allow_deadlock = true\n{how}"), FLOW);
        let mut experiment = document::points(&text, &[]).unwrap().remove(0).experiment;
        let RouterConfig::Infiniband(router) = &experiment.router else { unreachable!() };
        let how = router.forwarding.clone();
        if !topology.contains("groups") && topology.contains("dragonfly") {
            let TopologyConfig::Dragonfly(config) = &mut experiment.topology else { unreachable!() };
            config.groups = None;
        }
        let network = Network::of(&kept, &experiment, &how).unwrap();
        (network.wiring(&how).unwrap(), how)
    };
    let two = "graph = { nodes = [1, 1], edges = [{ between = [0, 1] }, { between = [0, 1] }] }";
    let tables =
        |last: u16| format!("router.infiniband.forwarding = {{ tables = [[0, {last}], [{last}, 0]] }}");
    // In turn, and whether it is the same as before.
    let mut before: Option<(Arc<Wiring>, Forwarding)> = None;
    for (topology, how, is_same) in [
        ("dragonfly = { p = 1, a = 2, h = 1 }", "", false),
        ("dragonfly = { p = 1, a = 2, h = 1, groups = 3 }", "", true),
        (
            "dragonfly = { p = 1, a = 2, h = 1, groups = 3 }",
            "router.infiniband.forwarding = \"min_hop\"",
            false,
        ),
        (
            "dragonfly = { p = 1, a = 2, h = 1, groups = 2 }",
            "router.infiniband.forwarding = \"min_hop\"",
            false,
        ),
        (two, "", false),
        (two, "router.infiniband.mtu = 1024", true),
        (two, &tables(1), false),
        (two, &tables(1), true),
        (two, &tables(2), false),
    ] {
        let found = of(topology, how);
        let same = before.as_ref().is_some_and(|before| Arc::ptr_eq(&before.0, &found.0));
        assert_eq!(same, is_same, "{topology}, {how}");
        before = Some(found);
    }
}

#[test]
fn tables_that_are_kept_do_not_hide_that_others_have_the_wrong_form() {
    let two = "graph = { nodes = [2, 1], edges = [{ between = [0, 1] }] }";
    let said = |tables: &str| {
        let how = format!("router.infiniband.forwarding.tables = {tables}");
        document::points(&text(two, &how, FLOW), &[]).err().map(|error| error.reason)
    };
    assert_eq!(said("[[0, 1, 2], [1, 1, 0]]"), None);
    assert_eq!(said("[[0, 1], [2, 1, 1, 0]]").unwrap(), "has outputs for 2 nodes");
}

#[test]
fn links_fail_and_tables_are_written_when_the_document_says_so() {
    let with = |faults: &str| {
        let more = format!("measure.time.window = \"1 ms\"\nrouter = \"infiniband\"\nfaults = [{faults}]");
        plan(&text("xgft = { children = [2, 2], parents = [1, 2] }", &more, ALL_TO_ALL))
    };
    let link = "links = { between = [[0, 2]] }";
    let time = "at = \"20 us\", until = \"60 us\", detection = \"1 us\", reroute = \"10 us\", table_write = \"2 us\"";
    let found = with(&format!("{{ {link}, time = {{ {time} }} }}"));
    let left = with(&format!("{{ {link} }}"));
    assert_eq!(forwarding(&found), forwarding(&with("")));
    let written: Vec<u32> = found.fabric.faults.tables[0].outputs().collect();
    assert_eq!((written, found.fabric.faults.tables.len()), (forwarding(&left), 1));
    let us = 1_000 * found.fabric.ticks_per_ns;
    let changes: Vec<(u64, What)> =
        found.fabric.faults.changes.iter().map(|it| (it.at / us, it.what)).collect();
    // Switch 0 has nodes 0 and 1, and its first link, to switch 2, is its port behind theirs.
    let port = found.fabric.first_port[0] + 2;
    let tables = |first: u64, tables: u32| {
        [(first, 0), (first + 2, 1), (first + 4, 2)].map(|(at, switch)| (at, What::Table { switch, tables }))
    };
    let expected: Vec<(u64, What)> = [(20, What::Fails { port, drops: true }), (21, What::Detected { port })]
        .into_iter()
        .chain(tables(31, 1))
        .chain([(60, What::Repaired { port })])
        .chain(tables(71, 0))
        .collect();
    assert_eq!(changes, expected);
}

/// Whether packets can wait for each other in a circle if every switch has any of the tables, way by way.
fn has_circle_of_all_tables(plan: &FabricPlan) -> bool {
    let mut waits: DiGraphMap<(u8, u32), ()> = DiGraphMap::new();
    let tables: Vec<Vec<u32>> = plan.tables().map(|tables| tables.outputs().collect()).collect();
    for ([source, destination], lane) in pairs(plan) {
        let next = |switch: u32| {
            let entry = (switch * plan.fabric.hosts + destination) as usize;
            let first = plan.fabric.first_port[switch as usize];
            tables.iter().map(move |tables| first + tables[entry]).collect::<Vec<u32>>()
        };
        let (mut open, mut seen) = (next(plan.wiring.cables.ends[source as usize]), BTreeSet::new());
        while let Some(port) = open.pop() {
            let end = plan.wiring.cables.ends[port as usize];
            if end == hopsim_infiniband::fabric::NONE || !seen.insert(port) {
                continue;
            }
            for after in next(end) {
                waits.add_edge((lane, port), (lane, after), ());
                open.push(after);
            }
        }
    }
    tarjan_scc(&waits).iter().any(|component| component.len() > 1)
}

#[test]
fn tables_that_are_free_of_circles_may_close_one_together() {
    let mut counts = [0; 2];
    for case in 0..150 {
        let mut dice = Dice::new(case);
        let topology = dice.graph();
        let faults = format!(
            "[{{ links = {{ fraction = 0.2, seed = {case} }}, time = {{ at = \"20 us\", until = \"50 us\" }} }}]"
        );
        let more = format!(
            "measure.time.window = \"1 ms\"\nrouter.infiniband.forwarding = \"up_down\"\nfaults = {faults}"
        );
        let Ok(points) = document::points(&text(&topology, &more, ALL_TO_ALL), &[]) else { continue };
        let plan = FabricPlan::new(&points[0].experiment, &no_files).unwrap();
        let has_circle = plan.circle_of_all_tables().is_some();
        assert_eq!(has_circle, has_circle_of_all_tables(&plan), "{topology}, {faults}");
        assert_eq!(plan.circle(), None);
        counts[usize::from(has_circle)] += 1;
    }
    assert!(counts.iter().all(|&count| count >= 10), "{counts:?}");
}
