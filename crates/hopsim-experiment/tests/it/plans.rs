//! What a plan holds, worked out from the document a second time, and where the limits of its numbers are. Engine and
//! reference simulator take these numbers from the plan, so a comparison of the two does not see them.

use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::{GLOBAL, LOCAL};
use serde_json::{Value, json};

fn resolve(document: &Value) -> Result<Plan, String> {
    let experiment: Experiment = serde_json::from_value(document.clone()).map_err(|e| e.to_string())?;
    Plan::new(&experiment).map_err(|e| e.to_string())
}

fn plan(document: &Value) -> Plan {
    resolve(document).unwrap_or_else(|message| panic!("{document}: {message}"))
}

/// `document` with a value at a path of keys with dots; numbers are places of lists.
fn with(document: &Value, path: &str, value: Value) -> Value {
    let mut changed = document.clone();
    let mut node = &mut changed;
    for key in path.split('.') {
        node = match key.parse::<usize>() {
            Ok(place) => &mut node[place],
            Err(_) => &mut node[key],
        };
    }
    *node = value;
    changed
}

fn dragonfly() -> Value {
    json!({
        "topology": { "dragonfly": { "p": 1, "a": 2, "h": 1 } },
        "router": { "cioq": {} },
        "jobs": [{ "traffic": { "packet_length": 8, "process": { "bernoulli": { "load": 0.25 } } } }],
        "measure": { "warmup": 100, "cycles": 1_000 },
    })
}

fn torus() -> Value {
    let document = with(&dragonfly(), "topology", json!({ "torus": { "sides": [4, 4] } }));
    with(&document, "router", json!({ "input_queued": {} }))
}

/// The document with jobs on nodes of their own that send packets of these lengths.
fn of_lengths(document: &Value, lengths: &[u32]) -> Value {
    let job = |(place, length): (usize, &u32)| {
        json!({
            "placement": { "nodes": { "first": 2 * place, "count": 2 } },
            "traffic": { "packet_length": length, "process": { "bernoulli": { "load": 0.1 } } },
        })
    };
    with(document, "jobs", lengths.iter().enumerate().map(job).collect())
}

#[test]
fn a_packet_crosses_in_its_length_over_the_speedup_rounded_up() {
    for (over, under) in [(1, 1), (3, 2), (2, 1), (5, 2), (3, 1), (11, 10), (64, 1)] {
        let document = with(&dragonfly(), "router.cioq.speedup", json!(f64::from(over) / f64::from(under)));
        let document =
            with(&document, "router.cioq.buffers", json!({ "local": 64, "output": 64, "injection": 64 }));
        let plan = plan(&of_lengths(&document, &[7, 60]));
        let expected: Vec<u32> = (0..=60_u32).map(|length| (length * under).div_ceil(over).max(1)).collect();
        assert_eq!(plan.system.cioq().crossing, expected, "speedup {over}/{under}");
    }
}

#[test]
fn links_have_the_numbers_of_the_document_or_those_of_their_class() {
    let classes = |document: &Value| plan(document).system.network.classes.clone();
    let numbers = |document: &Value| {
        let links = classes(document).links;
        links.iter().map(|class| (u32::from(class.vcs), class.buffer, class.latency)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&dragonfly()), [(2, 32, 10), (1, 256, 100)]);
    assert_eq!(numbers(&torus()), [(2, 64, 1)]);
    let document =
        with(&dragonfly(), "links", json!({ "local": { "latency": 3 }, "global": { "latency": 7 } }));
    let document = with(&document, "router.cioq.vcs", json!({ "local": 5, "global": 4, "injection": 6 }));
    let document = with(
        &document,
        "router.cioq.buffers",
        json!({ "local": 40, "global": 48, "injection": 72, "output": 56 }),
    );
    let document = with(&document, "links.injection", json!({ "latency": 2 }));
    assert_eq!(numbers(&document), [(5, 40, 3), (4, 48, 7)]);
    let terminal = classes(&document).terminal;
    assert_eq!((terminal.vcs, terminal.buffer, terminal.latency, terminal.bubble), (6, 72, 2, 0));
    assert_eq!(plan(&document).system.cioq().output_buffer, Some(56));
    let document = with(&torus(), "links", json!({ "network": { "latency": 4 } }));
    let document = with(
        &document,
        "router.input_queued",
        json!({ "vcs": { "network": 3 }, "buffers": { "network": 80 } }),
    );
    assert_eq!(numbers(&document), [(3, 80, 4)]);
    assert_eq!(plan(&document).system.cioq().output_buffer, None);
}

#[test]
fn a_bubble_has_room_for_its_packets_all_of_the_longest_length() {
    for (packets, lengths) in [(1, vec![8]), (3, vec![5, 12, 7]), (16, vec![1])] {
        let document = with(&torus(), "router.input_queued.vcs", json!({ "bubble": packets }));
        let longest = lengths.iter().copied().max().unwrap();
        let plan = plan(&of_lengths(&document, &lengths));
        assert_eq!(plan.system.network.classes.links[0].bubble, packets * longest);
        assert_eq!(plan.system.network.classes.terminal.bubble, 0);
        assert_eq!(
            (plan.system.longest_packet(), plan.system.shortest_packet()),
            (longest, lengths.iter().copied().min().unwrap())
        );
    }
    // Without rings, and where no packet goes round them, there is none.
    let up_down = with(&torus(), "routing", json!({ "up_down": {} }));
    for document in [dragonfly(), with(&torus(), "topology", json!({ "mesh": { "sides": [4, 4] } })), up_down]
    {
        assert_eq!(plan(&document).system.network.classes.links[0].bubble, 0);
    }
}

#[test]
fn shared_buffers_are_what_the_reserves_of_all_vcs_leave() {
    let document = with(&dragonfly(), "router.cioq.vcs", json!({ "local": 3, "global": 2 }));
    let buffers = json!({ "local": 100, "global": 90, "damq": { "local_reserve": 2, "global_reserve": 3 } });
    let plan = plan(&of_lengths(&with(&document, "router.cioq.buffers", buffers), &[5, 12]));
    let shares = plan.system.cioq().damq.unwrap().map(|s| (s.reserve, s.pool));
    assert_eq!([shares[LOCAL as usize], shares[GLOBAL as usize]], [(24, 100 - 3 * 24), (36, 90 - 2 * 36)]);
    // One VC can hold its own reserve and all that is shared.
    let most: Vec<u32> = plan.system.network.classes.links.iter().map(|class| class.buffer).collect();
    assert_eq!(most, [100 - 2 * 24, 90 - 36]);
}

#[test]
fn what_keeps_nodes_from_injecting_has_the_numbers_of_the_document() {
    let control = |document: &Value, control: Value| {
        plan(&with(document, "nic", json!({ "control": control }))).system.control
    };
    let none = control(&torus(), json!({ "none": {} }));
    assert_eq!((none.lbr, none.sat.is_none()), (0, true));
    assert!(none.ipr.abs() < f64::EPSILON);
    let adaptive = with(&of_lengths(&torus(), &[3, 9]), "routing", json!({ "adaptive": {} }));
    for packets in [1, 2, 4] {
        assert_eq!(control(&adaptive, json!({ "lbr": { "packets": packets } })).lbr, packets * 9);
    }
    for share in [0.0, 0.25, 1.0] {
        assert!((control(&torus(), json!({ "ipr": { "share": share } })).ipr - share).abs() < f64::EPSILON);
    }
    let sat = control(&torus(), json!({ "sat": { "l": 3, "k": 5 } })).sat.unwrap();
    assert_eq!((sat.l, sat.k), (3, 5));
}

/// The walk of SAT in a topology whose links take these latencies.
fn walk(topology: Value, links: Value) -> Vec<(u32, u32)> {
    let document = with(&with(&torus(), "topology", topology), "links", links);
    let document = with(&document, "nic", json!({ "control": { "sat": { "l": 1, "k": 1 } } }));
    plan(&document).system.control.sat.unwrap().walk
}

#[test]
fn the_signal_takes_the_links_between_routers_and_a_cycle_between_nodes_of_one() {
    let row = walk(
        json!({ "mesh": { "sides": [3], "nodes_per_router": 2 } }),
        json!({ "network": { "latency": 5 } }),
    );
    assert_eq!(row, [(0, 1), (1, 5), (2, 1), (3, 5), (4, 1), (5, 10)]);
    let sides = json!({ "mesh": { "sides": [3, 4], "nodes_per_router": 3 } });
    let round = walk(sides, json!({ "network": { "latency": 6 } }));
    assert_eq!(round.iter().map(|&(_, cycles)| cycles).sum::<u32>(), 12 * 6 + 12 * 2);
    let mut nodes: Vec<u32> = round.iter().map(|&(node, _)| node).collect();
    assert!(nodes.chunks(3).all(|of_router| of_router[0] % 3 == 0 && of_router[2] == of_router[0] + 2));
    nodes.sort_unstable();
    assert_eq!(nodes, (0..36).collect::<Vec<_>>());
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 2, "h": 1 } });
    let links = json!({ "local": { "latency": 3 }, "global": { "latency": 20 } });
    let found = walk(dragonfly.clone(), links.clone());
    let plan = plan(&with(&with(&torus(), "topology", dragonfly), "links", links));
    let expected: Vec<(u32, u32)> =
        (0..12).map(|node| (node, latency(&plan, node / 2, (node + 1) % 12 / 2).max(1))).collect();
    assert_eq!(found, expected);
}

/// Least latency of a way between two routers, by trying ways of ever more links.
fn latency(plan: &Plan, from: u32, to: u32) -> u32 {
    let network = &plan.system.network;
    let mut least = vec![u32::MAX; network.routers as usize];
    least[from as usize] = 0;
    for _ in 0..network.routers {
        for router in 0..network.routers {
            let here = least[router as usize];
            let links = (0..network.layout.ports()).map(|port| network.link(router, port));
            for (link, (peer, _)) in links.filter_map(|link| Some((link, link.peer?))) {
                if here < u32::MAX {
                    least[peer as usize] = least[peer as usize].min(here + link.latency);
                }
            }
        }
    }
    least[to as usize]
}

#[test]
fn the_offered_load_is_the_mean_over_the_cycles_of_the_window() {
    let changes = json!([{ "cycle": 150, "load": 0.5 }, { "cycle": 400, "pattern": { "hotspot": { "fraction": 0.5 } } }, { "cycle": 700, "load": 1.0 }]);
    let job = plan(&with(&dragonfly(), "jobs.0.traffic.changes", changes)).system.jobs[0].clone();
    let load = |cycle: u32| match cycle {
        0..150 => 0.25,
        150..700 => 0.5,
        _ => 1.0,
    };
    for (first, end) in
        [(0, 1_100), (100, 1_100), (0, 150), (149, 151), (150, 400), (300, 800), (700, 701), (900, 1_000)]
    {
        let mean = (first..end).map(load).sum::<f64>() / f64::from(end - first);
        let found = job.offered_load((first, end));
        assert!((found - mean).abs() < 1e-12, "{first}..{end}: {found}, not {mean}");
    }
    let steady = plan(&dragonfly()).system.jobs[0].clone();
    assert!((steady.offered_load((100, 1_100)) - 0.25).abs() < 1e-15);
}

#[test]
fn packets_of_several_lengths_have_their_mean_and_no_other_key_says_a_length() {
    let without = |key: &str| {
        let mut document = dragonfly();
        document["jobs"][0]["traffic"].as_object_mut().unwrap().remove(key);
        document
    };
    let shares = json!([{ "length": 1, "weight": 3 }, { "length": 5, "weight": 1 }]);
    let drawn = plan(&with(&without("packet_length"), "jobs.0.traffic.packet_lengths", shares));
    let lengths = &drawn.system.jobs[0].traffic().unwrap().lengths;
    assert!((lengths.mean() - 2.0).abs() < 1e-15);
    assert_eq!((drawn.system.shortest_packet(), drawn.system.longest_packet()), (1, 5));
    let traffic = serde_json::to_value(&drawn.experiment.jobs[0].traffic).unwrap();
    assert_eq!(
        (traffic.get("packet_length"), traffic["packet_lengths"][1]["length"].as_u64()),
        (None, Some(5))
    );
    let of_default = plan(&without("packet_length"));
    assert_eq!(of_default.experiment.jobs[0].traffic.as_ref().unwrap().packet_length, Some(8));
}

#[test]
fn nodes_are_of_the_job_that_is_placed_on_them() {
    let plan = plan(&of_lengths(&torus(), &[4, 6, 8]));
    let expected: Vec<u8> = (0..16).map(|node: u8| if node < 6 { node / 2 } else { u8::MAX }).collect();
    assert_eq!(plan.system.job_of, expected);
    for (place, (job, length)) in plan.system.jobs.iter().zip([4, 6, 8]).enumerate() {
        let job = job.traffic().unwrap();
        assert_eq!(job.nodes, [2 * place as u32, 2 * place as u32 + 1]);
        assert_eq!((job.name.as_str(), job.lengths.longest()), (format!("job{place}").as_str(), length));
        assert!(job.outstanding.is_none() && !job.request_reply());
    }
    let requests = with(&dragonfly(), "jobs.0.traffic.request_reply", json!({ "outstanding": 3 }));
    let requests = plan_with_injection_vcs(&requests, 2);
    let requests = requests.system.jobs[0].traffic().unwrap();
    assert_eq!((requests.outstanding, requests.request_reply()), (Some(3), true));
}

fn plan_with_injection_vcs(document: &Value, vcs: u32) -> Plan {
    plan(&with(document, "router.cioq.vcs", json!({ "injection": vcs })))
}

#[test]
fn nodes_receive_replies_over_vcs_of_their_own() {
    let requests = with(&dragonfly(), "jobs.0.traffic.request_reply", json!({}));
    for (injection_vc, vcs, ejection) in
        [("shortest", 2, 2), ("random", 5, 2), ("destination", 2, 2), ("destination", 5, 4)]
    {
        let document = with(&requests, "nic", json!({ "injection_vc": injection_vc }));
        assert_eq!(plan_with_injection_vcs(&document, vcs).system.network.classes.ejection, ejection);
        let one_way = with(&dragonfly(), "nic", json!({ "injection_vc": injection_vc }));
        assert_eq!(plan_with_injection_vcs(&one_way, vcs).system.network.classes.ejection, 1);
    }
    let doubled: Vec<u8> =
        plan_with_injection_vcs(&requests, 2).system.network.classes.links.iter().map(|c| c.vcs).collect();
    assert_eq!(doubled, [4, 2]);
}

#[test]
fn what_the_document_leaves_out_is_fogsims_choice_only_if_it_asks_for_it() {
    let choices = |compat: Option<&str>| {
        let plan = plan(&with(&dragonfly(), "compat", json!(compat)));
        let (router, nic) = (plan.system.cioq(), plan.system.nic);
        let queue = (nic.source_queue, format!("{:?}", nic.injection_vc));
        let rest = (router.ejection, router.output_hold, router.input_pointer);
        (
            queue,
            format!("{rest:?}"),
            format!("{:?}", (nic.injection_link, nic.injection_count, nic.injection_latency)),
        )
    };
    let names = |queue: u32, texts: [&str; 3]| {
        ((queue, texts[0].to_owned()), texts[1].to_owned(), texts[2].to_owned())
    };
    assert_eq!(
        choices(None),
        names(u32::MAX, ["Shortest", "(Link, Transfer, Grant)", "(Serial, Network, Grant)"])
    );
    assert_eq!(
        choices(Some("fogsim")),
        names(0, ["Destination", "(IdleNode, Speedup, Request)", "(Unlimited, Buffer, Departure)"])
    );
    let own = json!({ "source_queue": { "packets": 3 }, "injection_vc": "random" });
    let nic = plan(&with(&with(&dragonfly(), "compat", json!("fogsim")), "nic", own)).system.nic;
    assert_eq!((nic.source_queue, format!("{:?}", nic.injection_vc)), (3, "Random".to_owned()));
}

#[test]
fn what_the_document_leaves_out_is_booksims_choice_only_if_it_asks_for_it() {
    let choices = |document: &Value| {
        let plan = plan(document);
        let nic = plan.system.nic;
        let ejection = plan.experiment.links.ejection.map(|link| link.latency);
        format!(
            "{:?} {:?} {ejection:?} {}",
            (nic.self_traffic, nic.injection_latency),
            plan.experiment.semantics.hop_count,
            plan.ejection_delay()
        )
    };
    let booksim = with(&dragonfly(), "compat", json!("booksim"));
    assert_eq!(choices(&dragonfly()), "(None, Grant) Some(Links) Some(1) 0");
    assert_eq!(choices(&booksim), "(Router, Admission) Some(Routers) Some(1) 0");
    let longer = with(&booksim, "links.injection.latency", json!(2));
    assert_eq!(choices(&longer), "(Router, Admission) Some(Routers) Some(2) 1");
    let own = json!({ "self_traffic": "none", "hop_count": "links", "injection_latency": "departure" });
    let own = with(&with(&longer, "semantics", own), "links.ejection", json!({ "latency": 5 }));
    assert_eq!(choices(&own), "(None, Departure) Some(Links) Some(5) 4");
    // FOGSim's choices are others.
    let nic = plan(&booksim).system.nic;
    assert_eq!((nic.source_queue, format!("{:?}", nic.injection_vc)), (u32::MAX, "RoundRobin".to_owned()));
}

/// A value at the limit is accepted and one beyond it is not.
fn limits(document: &Value, path: &str, valid: Value, beyond: Value) {
    let begin = |value: &Value| value.to_string().chars().take(80).collect::<String>();
    let (at_limit, past_it) = (begin(&valid), begin(&beyond));
    if let Err(message) = resolve(&with(document, path, valid)) {
        panic!("{path} = {at_limit} is refused: {message}");
    }
    assert!(resolve(&with(document, path, beyond)).is_err(), "{path} = {past_it} is accepted");
}

#[test]
fn the_limits_of_a_run_are_where_they_are_said_to_be() {
    let document = with(&dragonfly(), "measure", json!({ "warmup": 0, "cycles": 100 }));
    for (path, valid, beyond) in [
        (
            "measure",
            json!({ "warmup": 2_999_999_980_u32, "cycles": 20 }),
            json!({ "warmup": 2_999_999_980_u32, "cycles": 21 }),
        ),
        (
            "measure",
            json!({ "warmup": 0, "cycles": 3_000_000_000_u32 }),
            json!({ "warmup": 0, "cycles": 3_000_000_001_u32 }),
        ),
        ("measure.cycles", json!(20), json!(0)),
        ("measure.watchdog", json!(1), json!(0)),
        ("measure.batches", json!(1), json!(0)),
        ("measure.batches", json!(100), json!(101)),
        (
            "measure",
            json!({ "cycles": 20_000, "batches": 10_000 }),
            json!({ "cycles": 20_000, "batches": 10_001 }),
        ),
        (
            "measure",
            json!({ "cycles": 10_000_000, "interval": 1 }),
            json!({ "cycles": 10_000_001, "interval": 1 }),
        ),
        (
            "measure",
            json!({ "cycles": 20_000_001, "interval": 2 }),
            json!({ "cycles": 20_000_002, "interval": 2 }),
        ),
        (
            "measure",
            json!({ "cycles": 100, "interval": 1, "streams": ["generation"] }),
            json!({ "cycles": 100, "interval": 0, "streams": ["generation"] }),
        ),
    ] {
        limits(&document, path, valid, beyond);
    }
}

#[test]
fn the_limits_of_a_router_are_where_they_are_said_to_be() {
    for (path, valid, beyond) in [
        ("router.cioq.speedup", json!(1.0), json!(0.999)),
        ("router.cioq.speedup", json!(64.0), json!(64.001)),
        ("router.cioq.crossbar_inputs", json!(1), json!(0)),
        ("router.cioq.crossbar_inputs", json!(16), json!(17)),
        ("router.cioq.crossbar_outputs", json!(1), json!(0)),
        ("router.cioq.crossbar_outputs", json!(16), json!(17)),
        ("router.cioq.crossbar_latency", json!(10_000), json!(10_001)),
        ("router.cioq.pipeline_latency", json!(10_000), json!(10_001)),
        ("router.cioq.allocator", json!({ "iterations": 1 }), json!({ "iterations": 0 })),
        ("router.cioq.allocator", json!({ "iterations": 8 }), json!({ "iterations": 9 })),
        ("router.cioq.buffers", json!({ "local": 8 }), json!({ "local": 7 })),
        ("router.cioq.buffers", json!({ "global": 8 }), json!({ "global": 7 })),
        ("router.cioq.buffers", json!({ "injection": 8 }), json!({ "injection": 7 })),
        ("router.cioq.buffers", json!({ "output": 8 }), json!({ "output": 7 })),
        // 255 packets of 8 phits, and 7 phits that hold none.
        ("router.cioq.buffers", json!({ "output": 2_047 }), json!({ "output": 2_048 })),
        ("router.cioq.buffers", json!({ "local": 1 << 24 }), json!({ "local": (1 << 24) + 1 })),
        ("router.cioq.vcs", json!({ "local": 2 }), json!({ "local": 1 })),
        ("router.cioq.vcs", json!({ "local": 16 }), json!({ "local": 17 })),
        ("router.cioq.vcs", json!({ "injection": 1 }), json!({ "injection": 0 })),
        ("router.cioq.vcs", json!({ "injection": 16 }), json!({ "injection": 17 })),
        ("links", json!({ "local": { "latency": 1 } }), json!({ "local": { "latency": 0 } })),
        // The buffer of 32 phits has room for two packets of 8 in each of two VCs.
        (
            "router.cioq.buffers",
            json!({ "local": 32, "damq": { "local_reserve": 2, "global_reserve": 1 } }),
            json!({ "local": 32, "damq": { "local_reserve": 3, "global_reserve": 1 } }),
        ),
        (
            "router.cioq.buffers",
            json!({ "damq": { "local_reserve": 0, "global_reserve": 1, "allow_deadlock": true } }),
            json!({ "damq": { "local_reserve": 0, "global_reserve": 1 } }),
        ),
    ] {
        limits(&dragonfly(), path, valid, beyond);
    }
    let requests = with(&dragonfly(), "jobs.0.traffic.request_reply", json!({}));
    limits(&requests, "router.cioq.vcs", json!({ "injection": 2 }), json!({ "injection": 1 }));
    limits(
        &requests,
        "router.cioq.vcs",
        json!({ "injection": 2, "local": 4 }),
        json!({ "injection": 2, "local": 3 }),
    );
}

#[test]
fn the_limits_of_rings_and_of_injection_are_where_they_are_said_to_be() {
    let wide = with(&torus(), "router.input_queued.buffers", json!({ "network": 136 }));
    let adaptive = with(&torus(), "routing", json!({ "adaptive": {} }));
    let directed = with(&torus(), "nic", json!({ "injection_vc": "direction" }));
    let directed = with(&directed, "router.input_queued.vcs", json!({ "injection": 2 }));
    for (document, path, valid, beyond) in [
        (&wide, "router.input_queued.vcs", json!({ "bubble": 16 }), json!({ "bubble": 17 })),
        (&wide, "router.input_queued.vcs", json!({ "bubble": 1 }), json!({ "bubble": 0 })),
        // A packet that enters leaves room for another one.
        (&torus(), "router.input_queued.buffers", json!({ "network": 16 }), json!({ "network": 15 })),
        (
            &adaptive,
            "nic",
            json!({ "control": { "lbr": { "packets": 1 } } }),
            json!({ "control": { "lbr": { "packets": 0 } } }),
        ),
        (
            &adaptive,
            "nic",
            json!({ "control": { "lbr": { "packets": 7 } } }),
            json!({ "control": { "lbr": { "packets": 8 } } }),
        ),
        (
            &torus(),
            "nic",
            json!({ "control": { "ipr": { "share": 1.0 } } }),
            json!({ "control": { "ipr": { "share": 1.01 } } }),
        ),
        (
            &torus(),
            "nic",
            json!({ "control": { "ipr": { "share": 0.0 } } }),
            json!({ "control": { "ipr": { "share": -0.01 } } }),
        ),
        (
            &torus(),
            "nic",
            json!({ "control": { "sat": { "l": 2, "k": 2 } } }),
            json!({ "control": { "sat": { "l": 3, "k": 2 } } }),
        ),
        (
            &torus(),
            "nic",
            json!({ "control": { "sat": { "l": 1, "k": 1 } } }),
            json!({ "control": { "sat": { "l": 0, "k": 1 } } }),
        ),
        (&directed, "nic.injection_ports", json!(2), json!(3)),
        (&directed, "nic.injection_ports", json!(1), json!(0)),
        (&directed, "router.input_queued.vcs", json!({ "injection": 4 }), json!({ "injection": 3 })),
        (
            &directed,
            "nic",
            json!({ "injection_vc": "direction", "injection_ports": 2 }),
            json!({ "injection_ports": 2 }),
        ),
    ] {
        limits(document, path, valid, beyond);
    }
}

#[test]
fn the_limits_of_jobs_and_of_sizes_are_where_they_are_said_to_be() {
    let large = json!({ "local": 8_192, "global": 8_192, "injection": 8_192, "output": 8_192 });
    let document = with(&dragonfly(), "router.cioq.buffers", large);
    limits(&document, "jobs.0.traffic.packet_length", json!(4_096), json!(4_097));
    limits(&dragonfly(), "jobs.0.traffic.packet_length", json!(1), json!(0));
    let requests = with(&dragonfly(), "router.cioq.vcs", json!({ "injection": 2 }));
    limits(
        &requests,
        "jobs.0.traffic.request_reply",
        json!({ "outstanding": 1 }),
        json!({ "outstanding": 0 }),
    );
    let ring = with(&torus(), "topology", json!({ "ring": { "routers": 600 } }));
    let jobs = |count: u32| -> Value {
        let job = |place: u32| {
            let traffic = json!({ "process": { "bernoulli": { "load": 0.1 } } });
            json!({ "placement": { "nodes": { "first": 2 * place, "count": 2 } }, "traffic": traffic })
        };
        (0..count).map(job).collect()
    };
    limits(&ring, "jobs", jobs(255), jobs(256));
    limits(&ring, "jobs", jobs(1), json!([]));
    // 32 ports of 16 VCs are 512.
    let vcs = json!({ "local": 16, "global": 16, "injection": 16 });
    let wide = with(&dragonfly(), "router.cioq.vcs", vcs);
    let size = |p: u32| json!({ "dragonfly": { "p": p, "a": 17, "h": 8 } });
    limits(&wide, "topology", size(8), size(9));
}
