//! Damaged documents: whatever the text, the answer is points or one readable message, never a panic.

use crate::documents::assert_settled;
use hopsim_experiment::document;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const DRAGONFLY: &[&str] = &[
    "compat = \"fogsim\"",
    "load = 0.5",
    "routing = \"minimal\"",
    "[topology.dragonfly]",
    "p = 2",
    "a = 4",
    "h = 2",
    "groups = 5",
    "arrangement = \"consecutive\"",
    "[links]",
    "local = { latency = 10 }",
    "[router.cioq]",
    "vcs = { local = 8, global = 4 }",
    "buffers = { local = 32, output = 32 }",
    "speedup = 1.5",
    "allocator = { iterations = 1, output_arbiter = { age = { timestamp = \"injection\" } } }",
    "[nic]",
    "source_queue = { packets = 3 }",
    "[semantics]",
    "ejection = \"idle_node\"",
    "[[jobs]]",
    "placement = { groups = { first = 1, count = 3 } }",
    "traffic = { pattern = { mix = [{ weight = 1, pattern = \"UN\" }, { weight = 2.5, pattern = \"ADV-local\" }] } }",
    "[[jobs]]",
    "placement = { random_nodes = { count = 4 } }",
    "traffic = { pattern = \"random_permutation\", packet_length = 4, process = \"bursty\", request_reply = {}, changes = [{ cycle = 10000, load = 0.1 }, { cycle = 10001, pattern = \"UN\" }] }",
    "[measure]",
    "streams = [\"nodes\", \"links\", \"occupancy\"]",
    "seed = 7",
    "[sweep]",
    "product = { \"load\" = [0.1, 0.2], \"measure.seed\" = [1, 2] }",
    "zip = { \"links.local.latency\" = [1, 2], \"links.global.latency\" = [3, 4] }",
];

const TORUS: &[&str] = &[
    "routing = \"adaptive\"",
    "[topology.torus]",
    "sides = [4, 2]",
    "nodes_per_router = 2",
    "tie = \"plus\"",
    "[links]",
    "network = { latency = 2 }",
    "[router.input_queued]",
    "vcs = { network = 3, injection = 2 }",
    "buffers = { network = 64, injection = 32 }",
    "consumption = \"parallel\"",
    "[nic]",
    "source_queue = { packets = 0 }",
    "when_full = \"wait\"",
    "injection_ports = 2",
    "injection_vc = \"direction\"",
    "control = { lbr = { packets = 3 } }",
    "[[jobs]]",
    "placement = { list = [0, 1, 2, 3, 4, 5, 6, 7] }",
    "traffic = { pattern = { permutation = \"bit_reversal\" }, process = { synchronised_bursts = { packets = 5 } } }",
    "[[jobs]]",
    "placement = { random_nodes = { count = 8 } }",
    "traffic = { pattern = { hot_region = { share = 0.5 } }, process = { bernoulli = { load = 0.1 } }, node_loads = { random = { saturated = 0.5 } } }",
    "[measure]",
    "streams = [\"injection_waits\"]",
    "[sweep]",
    "product = { \"nic.control\" = [\"none\", { sat = { l = 1, k = 2 } }, { ipr = { share = 0.5 } }] }",
];

const FLITS: &[&str] = &[
    "routing = \"ugal\"",
    "[topology.dragonfly]",
    "p = 1",
    "a = 2",
    "h = 1",
    "[links]",
    "global = { latency = 9 }",
    "[router.virtual_channel]",
    "switching = \"virtual_cut_through\"",
    "routing_delay = 2",
    "vc_allocation_delay = 3",
    "switch_traversal_delay = 0",
    "vcs = { injection = 2 }",
    "buffers = { local = 9, global = 40, injection = 32 }",
    "[semantics]",
    "injection_latency = \"departure\"",
    "[[jobs]]",
    "traffic = { pattern = \"ADV+1\", packet_lengths = [{ length = 1, weight = 3 }, { length = 5, weight = 0.5 }] }",
    "[measure]",
    "streams = [\"links\", \"waits\"]",
    "[sweep]",
    "product = { \"load\" = [0.1, 0.2] }",
];

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "3",
    "300",
    "5000000000",
    "99999999999999999999",
    "0.5",
    "1e300",
    "nan",
    "-inf",
    "true",
    "\"\"",
    "\"minimal\"",
    "\"ADV+99\"",
    "{}",
    "[]",
    "[[1], {}]",
    "{ minimal = {}, valiant = {} }",
    "1979-05-27",
    "'''\n'''",
];

const PATHS: &[&str] = &[
    "load",
    "seed",
    "jobs.0.traffic.pattern",
    "jobs.1.traffic.changes.0.cycle",
    "jobs.1.traffic.request_reply.outstanding",
    "jobs.1.placement.list",
    "jobs.7.name",
    "routing.valiant.policy",
    "router.cioq.vcs.local",
    "router.input_queued.buffers.local",
    "router.virtual_channel.vc_allocation_delay",
    "measure.streams.0",
    "measure.packets.source",
    "sweep.product.load",
    "sweep.zip",
    "topology.dragonfly.p.x",
    "topology.torus.sides.1",
    "topology.mesh.sides",
    "nic.control.sat.l",
    "nic.injection_ports",
    "jobs.0.traffic.process.synchronised_bursts.packets",
    "jobs.1.traffic.node_loads.listed.0.nodes",
    "\"\".\"\u{7f}\"",
    "a b",
    "",
];

/// Damage to one line.
#[derive(Clone, Debug)]
enum Damage {
    Delete,
    Duplicate,
    Move(Index),
    Value(&'static str),
    Letter(Index, char),
}

fn damage() -> impl Strategy<Value = (Index, Damage)> {
    let kind = prop_oneof![
        Just(Damage::Delete),
        Just(Damage::Duplicate),
        any::<Index>().prop_map(Damage::Move),
        select(VALUES).prop_map(Damage::Value),
        (
            any::<Index>(),
            prop_oneof![any::<char>(), select(vec!['[', ']', '{', '}', '"', '=', '.', '#', '\n'])]
        )
            .prop_map(|(at, letter)| Damage::Letter(at, letter)),
    ];
    (any::<Index>(), kind)
}

fn damaged(lines: &[&str], damages: &[(Index, Damage)]) -> String {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    for (at, damage) in damages {
        let at = at.index(lines.len());
        match damage {
            Damage::Delete if lines.len() > 1 => drop(lines.remove(at)),
            Damage::Delete => {}
            Damage::Duplicate => lines.insert(at, lines[at].clone()),
            Damage::Move(to) => {
                let to = to.index(lines.len());
                lines.swap(at, to);
            }
            Damage::Value(value) => {
                let key = lines[at].split('=').next().unwrap_or("").to_owned();
                lines[at] = format!("{key}= {value}");
            }
            Damage::Letter(place, letter) => {
                let mut letters: Vec<char> = lines[at].chars().collect();
                let place = place.index(letters.len() + 1);
                letters.splice(place..(place + 1).min(letters.len()), [*letter]);
                lines[at] = letters.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

/// Points that are settled, or a message that says something.
fn answers(text: &str, overrides: &[(String, String)]) {
    match document::points(text, overrides) {
        Ok(points) => points.iter().for_each(|point| assert_settled(&point.experiment)),
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() > 10 && !error.reason.is_empty(), "{message:?}");
        }
    }
    let _ = document::axes(text, overrides).map(|axes| axes.len());
}

#[test]
fn the_lines_make_valid_documents() {
    for (lines, points) in [(DRAGONFLY, 8), (TORUS, 3), (FLITS, 2)] {
        assert_eq!(document::points(&lines.join("\n"), &[]).map(|points| points.len()), Ok(points));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_documents(lines in select(vec![DRAGONFLY, TORUS, FLITS]), damages in prop::collection::vec(damage(), 0..6)) {
        answers(&damaged(lines, &damages), &[]);
    }

    #[test]
    fn damaging_overrides(lines in select(vec![DRAGONFLY, TORUS, FLITS]), overrides in prop::collection::vec((select(PATHS), select(VALUES)), 1..4)) {
        let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
        answers(&lines.join("\n"), &overrides);
    }

    #[test]
    fn random_text(text in prop_oneof![
        any::<String>(),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        "[a-z\\[\\]{}.=\"0-9\n ,#']{0,80}",
    ]) {
        answers(&text, &[(text.clone(), text.clone())]);
        answers(&text, &[]);
        let _ = document::from_json(&text).map_err(|error| assert!(!error.to_string().is_empty()));
    }
}
