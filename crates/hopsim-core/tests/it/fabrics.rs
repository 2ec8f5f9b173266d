//! InfiniBand fabrics: the whole text of every message about bad input, and what a resolved document is.

mod ethernet;
mod reactions;

use crate::message_of;
use hopsim_core::engine::{Control, run_any};
use hopsim_experiment::document;
use hopsim_experiment::plan::AnyPlan;
use hopsim_experiment::plan::programs::no_files;
use serde_json::json;

/// A switch with four hosts.
const VALID: &str = "\
topology.fat_tree = { k = 4, levels = 1 }
router.infiniband.congestion_control = {}
[[jobs]]
flows = [{ source = 0, destination = 3 }, { source = 1, destination = 3 }]
";

/// The message about a value of the router.
fn router(key: &str, value: &str) -> String {
    message_of(VALID, &[&format!("router.infiniband.{key}={value}")])
}

/// The same of congestion control.
fn control(key: &str, value: &str) -> String {
    router(&format!("congestion_control.{key}"), value)
}

/// The beginning of a message about an override.
fn starts(message: &str, expected: &str) {
    let expected = expected.replacen(": ", " (override): ", 1);
    assert!(message.starts_with(&expected), "{message}\ninstead of\n{expected}");
}

#[test]
fn rates_and_sizes() {
    assert_eq!(
        router("links.switch.rate", "3x DDR"),
        "router.infiniband.links.switch.rate = \"3x DDR\" (override): is a rate that no link has; valid: \
         1x, 4x, 8x, 12x and SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR, as \"4x DDR\"; \
         or a number above 0 and Mb/s, Gb/s, Tb/s, as \"13 Gb/s\""
    );
    for rate in ["4x UDR", "4xDDR", "0 Gb/s", "-3 Gb/s", "13", "Gb/s", ""] {
        let expected = format!("router.infiniband.host.drain = {rate:?}: is a rate that no link has");
        starts(&router("host.drain", &format!("{rate:?}")), &expected);
    }
    for rate in ["12x XDR", "1x SDR", "4x FDR", "13.5 Gb/s", "1 Tb/s", "250 Mb/s"] {
        assert_eq!(router("links.host.rate", rate), "accepted", "{rate}");
    }
    assert_eq!(
        router("mtu", "1500"),
        "router.infiniband.mtu = 1500 (override): is not legal; valid: 256, 512, 1024, 2048, 4096"
    );
    assert_eq!(
        router("host.receive_buffer", "1 KiB"),
        "router.infiniband.host.receive_buffer = \"1 KiB\" (override): a packet of 2048 B (mtu) has no room; \
         valid: a multiple of 64 B from 2048 B to 1048576 KiB"
    );
    assert_eq!(
        router("switch.output_buffer", "5000 B"),
        "router.infiniband.switch.output_buffer = \"5000 B\" (override): \
         is no whole number of blocks of 64 B, the unit of credits; valid: a multiple of 64 B from 2048 B to 1048576 KiB"
    );
    starts(
        &router("switch.buffers.host", "1e9 KiB"),
        "router.infiniband.switch.buffers.host = \"1e9 KiB\": is too large",
    );
    assert_eq!(
        router("switch.transfers_per_input", "0"),
        "router.infiniband.switch.transfers_per_input = 0 (override): out of range; valid: 1 … 255"
    );
}

#[test]
fn times() {
    assert_eq!(
        router("links.host.delay", "0 ns"),
        "router.infiniband.links.host.delay = \"0 ns\" (override): is not a positive number and a unit; \
         valid: a decimal number above 0 and ps, ns, us, ms, s"
    );
    assert_eq!(
        router("switch.input_latency", "fast"),
        "router.infiniband.switch.input_latency = \"fast\" (override): is not a number and a unit; \
         valid: a decimal number and ps, ns, us, ms, s"
    );
    assert_eq!(router("switch.input_latency", "0 ns"), "accepted");
    assert_eq!(
        router("links.host.delay", "0.1234567891 ns"),
        "router.infiniband.links.host.delay = \"0.1234567891 ns\" (override): has no common unit with the other \
         times and rates that is a millionth of a nanosecond or longer; valid: a value with fewer digits"
    );
    assert_eq!(
        message_of(VALID, &["measure.time.window=1e9 s"]),
        "measure.time.window = \"1e9 s\" (override): is too long for the unit that all times have in common; \
         valid: less than 29562089 s, or times and rates with fewer digits"
    );
    starts(
        &router("host.injection", "1e-9 Gb/s"),
        "router.infiniband.host.injection = \"1e-9 Gb/s\": is too slow",
    );
}

#[test]
fn thresholds() {
    let of = |key: &str, value: &str| control(&format!("thresholds.{key}"), value);
    assert_eq!(
        of("high", "80 KiB"),
        "router.infiniband.congestion_control.thresholds.high = \"80 KiB\" (override): \
         no queue ever has so much: the smallest input buffer of a VL has 65536 B; \
         valid: at most 65536 B, or larger router.infiniband.switch.buffers"
    );
    assert_eq!(
        of("low", "5 MTU"),
        "router.infiniband.congestion_control.thresholds.low = \"5 MTU\" (override): \
         is above the upper threshold, \"4 MTU\"; valid: at most 8192 B"
    );
    assert_eq!(
        of("distance", "4 MTU"),
        "router.infiniband.congestion_control.thresholds.distance = \"4 MTU\" (override): \
         leaves nothing of the upper threshold, \"4 MTU\"; valid: less than 8192 B"
    );
    assert_eq!(
        of("weight", "15"),
        "line 2, column 19: router.infiniband.congestion_control.thresholds.distance = \"3.1 MTU\": \
         leaves nothing of the upper threshold, weight 15; valid: less than 4096 B"
    );
    assert_eq!(
        of("weight", "16"),
        "router.infiniband.congestion_control.thresholds.weight = 16 (override): out of range; valid: 0 … 15"
    );
    let both = ["router.infiniband.congestion_control.thresholds={ high = '4 MTU', weight = 3 }"];
    assert_eq!(
        message_of(VALID, &both),
        "router.infiniband.congestion_control.thresholds.weight (override): stands for high, which is given, too; \
         valid: one of the two"
    );
    assert_eq!(of("weight", "0"), "accepted");
}

#[test]
fn tables_of_congestion_control() {
    let valid = "valid: entries [shift 0 … 3, multiplier 0 … 16383], the first without delay, none with less than the one before";
    let key = "router.infiniband.congestion_control";
    assert_eq!(
        control("cct", "[[0, 1]]"),
        format!("{key}.cct.0 = [0, 1] (override): a flow that nobody complains of is not delayed; {valid}")
    );
    assert_eq!(
        control("cct", "[[0, 0], [1, 4], [2, 7]]"),
        format!(
            "{key}.cct.2 = [2, 7] (override): has less delay than the entry before: the table is not monotone; {valid}"
        )
    );
    assert_eq!(
        control("cct", "[[0, 0], [4, 4]]"),
        format!("{key}.cct.1 = [4, 4] (override): is out of range; {valid}")
    );
    assert_eq!(control("cct", "[]"), format!("{key}.cct = [] (override): the table is empty; {valid}"));
    assert_eq!(
        control("ccti_limit", "128"),
        format!("{key}.ccti_limit = 128 (override): the table cct has 128 entries; valid: 0 … 127")
    );
    assert_eq!(
        control("ccti_min", "128"),
        format!("{key}.ccti_min = 128 (override): is above ccti_limit; valid: 0 … 127")
    );
    starts(
        &control("cct", "cubic"),
        &format!("{key}.cct = \"cubic\": no such choice; valid: quartic, simula, mellanox"),
    );
}

#[test]
fn notifications() {
    let of = |key: &str, value: &str| control(&format!("notification{key}"), value);
    assert_eq!(of("", "packets"), "accepted");
    assert_eq!(of("", "acknowledgements"), "accepted");
    let key = "router.infiniband.congestion_control.notification";
    for (name, value, valid) in
        [("every", "0", "1 … 65535"), ("bytes", "0", "1 … 256"), ("bytes", "257", "1 … 256")]
    {
        assert_eq!(
            of(&format!(".acknowledgements.{name}"), value),
            format!("{key}.acknowledgements.{name} = {value} (override): out of range; valid: {valid}")
        );
    }
    starts(&of("", "ack"), &format!("{key} = \"ack\": no such choice; "));
    let text = format!("{VALID}measure.time.window = \"1 ms\"\n").replacen("[[jobs]]\n", "", 1);
    let text = text.replacen("flows = [", "jobs = [{ flows = [", 1).replacen("}]\n", "}] }]\n", 1);
    let sent = |notification: &str| {
        let control = format!("congestion_control.notification = {notification}");
        let found = summary(&text.replacen("congestion_control = {}", &control, 1));
        ["packets_marked", "notifications_delivered"].map(|key| found[key].as_u64().unwrap())
    };
    // One of several marks in an acknowledgement is no notification of its own.
    let [packets, single, many] =
        ["\"packets\"", "{ acknowledgements = {} }", "{ acknowledgements = { every = 8 } }"].map(sent);
    for [marked, notified] in [packets, single] {
        assert!(notified > 10 && marked.abs_diff(notified) < 5, "{marked} marks, {notified} notifications");
    }
    assert!(many[1] > 10 && many[1] < many[0] - 5, "{many:?}");
}

#[test]
fn lanes() {
    assert_eq!(
        router("lanes", "{ count = 2, low = [[0, 10]] }"),
        "router.infiniband.lanes.low (override): VL 1 is in neither table and would never send; \
         valid: an entry [VL, weight] for every VL"
    );
    assert_eq!(
        router("lanes", "{ count = 2, high = [[2, 10]], low = [[0, 10]] }"),
        "router.infiniband.lanes.high.0 = [2, 10] (override): there is no such VL; valid: [VL 0 … 1, weight 1 … 255]"
    );
    assert_eq!(
        router("lanes", "{ low = [[0, 0]] }"),
        "router.infiniband.lanes.low.0 = [0, 0] (override): the VL would never send; valid: [VL 0 … 0, weight 1 … 255]"
    );
    assert_eq!(
        router("lanes.of_service_level", "[0, 1]"),
        "router.infiniband.lanes.of_service_level (override): has 2 VLs, and there are 16 service levels; valid: 16 VLs"
    );
    assert_eq!(
        router("lanes.of_service_level", "[0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,1]"),
        "router.infiniband.lanes.of_service_level.15 = 1 (override): out of range; valid: 0 … 0"
    );
}

#[test]
fn flows() {
    let missing = "jobs.0.flows: is missing: what hosts of an InfiniBand fabric send to each other; \
                   valid: [[jobs]] with flows = [{ source = 0, destination = 1 }], flows = { file = \"flows.csv\" }, \
                   messages = { pattern = \"uniform\", rate = \"8 Gb/s\" }, or program = { collective = { kind = \"barrier\" } }";
    assert_eq!(
        message_of("router = \"infiniband\"\ntopology.fat_tree = { k = 4, levels = 1 }\n", &[]),
        missing
    );
    let flow = |key: &str, value: &str| message_of(VALID, &[&format!("jobs.0.flows.1.{key}={value}")]);
    assert_eq!(
        flow("destination", "1"),
        "jobs.0.flows.1.destination = 1 (override): a flow goes to another node than its source; valid: a node other than 1"
    );
    assert_eq!(
        flow("source", "4"),
        "jobs.0.flows.1.source = 4 (override): the network has 4 nodes; valid: 0 … 3"
    );
    assert_eq!(
        flow("end", "0.0 s"),
        "jobs.0.flows.1.end = \"0.0 s\" (override): is not a positive number and a unit; \
         valid: a decimal number above 0 and ps, ns, us, ms, s"
    );
    assert_eq!(
        message_of(VALID, &["jobs.0.flows.1.start=2 us", "jobs.0.flows.1.end=1 us"]),
        "jobs.0.flows.1.end = \"1 us\" (override): the flow ends before it starts; valid: after start, \"2 us\""
    );
    assert_eq!(
        flow("bytes", "0"),
        "jobs.0.flows.1.bytes = 0 (override): the flow has nothing to send; valid: 1 …, or no such key for a flow without end"
    );
    assert_eq!(
        flow("service_level", "16"),
        "jobs.0.flows.1.service_level = 16 (override): out of range; valid: 0 … 15"
    );
    assert_eq!(
        flow("name", "flow0"),
        "jobs.0.flows.1.name = \"flow0\" (override): jobs.0.flows.0 has the same name; \
         valid: a name of its own for every flow, or no such key"
    );
}

#[test]
fn packets_of_fabrics_are_not_recorded_one_by_one() {
    assert_eq!(
        message_of(VALID, &["measure.packets={ every = 2 }"]),
        "measure.packets (override): an InfiniBand fabric has neither packet_hops nor flit_hops; valid: no such key"
    );
}

#[test]
fn keys_of_other_networks() {
    for (key, value, message) in [
        ("routing", "\"minimal\"", "routing (override): is not of InfiniBand fabrics; valid: no such key"),
        (
            "links.local.latency",
            "2",
            "links (override): is not of InfiniBand fabrics; valid: no such key; router.infiniband.links",
        ),
        (
            "load",
            "0.5",
            "load (override): is not of InfiniBand fabrics; valid: no such key; jobs.0.flows.0.rate",
        ),
        (
            "measure.cycles",
            "5",
            "measure.cycles (override): an InfiniBand fabric has no cycles; valid: no such key; measure.time",
        ),
        (
            "jobs.0.traffic.packet_length",
            "8",
            "jobs.0.traffic (override): a job of an InfiniBand fabric has flows, or messages that its nodes draw, or a program, \
             and nothing else; valid: name, flows; or name, placement, messages; \
             or name, placement, rank_order, program, host, start, repeat",
        ),
        (
            "measure.streams",
            "[\"nodes\"]",
            "measure.streams.0 = \"nodes\" (override): an InfiniBand fabric does not have it; \
             valid: flows, flow_sizes, flow_series, queue_series, victims, link_series, links",
        ),
        (
            "measure.streams",
            "[\"flow_series\"]",
            "measure.time.interval: is missing: the stream flow_series has a row per interval; valid: a time as \"10 ms\"",
        ),
        (
            "measure.time.interval",
            "\"1 ms\"",
            "measure.time.interval = \"1 ms\" (override): no stream has a row per interval; \
             valid: no such key, or measure.streams with flow_series, queue_series or link_series",
        ),
        (
            "topology",
            "{ ideal = { nodes = 4, latency = 1 } }",
            "router (override): an ideal network has no routers; valid: no such key",
        ),
        (
            "topology",
            "{ graph = { edges = [{ between = [0, 1], latency = 3 }], nodes_per_router = 2 } }",
            "topology.graph.edges.0.latency (override): an InfiniBand fabric has no cycles; \
             valid: no such key; router.infiniband.links.switch is for all links between switches",
        ),
    ] {
        let said = message_of(VALID, &[&format!("{key}={value}")]);
        // Where a key stands in the text that is not the one refused.
        let said = said.split_once("column 1: ").map_or(said.as_str(), |(_, rest)| rest);
        assert_eq!(said.replace("router: an", "router (override): an"), message, "{key}");
    }
}

#[test]
fn jobs_of_fabrics_have_service_levels_instead_of_a_priority() {
    for priority in [0, 3] {
        assert_eq!(
            message_of(VALID, &[&format!("jobs.0.priority={priority}")]),
            format!(
                "jobs.0.priority = {priority} (override): packets of an InfiniBand fabric have service levels instead; \
                 valid: no such key; service_level of flows, messages or host"
            )
        );
    }
}

#[test]
fn keys_of_fabrics_elsewhere() {
    let other = "load = 0.5\ntopology.ring.routers = 4\n";
    assert_eq!(
        message_of(other, &["measure.time.window=1 s"]),
        "measure.time (override): is for fabrics of InfiniBand or Ethernet; valid: measure.warmup, cycles and interval, or router.infiniband or router.ethernet"
    );
    assert_eq!(
        message_of(other, &["jobs=[{ flows = [{ source = 0, destination = 1 }] }]"]),
        "jobs.0.flows (override): is for fabrics of InfiniBand or Ethernet; valid: traffic or program, or router.infiniband or router.ethernet"
    );
    assert_eq!(
        message_of(other, &["measure.streams=[\"flows\"]"]),
        "measure.streams.0 = \"flows\" (override): the network is no fabric of InfiniBand or Ethernet; valid: no such stream"
    );
}

/// Two switches with two nodes and one, which a third one joins.
const UNEQUAL: &str = "\
topology.graph = { nodes = [2, 1], edges = [{ between = [0, 2] }, { between = [1, 2] }] }
router.infiniband.forwarding = { tables = [[0, 1, 2], [1, 1, 0], [0, 0, 1]] }
jobs = [{ flows = [{ source = 0, destination = 2 }] }]
";

#[test]
fn forwarding_tables_of_the_document() {
    let key = "router.infiniband.forwarding.tables";
    let of = |tables: &str| {
        let said = message_of(UNEQUAL, &[&format!("{key}={tables}")]);
        said.replacen(" (override)", "", 1)
    };
    assert_eq!(of("[[0, 1, 2], [1, 1, 0], [0, 0, 1]]"), "accepted");
    assert_eq!(
        of("[[0, 1, 2], [1, 1, 0]]"),
        format!("{key}: has tables of 2 switches; valid: 3 tables, one for each switch")
    );
    assert_eq!(
        of("[[0, 1, 2], [1, 1], [0, 0, 1]]"),
        format!("{key}.1: has outputs for 2 nodes; valid: 3 outputs, one for each node")
    );
    assert_eq!(
        of("[[0, 1, 2], [1, 2, 0], [0, 0, 1]]"),
        format!("{key}.1.1 = 2: switch 1 has no such output; valid: 0 … 1")
    );
    let valid = "valid: tables that lead to every node";
    assert_eq!(
        of("[[0, 0, 2], [1, 1, 0], [0, 0, 1]]"),
        format!("{key}: switch 0 sends packets for node 1 to node 0; {valid}")
    );
    assert_eq!(
        of("[[0, 1, 2], [1, 1, 0], [0, 0, 0]]"),
        format!("{key}: packets for node 2 go round: switch 0 → switch 2 → switch 0; {valid}")
    );
    starts(
        &message_of(UNEQUAL, &["router.infiniband.forwarding={ file = 'lfts.txt' }"]),
        "router.infiniband.forwarding.file = \"lfts.txt\": nothing says which LIDs its nodes have, and which links the ports of \
         its switches; valid: topology.graph.file = \"…\", what ibnetdiscover prints of the same fabric",
    );
}

#[test]
fn flows_that_choose_among_ways_do_so_over_links_in_order() {
    let ecmp = "router.infiniband.forwarding=ecmp";
    assert_eq!(message_of(UNEQUAL, &[ecmp]), "accepted");
    let out = "faults=[{ links = { between = [[0, 1]] } }]";
    assert_eq!(
        message_of(UNEQUAL, &[ecmp, out]),
        "router.infiniband.forwarding = \"ecmp\" (override): flows choose among the ways over all links, also those that are out of \
         order; valid: minimal, min_hop or up_down, or no such key as faults"
    );
    // Both ways half round a ring of four are shortest, so that packets can wait for each other in a circle.
    let ring = "topology={ ring = { routers = 4, nodes_per_router = 1 } }";
    let jobs = "jobs=[{ messages = { pattern = 'uniform', bytes = 1000, rate = '1 Gb/s' } }]";
    starts(&message_of(UNEQUAL, &[ecmp, ring, jobs]), "topology");
}

#[test]
fn routers_may_have_different_numbers_of_nodes() {
    let found = summary(UNEQUAL);
    assert_eq!(found["nodes"], json!(2), "source and destination");
    assert!(found["packets_delivered"].as_u64() > Some(1000));
    let of = |key: &str, value: &str| {
        message_of(
            UNEQUAL,
            &["router.infiniband.forwarding=minimal", &format!("topology.graph.{key}={value}")],
        )
    };
    assert_eq!(of("nodes", "[2, 1, 1]"), "accepted");
    let alone = ["router.infiniband.forwarding=minimal", "topology.graph={ nodes = [3] }"];
    assert_eq!(message_of(UNEQUAL, &alone), "accepted");
    assert_eq!(of("nodes", "[2, 65]"), "topology.graph.nodes.1 = 65 (override): out of range; valid: 1 … 64");
    starts(
        &of("nodes", "[1, 1, 1, 1]"),
        "topology.graph.nodes = those of 4 routers: the graph has 3 routers; valid: at most 3 numbers",
    );
    for key in ["nodes_per_router", "routers_with_nodes"] {
        assert_eq!(
            of(key, "2"),
            format!(
                "topology.graph.{key} (override): nodes, or the file, says how many nodes each router has; \
                 valid: no such key"
            )
        );
    }
    let elsewhere = UNEQUAL.lines().next().unwrap_or_default();
    let elsewhere =
        |nodes: &str| message_of(elsewhere, &["load=0.1", &format!("topology.graph.nodes={nodes}")]);
    assert_eq!(elsewhere("[2, 2]"), "accepted");
    assert_eq!(
        elsewhere("[2, 1]"),
        "topology.graph.nodes (override): routers with different numbers of nodes are for fabrics of InfiniBand or Ethernet; \
         valid: as many nodes on every router that has nodes, or router.infiniband or router.ethernet"
    );
}

/// A ring of five switches in which every node sends to the second one after it.
fn ring(lanes: &str, levels: [u8; 5]) -> String {
    let flow = |source: usize| {
        let destination = (source + 2) % 5;
        format!("{{ source = {source}, destination = {destination}, service_level = {} }}", levels[source])
    };
    let flows: Vec<String> = (0..5).map(flow).collect();
    format!(
        "topology.torus.sides = [5]\nrouter.infiniband.lanes = {lanes}\njobs = [{{ flows = [{}] }}]\n",
        flows.join(", ")
    )
}

#[test]
fn packets_that_can_wait_for_each_other_in_a_circle() {
    let refused = message_of(&ring("{}", [0; 5]), &[]);
    assert!(
        refused.starts_with(
            "line 1, column 1: topology: packets of VL 0 can wait for each other in a circle, for room behind these links: \
             switch 0 → switch 1 → switch 2 → switch 3 → switch 4 → switch 0; valid: a topology whose shortest paths close no circle"
        ),
        "{refused}"
    );
    assert_eq!(message_of(&ring("{ count = 2 }", [0, 0, 0, 0, 1]), &[]), "accepted");
    assert_eq!(message_of(&ring("{ allow_deadlock = true }", [0; 5]), &[]), "accepted");
}

#[test]
fn a_resolved_document_says_all_and_is_one() {
    let point = document::points(VALID, &[]).unwrap().remove(0);
    let resolved = document::resolved(&point.experiment).unwrap();
    assert_eq!(
        resolved.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["topology", "router", "jobs", "measure"]
    );
    assert_eq!(resolved["measure"]["time"], json!({ "warmup": "0 s", "window": "10 ms" }));
    assert_eq!(resolved["jobs"][0]["flows"][1]["name"], "flow1");
    let control = &resolved["router"]["infiniband"]["congestion_control"];
    assert_eq!(
        [&control["marking_rate"], &control["ccti_timer"], &control["cct"]],
        [&json!(1), &json!(256), &json!("quartic")]
    );
    assert_eq!(&control["thresholds"], &json!({ "mode": "per_voq", "high": "4 MTU", "low": "0.9 MTU" }));
    let again = document::from_json(&resolved.to_string()).unwrap();
    assert_eq!(AnyPlan::new(&again, &no_files).unwrap().into_experiment(), point.experiment);
}

#[test]
fn a_run_has_a_record_of_all_flows_and_one_of_each_job() {
    let text = format!("{VALID}[[jobs]]\nname = \"other\"\nflows = [{{ source = 2, destination = 0 }}]\n");
    let overrides = [
        ("measure.time.window".to_owned(), "100 us".to_owned()),
        ("measure.time.interval".to_owned(), "10 us".to_owned()),
        ("measure.streams".to_owned(), "['flows', 'flow_series', 'queue_series']".to_owned()),
    ];
    let point = document::points(&text, &overrides).unwrap().remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap();
    let outcome = run_any(&plan, &Control::default()).unwrap();
    assert_eq!((&outcome.summary["flows"], &outcome.summary["nodes"]), (&json!(3), &json!(4)));
    assert_eq!((&outcome.jobs[1]["job"], &outcome.jobs[1]["flows"]), (&json!("other"), &json!(1)));
    assert_eq!(outcome.summary["time_s"], json!(1e-4));
    let rows = outcome.tables.iter().map(|(name, table)| match &table[0].1 {
        hopsim_measure::Column::F64(values) => (name.as_str(), values.len()),
        _ => (name.as_str(), 0),
    });
    // Ten intervals: of three flows, and of the outputs to nodes 3 and 0.
    assert_eq!(rows.collect::<Vec<_>>(), [("flows", 0), ("flow_series", 30), ("queue_series", 20)]);
}

/// The summary of a document.
fn summary(text: &str) -> serde_json::Map<String, serde_json::Value> {
    let point = document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let plan = AnyPlan::new(&point.experiment, &no_files).unwrap();
    run_any(&plan, &Control::default()).unwrap().summary
}

/// Sixteen nodes of a tree of two levels that draw messages.
fn drawn(messages: &str, more: &str) -> String {
    format!(
        "topology.fat_tree = {{ k = 4, levels = 2 }}\nrouter.infiniband.host.start_jitter = \"0 s\"\n{more}\n\
         measure.time = {{ warmup = \"100 us\", window = \"1 ms\" }}\njobs = [{{ messages = {{ {messages} }} }}]\n"
    )
}

#[test]
fn nodes_offer_the_rate_that_they_are_given_and_at_low_load_get_it() {
    for gaps in ["exponential", "even"] {
        let found = summary(&drawn(&format!("rate = \"4 Gb/s\", gaps = \"{gaps}\""), ""));
        assert_eq!((found["nodes"].clone(), found["flows"].clone()), (json!(16), json!(16)));
        assert_eq!(found["offered_load"], json!(0.25));
        // 16 nodes draw 3,906 messages of 2,048 B in the window: 4 σ of a Poisson process are 6.4 %.
        let accepted = found["accepted_load"].as_f64().unwrap();
        let tolerance = if gaps == "even" { 0.004 } else { 0.064 };
        assert!((accepted / 0.25 - 1.0).abs() < tolerance, "{gaps}: {accepted}");
        assert_eq!(found["messages_delivered"], found["packets_delivered"]);
    }
}

#[test]
fn nodes_that_draw_sizes_offer_their_rate_in_the_mean() {
    for sizes in [
        "\"web_search\"",
        "\"hadoop\"",
        "\"ali_storage\"",
        "{ points = [[64, 0.5], [5000, 0.9], [20000, 1]] }",
    ] {
        let found = summary(&drawn(&format!("rate = \"4 Gb/s\", sizes = {sizes}"), ""));
        let offered = found["offered_load"].as_f64().unwrap();
        // The gap is rounded to a tick.
        assert!((offered - 0.25).abs() < 1e-6, "{sizes}: {offered}");
    }
    // 16 nodes draw about 3,300 messages of 2,421 B in the window: 4 σ of their sum are 13 %.
    let found =
        summary(&drawn("rate = \"4 Gb/s\", sizes = { points = [[64, 0.5], [5000, 0.9], [20000, 1]] }", ""));
    let accepted = found["accepted_load"].as_f64().unwrap();
    assert!((accepted / 0.25 - 1.0).abs() < 0.13, "{accepted}");
    // Messages that are all alike are those of bytes, whatever the stream of sizes.
    let alike = [("bytes = 3000", ""), ("sizes = { points = [[3000, 1]] }", "")]
        .map(|(sizes, more)| summary(&drawn(&format!("rate = \"4 Gb/s\", {sizes}"), more)));
    assert_eq!(alike[0], alike[1]);
}

#[test]
fn a_message_alone_takes_the_time_of_its_packets() {
    // Links of hosts carry a byte in 1/2 ns, the bus and the sink in 8/13 ns. The second packet, of 952 B, begins when the bus has
    // brought the first one; over one switch its head needs 50 + 50 + 50 + 50 ns; what comes is drained as it comes, and the
    // sink, slower than the link, has drained the first packet 2048 · 8/13 ns after its head.
    let text = "topology.fat_tree = { k = 4, levels = 1 }\nrouter.infiniband.host.start_jitter = \"0 s\"\n\
        measure.time = { window = \"1 ms\" }\njobs = [{ placement = { list = [0, 1] }, \
        messages = { rate = \"100 Mb/s\", bytes = 3000, gaps = \"even\" } }]\n";
    let found = summary(text);
    let head = 4.0 * 50.0;
    let drained = head + 3000.0 * 8.0 / 13.0;
    let latency = found["message_latency_mean_ns"].as_f64().unwrap();
    assert!((latency - drained).abs() < 0.5, "{latency} instead of {drained}");
    assert_eq!(found["message_latency_max_ns"], found["message_latency_mean_ns"]);
    assert_eq!(found["flow_completion_time_mean"], found["message_latency_mean_ns"]);
    assert_eq!([&found["slowdown_p50"], &found["slowdown_p99"]], [&json!(1.0), &json!(1.0)]);
}

#[test]
fn what_is_offered_beyond_the_bus_waits_at_its_host() {
    let found = summary(&drawn("rate = \"20 Gb/s\", pattern = { random_permutation = {} }", ""));
    // 13 of the 16 Gb/s of the links.
    assert!((found["accepted_load"].as_f64().unwrap() - 13.0 / 16.0).abs() < 0.01);
    let waits = found["message_latency_mean_ns"].as_f64().unwrap();
    assert!(waits > 20.0 * found["packet_latency_mean_ns"].as_f64().unwrap());
}

#[test]
fn messages_of_a_fabric() {
    let refused = |text: &str, expected: &str| {
        let message = message_of(text, &[]);
        assert!(message.contains(expected), "{message}");
    };
    refused(&drawn("rate = \"0 Gb/s\"", ""), "jobs.0.messages.rate = \"0 Gb/s\": is a rate that no link has");
    refused(
        &drawn("rate = \"1 Gb/s\", bytes = 0", ""),
        "jobs.0.messages.bytes = 0: out of range; valid: 1 … 4294967296",
    );
    refused(
        &drawn("rate = \"1 Gb/s\", bytes = 64, sizes = \"hadoop\"", ""),
        "jobs.0.messages.sizes: says how long messages are, and so does bytes; valid: one of them: bytes, or sizes",
    );
    refused(
        &drawn("rate = \"1 Gb/s\", sizes = \"mice\"", ""),
        "jobs.0.messages.sizes = \"mice\": no such choice",
    );
    for (points, expected) in [
        (
            "",
            ": has no points; valid: [[bytes, fraction], …]: bytes and fractions that ascend, up to the fraction 1",
        ),
        ("[0, 1]", ".0 = [0, 1]: so long is no message; valid: whole bytes from 1 to 4294967296"),
        ("[1.5, 1]", ".0 = [1.5, 1]: so long is no message"),
        ("[4294967297, 1]", ".0 = [4294967297, 1]: so long is no message"),
        ("[1, 0], [2, 1.5]", ".1 = [2, 1.5]: the fraction is no share of all messages; valid: 0 … 1"),
        ("[1, nan]", ".0"),
        (
            "[5, 0], [4, 1]",
            ".1 = [4, 1]: does not ascend from the point before; valid: [[bytes, fraction], …]",
        ),
        ("[5, 0.5], [6, 0.4], [7, 1]", ".1 = [6, 0.4]: does not ascend from the point before"),
        ("[5, 1], [5, 1]", ".1 = [5, 1]: does not ascend from the point before"),
        ("[5, 0.5], [6, 0.9]", " = 0.9: the last fraction is not that of all messages; valid: 1 at last"),
    ] {
        let text = drawn(&format!("rate = \"1 Gb/s\", sizes = {{ points = [{points}] }}"), "");
        refused(&text, &format!("jobs.0.messages.sizes.points{expected}"));
    }
    refused(
        &drawn("rate = \"1 Gb/s\", start = \"2 ms\", end = \"1 ms\"", ""),
        "jobs.0.messages.end = \"1 ms\": the messages end before they start; valid: after start, \"2 ms\"",
    );
    refused(
        &drawn("rate = \"1 Gb/s\", service_level = 16", ""),
        "jobs.0.messages.service_level = 16: out of range",
    );
    refused(
        &drawn("rate = \"1 Gb/s\", pattern = \"ADV+1\"", ""),
        "jobs.0.messages.pattern.adversarial.offset = 1: the network has one group, and no other to send to",
    );
    let both = drawn("rate = \"1 Gb/s\"", "").replace("[{ messages", "[{ flows = [], messages");
    refused(&both, "jobs.0.flows: a job of an InfiniBand fabric has flows, or messages that its nodes draw");
    let elsewhere = "topology.ring.routers = 4\njobs = [{ messages = { rate = \"1 Gb/s\" } }]\n";
    refused(
        elsewhere,
        "jobs.0.messages: is for fabrics of InfiniBand or Ethernet; valid: traffic or program, or router.infiniband or router.ethernet",
    );
}

#[test]
fn links_that_differ() {
    let said = |value: &str| message_of(VALID, &[&format!("router.infiniband.links.exceptions={value}")]);
    let path = "router.infiniband.links.exceptions";
    for (value, expected) in [
        ("[{ node = 4 }]", format!("{path}.0.node = 4: the network has 4 nodes; valid: 0 … 3")),
        (
            "[{ rate = '4x QDR' }]",
            format!("{path}.0: names no link, or two; valid: node = 5, or between = [0, 1]"),
        ),
        (
            "[{ between = [0, 1] }]",
            format!("{path}.0.between = [0, 1]: no link joins these switches; valid: two"),
        ),
        (
            "[{ node = 1, rate = '3x QDR' }]",
            format!("{path}.0.rate = \"3x QDR\": is a rate that no link has"),
        ),
        (
            "[{ node = 1 }, { node = 1 }]",
            format!("{path}.1: is for the same link as exceptions.0; valid: one"),
        ),
    ] {
        let said = said(value).replace(" (override)", "");
        assert!(said.starts_with(&expected), "{said}\ninstead of\n{expected}");
    }
}

#[test]
fn packets_that_links_lose_are_counted() {
    let text = |fault: &str| {
        format!(
            "topology.xgft = {{ children = [4, 4], parents = [1, 2] }}\nrouter = \"infiniband\"\n\
             measure.time = {{ warmup = \"0 ns\", window = \"200 us\" }}\nfaults = [{fault}]\n\
             jobs = [{{ messages = {{ rate = \"10 Gb/s\" }} }}]\n"
        )
    };
    let fault = |packets: &str| {
        text(&format!(
            "{{ links = {{ between = [[0, 4]] }}, reaction = {{ packets = \"{packets}\" }}, \
             time = {{ at = \"50 us\", until = \"100 us\", reroute = \"20 us\", table_write = \"1 us\" }} }}"
        ))
    };
    assert_eq!(summary(&text("")).get("packets_lost"), None);
    for packets in ["drop", "drain"] {
        let found = summary(&fault(packets));
        let [sent, delivered, lost] =
            ["packets_sent", "packets_delivered", "packets_lost"].map(|key| found[key].as_u64().unwrap());
        let under_way = sent - delivered - lost;
        assert!(lost > 50 && under_way < 500, "{packets}: {sent}, {delivered}, {lost}");
        let causes = ["packets_lost_on_links", "packets_discarded", "packets_spoiled"]
            .map(|key| found[key].as_u64().unwrap());
        assert_eq!(causes.iter().sum::<u64>(), lost, "{packets}");
        // Messages are of a packet each.
        assert_eq!(found["messages_lost"].as_u64(), Some(lost), "{packets}");
        assert_eq!(causes[0] + causes[2] > 0, packets == "drop", "{packets}: {causes:?}");
        assert_eq!(found, summary(&fault(packets)));
    }
}
