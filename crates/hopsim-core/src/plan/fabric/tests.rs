use super::*;
use crate::config::document;
use hopsim_infiniband::fabric::NONE;
use std::collections::HashMap;

fn plan(text: &str) -> FabricPlan {
    FabricPlan::new(&document::points(text, &[]).unwrap().remove(0).experiment).unwrap()
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
    ] {
        let found = fabric(topology).fabric;
        for (number, port) in found.ports.iter().enumerate() {
            assert_ne!(port.peer, NONE, "{topology}");
            assert_eq!(found.ports[port.peer as usize].peer, number as u32, "{topology}");
        }
        for (source, destination) in (0..found.hosts).flat_map(|s| (0..found.hosts).map(move |d| (s, d))) {
            let last = *outputs(&found, [source, destination]).last().unwrap();
            assert_eq!(found.ports[last as usize].peer, destination, "{topology}");
        }
    }
}

#[test]
fn a_link_down_a_fat_tree_carries_packets_for_one_destination() {
    let found = fabric("fat_tree = { k = 4, levels = 3 }").fabric;
    let mut carried: HashMap<u32, Vec<u32>> = HashMap::new();
    for (source, destination) in (0..64).flat_map(|s| (0..64).map(move |d| (s, d))).filter(|(s, d)| s != d) {
        let way = outputs(&found, [source, destination]);
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
