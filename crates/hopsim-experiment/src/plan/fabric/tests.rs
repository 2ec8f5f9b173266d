use super::*;
use crate::document;
use crate::plan::programs::no_files;
use hopsim_infiniband::congestion::{PortRules, VictimMask};
use hopsim_infiniband::fabric::NONE;
use std::collections::HashMap;

fn plan(text: &str) -> FabricPlan {
    FabricPlan::new(&document::points(text, &[]).unwrap().remove(0).experiment, &no_files).unwrap()
}

fn fabric(topology: &str) -> FabricPlan {
    plan(&format!(
        "router = \"infiniband\"\ntopology.{topology}\njobs = [{{ flows = [{{ source = 0, destination = 1 }}] }}]\n"
    ))
}

#[test]
fn a_tick_is_the_longest_time_that_fits_all() {
    // A byte takes 1/2, 1/4, 8/13 and 1/6 ns.
    let found = fabric("fat_tree = { k = 7, levels = 1 }").fabric;
    assert_eq!(found.ticks_per_ns, 4 * 3 * 13);
    assert_eq!((found.ports[0].byte, found.host.injection, found.host.drain), (78, 96, 96));
    assert_eq!((found.switch.crossbar, found.ports[0].delay), (26, 50 * 156));
    assert_eq!((found.switch.output_buffer, found.ports[0].buffer, found.ports[7].buffer), (78, 256, 1024));
}

#[test]
fn every_link_leads_back_and_every_way_arrives() {
    for topology in [
        "fat_tree = { k = 3, levels = 3 }",
        "mesh = { sides = [3, 4] }",
        "hyperx = { sides = [3, 3], nodes_per_router = 2 }",
        "dragonfly = { p = 2, a = 4, h = 2, groups = 5 }",
        "graph = { edges = [{ between = [0, 1] }, { between = [1, 2] }], nodes_per_router = 3, routers_with_nodes = 2 }",
        "graph = { edges = [{ between = [2, 1] }, { between = [0, 2] }, { between = [1, 2] }], nodes = [1, 3] }",
    ] {
        let found = fabric(topology).fabric;
        for (number, port) in found.ports.iter().enumerate() {
            assert_ne!(port.peer, NONE, "{topology}");
            assert_eq!(found.ports[port.peer as usize].peer, number as u32, "{topology}");
        }
        for (source, destination) in (0..found.hosts).flat_map(|s| (0..found.hosts).map(move |d| (s, d))) {
            let last = *outputs(&found, [source, destination], 0).last().unwrap();
            assert_eq!(found.ports[last as usize].peer, destination, "{topology}");
        }
    }
}

#[test]
fn a_link_down_a_fat_tree_carries_packets_for_one_destination() {
    let found = fabric("fat_tree = { k = 4, levels = 3 }").fabric;
    let mut carried: HashMap<u32, Vec<u32>> = HashMap::new();
    for (source, destination) in (0..64).flat_map(|s| (0..64).map(move |d| (s, d))).filter(|(s, d)| s != d) {
        let way = outputs(&found, [source, destination], 0);
        // As many links down as up, and the link of the host before them.
        for &port in &way[way.len() / 2..] {
            carried.entry(port).or_default().push(destination);
        }
    }
    assert_eq!(carried.len(), 3 * 64);
    assert!(carried.values().all(|all| all.iter().all(|one| *one == all[0])));
}

#[test]
fn only_packets_of_one_vl_wait_for_each_other() {
    // In a ring of five every node sends to the second one after it; the last one with another service level.
    let accepts = |levels: u8| {
        let flow = |source: u32| {
            let level = if source == 4 { levels } else { 0 };
            format!("{{ source = {source}, destination = {}, service_level = {level} }}", (source + 2) % 5)
        };
        let flows: Vec<String> = (0..5).map(flow).collect();
        let text = format!(
            "router.infiniband.lanes.count = 2\ntopology.ring.routers = 5\njobs = [{{ flows = [{}] }}]\n",
            flows.join(", ")
        );
        document::points(&text, &[]).is_ok()
    };
    assert_eq!([accepts(0), accepts(2), accepts(1)], [false, false, true]);
}

/// Whether a document with a flow from every node to every other is accepted.
fn accepts_all_to_all(forwarding: &str, topology: &str, nodes: u32) -> bool {
    let pairs = (0..nodes).flat_map(|s| (0..nodes).map(move |d| (s, d))).filter(|(s, d)| s != d);
    let flows: Vec<String> = pairs.map(|(s, d)| format!("{{ source = {s}, destination = {d} }}")).collect();
    let text = format!(
        "router.infiniband.forwarding = \"{forwarding}\"\ntopology.{topology}\njobs = [{{ flows = [{}] }}]\n",
        flows.join(", ")
    );
    document::points(&text, &[]).is_ok()
}

fn with_forwarding(forwarding: &str, topology: &str) -> Fabric {
    let flows = "jobs = [{ flows = [{ source = 0, destination = 1 }] }]";
    let text = format!("router.infiniband.forwarding = \"{forwarding}\"\ntopology.{topology}\n{flows}\n");
    plan(&text).fabric
}

#[test]
fn tables_that_are_given_are_those_that_are_used() {
    let graph = "graph = { nodes = [3, 1, 2], edges = [{ between = [0, 3] }, { between = [1, 3] }, { between = [4, 0] }, \
        { between = [4, 1] }, { between = [2, 4] }, { between = [3, 2] }] }";
    let found = with_forwarding("min_hop", graph);
    let outputs: Vec<u32> = found.forwarding.outputs().collect();
    let tables: Vec<&[u32]> = outputs.chunks(found.hosts as usize).collect();
    let given = format!("router.infiniband.forwarding.tables = {tables:?}\ntopology.{graph}\n");
    let given = plan(&format!("{given}jobs = [{{ flows = [{{ source = 0, destination = 1 }}] }}]\n")).fabric;
    assert_eq!(given.forwarding, found.forwarding);
}

/// Two switches above four with two nodes each.
const TREE: &str = "graph = { nodes_per_router = 2, routers_with_nodes = 4, edges = [{ between = [0, 4] }, { between = [1, 4] }, \
    { between = [2, 4] }, { between = [3, 4] }, { between = [0, 5] }, { between = [1, 5] }, { between = [2, 5] }, \
    { between = [3, 5] }] }";

#[test]
fn flows_choose_evenly_among_all_shortest_ways_and_seeds_choose_otherwise() {
    let text = |seed: u32| {
        format!(
            "router.infiniband.forwarding = \"ecmp\"\ntopology.{TREE}\nmeasure.seed = {seed}\n\
             jobs = [{{ flows = [{{ source = 0, destination = 7 }}] }}]\n"
        )
    };
    let [one, other] = [1, 2].map(|seed| plan(&text(seed)).fabric);
    let second = |fabric: &Fabric, flow: u32| outputs(fabric, [0, 7], flow)[1];
    let ways: Vec<u32> = (0..4000).map(|flow| second(&one, flow)).collect();
    let first = ways.iter().filter(|&&port| port == ways[0]).count();
    // Two spines: 2000 each in the mean, with a standard deviation of 32.
    assert!((1850..=2150).contains(&first), "{first}");
    assert!((0..4000).any(|flow| second(&other, flow) != ways[flow as usize]));
    assert!((0..4000).all(|flow| outputs(&one, [0, 7], flow).len() == 4));
}

#[test]
fn min_hop_spreads_the_nodes_of_a_switch_over_the_links_to_it() {
    let found = with_forwarding("min_hop", TREE);
    let mut carried: HashMap<u32, Vec<u32>> = HashMap::new();
    for (source, destination) in
        (0..8).flat_map(|s| (0..8).map(move |d| (s, d))).filter(|(s, d)| s / 2 != d / 2)
    {
        let way = outputs(&found, [source, destination], 0);
        assert_eq!(way.len(), 4);
        carried.entry(way[2]).or_default().push(destination);
    }
    // Every link down carries packets for one of the two nodes below it, from everywhere.
    assert_eq!(carried.len(), 8);
    assert!(carried.values().all(|all| all.len() == 6 && all.iter().all(|one| *one == all[0])));
}

#[test]
fn ways_that_lead_up_and_then_down_close_no_circle() {
    let ring = "ring.routers = 5";
    assert!(!accepts_all_to_all("minimal", ring, 5));
    assert!(!accepts_all_to_all("min_hop", ring, 5));
    // A ring with a chord and a tail, and one with two nodes a switch.
    let chord = "graph = { edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [2, 3] }, { between = [3, 4] }, \
        { between = [4, 0] }, { between = [1, 3] }, { between = [4, 5] }, { between = [5, 6] }] }";
    for (topology, nodes) in [(ring, 5), ("torus.sides = [4, 3]", 12), (chord, 7), (TREE, 8)] {
        assert!(accepts_all_to_all("up_down", topology, nodes), "{topology}");
        let found = with_forwarding("up_down", topology);
        for (source, destination) in (0..nodes).flat_map(|s| (0..nodes).map(move |d| (s, d))) {
            let last = *outputs(&found, [source, destination], 0).last().unwrap();
            assert_eq!(found.ports[last as usize].peer, destination, "{topology}");
        }
    }
}

#[test]
fn single_links_may_differ_from_the_others_of_their_kind() {
    let text = "router.infiniband.links.exceptions = [{ node = 1, rate = \"2 Gb/s\" }, { between = [5, 1], delay = \"3 us\" }]\n";
    let found =
        plan(&format!("{text}topology.{TREE}\njobs = [{{ flows = [{{ source = 0, destination = 7 }}] }}]\n"))
            .fabric;
    let ns = found.ticks_per_ns;
    for (number, port) in found.ports.iter().enumerate() {
        let is_of_node = [number as u32, port.peer].contains(&1);
        let is_between = [switch_of(&found, number as u32), switch_of(&found, port.peer)];
        assert_eq!(port.byte == 4 * ns, is_of_node, "port {number}");
        assert_eq!(
            port.delay == 3_000 * ns,
            is_between == [Some(1), Some(5)] || is_between == [Some(5), Some(1)]
        );
    }
}

fn switch_of(fabric: &Fabric, port: u32) -> Option<usize> {
    (!fabric.is_host(port)).then(|| fabric.first_port.partition_point(|&first| first <= port) - 1)
}

/// The tree with congestion control that has exceptions.
fn with_exceptions(exceptions: &str) -> Fabric {
    plan(&format!(
        "router.infiniband.congestion_control = {{ marking_rate = 3, exceptions = [{exceptions}] }}\n\
         topology.{TREE}\njobs = [{{ flows = [{{ source = 0, destination = 7 }}] }}]\n"
    ))
    .fabric
}

/// The ports that are exceptions.
fn excepted(exceptions: &str) -> Vec<u32> {
    with_exceptions(exceptions).congestion.unwrap().exceptions.into_keys().collect()
}

#[test]
fn exceptions_name_ports_by_kind_switch_number_node_or_link() {
    let found = with_exceptions("");
    let of_switch =
        |switch: usize| (found.first_port[switch]..found.first_port[switch + 1]).collect::<Vec<u32>>();
    let to_hosts = |port: &u32| found.is_host(found.ports[*port as usize].peer);
    let all = found.hosts..found.ports.len() as u32;
    let (hosts, switches): (Vec<u32>, Vec<u32>) = all.partition(to_hosts);
    assert_eq!(hosts.len(), 8);
    assert!(excepted("").is_empty());
    assert_eq!(excepted("{ ports = \"hosts\", packet_size = 1 }"), hosts);
    assert_eq!(excepted("{ ports = \"switches\", packet_size = 1 }"), switches);
    assert_eq!(excepted("{ switch = 1, packet_size = 1 }"), of_switch(1));
    let of_both: Vec<u32> = of_switch(1).into_iter().filter(to_hosts).collect();
    assert_eq!(excepted("{ switch = 1, ports = \"hosts\", packet_size = 1 }"), of_both);
    assert_eq!(excepted("{ switch = 1, port = 2, packet_size = 1 }"), [of_switch(1)[2]]);
    assert_eq!(excepted("{ node = 5, packet_size = 1 }"), [found.ports[5].peer]);
    let between = excepted("{ between = [5, 1], packet_size = 1 }");
    let [low, high] = between[..] else { panic!("{between:?}") };
    assert_eq!([low, high].map(|port| switch_of(&found, port)), [Some(1), Some(5)]);
    assert_eq!(found.ports[low as usize].peer, high);
}

#[test]
fn of_several_exceptions_for_a_port_the_last_with_a_key_counts() {
    let of_node = |exceptions: &str| {
        let found = with_exceptions(exceptions);
        let port = found.ports[5].peer;
        found.congestion.unwrap().exceptions[&port]
    };
    let all = with_exceptions("").congestion.unwrap().rules;
    assert_eq!((all.high, all.low, all.marking_rate), (8192, 1844, 3));
    let weight =
        "{ ports = \"hosts\", thresholds = { weight = 15, distance = \"1 MTU\" }, marking_rate = 7 }";
    let both = PortRules { high: 4096, low: 2048, marking_rate: 7, ..all };
    assert_eq!(of_node(weight), both);
    let mask = "victim_mask = \"none\"";
    let none = PortRules { victim_mask: VictimMask::None, ..both };
    assert_eq!(of_node(&format!("{weight}, {{ node = 5, {mask} }}")), none);
    assert_eq!(of_node(&format!("{{ node = 5, {mask}, marking_rate = 0 }}, {weight}")), none);
    // Of the thresholds one that is not given is that of all ports.
    let high = of_node(&format!("{weight}, {{ node = 5, thresholds.high = \"2 MTU\" }}"));
    assert_eq!(high, PortRules { high: 4096, low: 1844, ..both });
    let low = of_node("{ node = 5, thresholds.distance = \"1 MTU\" }");
    assert_eq!(low, PortRules { low: 8192 - 2048, ..all });
    let nothing = of_node("{ node = 5, thresholds.weight = 0 }");
    assert_eq!((nothing.high, nothing.low), (u64::MAX, 1));
}

#[test]
fn a_resolved_document_has_the_thresholds_of_exceptions_and_means_the_same() {
    let text =
        "[{ node = 1, thresholds = { weight = 14 } }, { switch = 2, thresholds = { low = \"1 kB\" } }]";
    let document = format!(
        "router.infiniband.congestion_control.exceptions = {text}\ntopology.{TREE}\n\
         jobs = [{{ flows = [{{ source = 0, destination = 7 }}] }}]\n"
    );
    let found = plan(&document);
    let RouterConfig::Infiniband(config) = &found.experiment.router else { panic!("another router") };
    let own: Vec<_> = config.congestion_control.iter().flat_map(|control| &control.exceptions).collect();
    let [first, second] = [0, 1].map(|index: usize| own[index].thresholds.clone().unwrap());
    assert_eq!((first.weight, first.low.as_deref(), first.high), (Some(14), Some("0.9 MTU"), None));
    assert_eq!((second.high.as_deref(), second.low.as_deref()), (Some("4 MTU"), Some("1 kB")));
    let again = FabricPlan::new(&found.experiment, &no_files).unwrap();
    assert_eq!(again.fabric.congestion, found.fabric.congestion);
    assert_eq!(again.experiment, found.experiment);
}
