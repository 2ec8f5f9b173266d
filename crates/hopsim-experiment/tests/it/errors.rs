//! The whole text of every message about bad input: key, value, reason, what would be valid, place.

use hopsim_experiment::document;

/// A small valid experiment; what a test adds to it starts at line 7.
pub const VALID: &str = "\
load = 0.5

[topology.dragonfly]
p = 2
a = 4
h = 2
";

/// The message about `text`, with overrides written `path=value`.
pub fn message_of(text: &str, overrides: &[&str]) -> String {
    let pair = |text: &&str| {
        let (path, value) = text.split_once('=').unwrap();
        (path.to_owned(), value.to_owned())
    };
    let overrides: Vec<_> = overrides.iter().map(pair).collect();
    match document::points(text, &overrides) {
        Ok(_) => "accepted".into(),
        Err(error) => error.to_string(),
    }
}

/// The message about the valid experiment with `text` after it.
fn after(text: &str) -> String {
    message_of(&format!("{VALID}{text}"), &[])
}

/// The message about the valid experiment with `text` before it.
fn before(text: &str) -> String {
    message_of(&format!("{text}\n{VALID}"), &[])
}

/// The message about the valid experiment with overrides.
fn set(overrides: &[&str]) -> String {
    message_of(VALID, overrides)
}

#[test]
fn the_experiment_the_tests_start_from_is_valid() {
    assert_eq!(set(&[]), "accepted");
}

#[test]
fn unknown_key() {
    assert_eq!(
        after("[router.cioq]\ncrosbar_latency = 3"),
        "line 8, column 1: router.cioq.crosbar_latency = 3: unknown key; did you mean `crossbar_latency`? \
         Valid: vcs, buffers, flow_control, speedup, crossbar_inputs, crossbar_outputs, crossbar_latency, pipeline_latency, allocator"
    );
    assert_eq!(
        after("[measure]\nwarm-up = 3"),
        "line 8, column 1: measure.warm-up = 3: unknown key; did you mean `warmup`? \
         Valid: warmup, cycles, max_cycles, stop, end, time, seed, batches, interval, streams, packets, watchdog"
    );
}

#[test]
fn key_in_the_wrong_table() {
    assert_eq!(
        before("seed = 1"),
        "line 1, column 1: seed = 1: unknown key; did you mean `faults.0.links.seed` or `measure.seed`? \
         Valid: compat, load, units, topology, contention, links, faults, router, routing, nic, semantics, jobs, only, measure, sweep"
    );
    assert_eq!(
        after("[router]\ncioq = {}\nspeedup = 2"),
        "line 9, column 1: router.speedup = 2: unknown key; did you mean `router.cioq.speedup` or \
         `router.virtual_channel.speedup`? Valid: cioq, input_queued, virtual_channel, infiniband, ethernet"
    );
}

#[test]
fn key_that_begins_like_another_one() {
    assert_eq!(
        before("lode = 0.2"),
        "line 1, column 1: lode = 0.2: unknown key; did you mean `load`? \
         Valid: compat, load, units, topology, contention, links, faults, router, routing, nic, semantics, jobs, only, measure, sweep"
    );
}

#[test]
fn load_where_it_does_not_belong() {
    assert_eq!(
        after("[[jobs]]\nload = 0.2"),
        "line 8, column 1: jobs.0.load = 0.2: unknown key; did you mean `jobs.0.traffic.process.bernoulli.load` or \
         `load`? Valid: name, placement, rank_order, traffic, program, host, flows, messages, start, priority, repeat"
    );
    assert_eq!(
        after("[[jobs]]\n[[jobs]]\ntraffic = { load = 0.2 }"),
        "line 9, column 13: jobs.1.traffic.load = 0.2: unknown key; did you mean \
         `jobs.1.traffic.process.bernoulli.load` or `load`? \
         Valid: pattern, process, node_loads, packet_length, packet_lengths, packet_list, changes, request_reply"
    );
}

#[test]
fn number_that_toml_does_not_hold() {
    for (value, reason) in
        [("9223372036854775808", "large"), ("-9_223_372_036_854_775_809", "small"), ("1e999", "large")]
    {
        assert_eq!(
            set(&[&format!("measure.seed={value}")]),
            format!(
                "measure.seed = {value} (override): is too {reason}; valid: integers of 64 bits, finite decimal numbers"
            )
        );
    }
}

#[test]
fn value_too_large_is_not_called_too_small() {
    assert_eq!(
        message_of("load = 0.1\ntopology.mesh.sides = [4, 400_000]", &[]),
        "line 2, column 27: topology.mesh.sides.1 = 400000: is too large; valid: 2 … 65535"
    );
    assert_eq!(
        set(&["router.cioq.speedup=65"]),
        "router.cioq.speedup = 65 (override): is too large; valid: 1 … 64"
    );
    assert_eq!(
        set(&["jobs.0.traffic.process={ bursty = { burst_length = 2_000_000 } }"]),
        "jobs.0.traffic.process.bursty.burst_length = 2000000 (override): is too large; valid: 1 … 1000000 packets"
    );
    assert_eq!(
        set(&["routing.source_adaptive.longest_detour=0"]),
        "routing.source_adaptive.longest_detour = 0 (override): a detour has 1 to 6 links; valid: 1 … 6"
    );
}

#[test]
fn interval_longer_than_the_run() {
    assert_eq!(
        after("[measure]\nwarmup = 100\ncycles = 400\ninterval = 501"),
        "line 10, column 1: measure.interval = 501: the run ends after 500 cycles, before the first interval does; \
         valid: 1 … 500, or 0 for no time series"
    );
    assert_eq!(after("[measure]\nwarmup = 100\ncycles = 400\ninterval = 500"), "accepted");
}

#[test]
fn job_without_a_name() {
    for name in ["", " "] {
        assert_eq!(
            after(&format!("[[jobs]]\nname = \"{name}\"")),
            format!(
                "line 8, column 1: jobs.0.name = \"{name}\": the name is empty; \
                 valid: a name of its own for every job, or no such key"
            )
        );
    }
}

#[test]
fn unknown_choice() {
    assert_eq!(
        after("[routing.valient]"),
        "line 7, column 10: routing.valient: unknown key; did you mean `valiant`? Valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
    assert_eq!(
        before("routing = \"Minimall\""),
        "line 1, column 1: routing = \"Minimall\": no such choice; did you mean `minimal`? Valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
    assert_eq!(
        after("arrangement = \"absolute\""),
        "line 7, column 1: topology.dragonfly.arrangement = \"absolute\": no such choice; \
         valid: palmtree, consecutive, random"
    );
    let message = after("[[jobs]]\ntraffic = { pattern = \"ADV+x\" }");
    let start = "line 8, column 13: jobs.0.traffic.pattern = \"ADV+x\": no such choice; valid: uniform, adversarial, ";
    let end = " (or in short UN, ADV+1, ADV+h, ADVc, ADV-local)";
    assert!(message.starts_with(start) && message.ends_with(end), "{message}");
}

#[test]
fn two_choices_or_none() {
    assert_eq!(
        after("[routing.minimal]\n[routing.valiant]"),
        "line 8, column 10: routing.valiant: a second choice beside `minimal`; valid: one of minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
    assert_eq!(
        before("routing = {}"),
        "line 1, column 1: routing = {}: names none of the choices; valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
}

#[test]
fn missing_key() {
    assert_eq!(
        message_of("load = 0.5", &[]),
        "topology: is missing; valid: one of the tables [topology.dragonfly], [topology.mesh], [topology.torus], [topology.ring], \
         [topology.ideal], [topology.hyperx], [topology.fat_tree], [topology.graph], [topology.slim_fly], [topology.polarfly], \
         [topology.dragonfly_plus], [topology.jellyfish], [topology.xpander], [topology.oft], [topology.xgft], \
         [topology.product], [topology.planes]"
    );
    assert_eq!(
        message_of("load = 0.5\n[topology.dragonfly]\np = 2\na = 4\n", &[]),
        "line 2, column 11: topology.dragonfly.h: is missing; valid: 1 … 254"
    );
    assert_eq!(
        message_of("[topology.dragonfly]\np = 2\na = 4\nh = 2\n", &[]),
        "jobs.0.traffic.process.bernoulli.load: is missing; \
         valid: 0 … 1 phits/(node·cycle), here or as the shorthand `load`"
    );
    assert_eq!(
        after("[[jobs]]\nplacement = \"groups\""),
        "line 8, column 1: jobs.0.placement.groups.count: is missing; valid: 1 … 4294967295"
    );
}

#[test]
fn wrong_type() {
    assert_eq!(
        after("[measure]\ncycles = \"many\""),
        "line 8, column 1: measure.cycles = \"many\": must be an integer, not a string; valid: 1 … 3000000000"
    );
    assert_eq!(
        after("[measure]\nseed = 1.5"),
        "line 8, column 1: measure.seed = 1.5: must be an integer, not a decimal number; \
         valid: 0 … 9223372036854775807"
    );
    assert_eq!(
        after("[links]\nlocal = 5"),
        "line 8, column 1: links.local = 5: must be a table, not an integer; valid: { latency = … }"
    );
    assert_eq!(
        after("[measure]\nstreams = \"nodes\""),
        "line 8, column 1: measure.streams = \"nodes\": must be a list, not a string; \
         valid: a list of nodes, routers, links, generation, occupancy, output_queues, injection_waits, allocation, waits, packet_hops, flit_hops, ranks, messages, operations, message_sizes, latency_histogram, flows, flow_sizes, flow_series, queue_series, link_series, congestion_trees, victims"
    );
    assert_eq!(
        after("[measure]\nstreams = [\"output_queues\"]\n[router.input_queued]"),
        "line 8, column 12: measure.streams.0 = \"output_queues\": input-queued routers have no output queues; \
         valid: no such stream, or router.cioq"
    );
    assert_eq!(
        after("[jobs]\nname = \"a\""),
        "line 7, column 2: jobs = { name = \"a\" }: must be a list, not a table; \
         valid: a list of tables, each under its own [[jobs]]"
    );
    assert_eq!(
        before("routing = 3"),
        "line 1, column 1: routing = 3: must be a name or a table, not an integer; valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic = { pattern = \"mix\" }"),
        "line 8, column 13: jobs.0.traffic.pattern = \"mix\": `mix` needs a list; \
         valid: { mix = … }, a list of { weight = …, pattern = … }"
    );
    assert_eq!(
        after("[nic]\nsource_queue = { unbounded = {} }"),
        "line 8, column 1: nic.source_queue = { unbounded = {} }: `unbounded` has no parameters; valid: \"unbounded\""
    );
}

#[test]
fn number_that_does_not_fit() {
    assert_eq!(
        after("[measure]\nwarmup = -5"),
        "line 8, column 1: measure.warmup = -5: must not be negative; valid: 0 … 3000000000 or auto"
    );
    assert_eq!(
        after("[measure]\ncycles = 5_000_000_000"),
        "line 8, column 1: measure.cycles = 5000000000: is too large; valid: 1 … 3000000000"
    );
    assert_eq!(
        after("[measure]\nseed = 99999999999999999999"),
        "line 8, column 8: not TOML: integer number overflowed, in the line \"seed = 99999999999999999999\"; \
         valid: numbers of 64 bits"
    );
    assert_eq!(
        after("[router.cioq]\nspeedup = nan"),
        "line 8, column 1: router.cioq.speedup = nan: must be a finite number"
    );
    assert_eq!(
        after("[[jobs]]\nplacement = { list = [1, -inf] }"),
        "line 8, column 26: jobs.0.placement.list.1 = -inf: must be a finite number"
    );
}

#[test]
fn out_of_range() {
    assert_eq!(
        after("[router.cioq]\nspeedup = 0.5"),
        "line 8, column 1: router.cioq.speedup = 0.5: the crossbar is at least as fast as the links; valid: 1 … 64"
    );
    assert_eq!(
        after("[router.cioq]\nallocator = { iterations = 9 }"),
        "line 8, column 15: router.cioq.allocator.iterations = 9: out of range; valid: 1 … 8"
    );
    assert_eq!(
        after("[measure]\nbatches = 20\ncycles = 10"),
        "line 8, column 1: measure.batches = 20: the window cannot be divided into that many batches; valid: 1 … 10"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic = { packet_length = 5000 }"),
        "line 8, column 13: jobs.0.traffic.packet_length = 5000: out of range; valid: 1 … 4096"
    );
    assert_eq!(
        after("[measure]\nwarmup = 2_000_000_000\ncycles = 2_000_000_000"),
        "line 9, column 1: measure.cycles = 2000000000: the run is too long; valid: warmup + cycles ≤ 3000000000"
    );
}

#[test]
fn load_above_one() {
    assert_eq!(
        set(&["load=1.5"]),
        "load = 1.5 (override): the offered load is a share of the link rate; valid: 0 … 1 phits/(node·cycle)"
    );
    assert_eq!(
        message_of(
            "[topology.dragonfly]\np = 2\na = 4\nh = 2\n[[jobs]]\ntraffic.process.bernoulli.load = 1.01",
            &[]
        ),
        "line 6, column 27: jobs.0.traffic.process.bernoulli.load = 1.01: the offered load is a share of the link \
         rate; valid: 0 … 1 phits/(node·cycle)"
    );
}

#[test]
fn load_twice() {
    assert_eq!(
        after("[[jobs]]\ntraffic = { process = { bernoulli = { load = 0.4 } } }"),
        "line 1, column 1: load = 0.5: the shorthand conflicts with jobs.0.traffic.process.bernoulli.load = 0.4; \
         valid: one of the two"
    );
}

#[test]
fn impossible_topology() {
    assert_eq!(
        after("groups = 20"),
        "line 7, column 1: topology.dragonfly.groups = 20: a group has a·h = 8 global links, so it cannot reach that \
         many groups; valid: 2 … 9 (a·h + 1)"
    );
    assert_eq!(
        set(&["topology.dragonfly.groups=1"]),
        "topology.dragonfly.groups = 1 (override): a dragonfly has at least two groups; valid: 2 … 9 (a·h + 1)"
    );
    assert_eq!(
        set(&["topology.dragonfly.p=0"]),
        "topology.dragonfly.p = 0 (override): out of range; valid: 1 … 254"
    );
    assert_eq!(
        set(&["topology.dragonfly.a=254"]),
        "topology.dragonfly.a = 254 (override): the router would have 257 ports; valid: p + a + h ≤ 256"
    );
}

#[test]
fn network_that_no_memory_holds() {
    assert_eq!(
        set(&["topology.dragonfly.a=190", "topology.dragonfly.h=60"]),
        "line 3, column 11: topology.dragonfly.groups = 11401: the network would have 543713690 router ports, more \
         than memory holds; valid: a · groups · (p + a - 1 + h) ≤ 67108864"
    );
    assert_eq!(
        set(&["topology.dragonfly.a=40", "router.cioq.vcs={ local = 16 }"]),
        "router (override): a router would have 642 input VCs; \
         valid: at most 512 input VCs per router: fewer ports or fewer VCs"
    );
}

#[test]
fn routing_that_does_not_fit_the_topology() {
    assert_eq!(
        set(&["topology.dragonfly.a=1", "routing.valiant.policy=nrg"]),
        "routing.valiant.policy = nrg (override): a group of one router has no neighbour routers; \
         valid: rrg or crg, or a ≥ 2"
    );
    for routing in ["olm", "par"] {
        assert_eq!(
            set(&["topology.dragonfly.a=1", &format!("routing={routing}")]),
            format!(
                "routing.{routing} (override): a group of one router has no local links to misroute over; \
                 valid: a ≥ 2, or source-adaptive routing"
            )
        );
    }
    for routing in ["ugal", "piggyback", "source_adaptive"] {
        assert_eq!(
            set(&[
                "topology.dragonfly={ p = 2, a = 3, h = 1, groups = 3 }",
                &format!("routing.{routing}.policy=crg")
            ]),
            format!(
                "routing.{routing}.policy = crg (override): router 2 has no connected global link; \
                 valid: rrg, or another number of groups"
            )
        );
        assert_eq!(
            set(&["topology.dragonfly.groups=5", &format!("routing.{routing}.path_lengths=consecutive")]),
            format!(
                "routing.{routing}.path_lengths = consecutive (override): the formulas hold for a·h + 1 groups only; \
                 valid: shortest, or groups = 9"
            )
        );
    }
}

#[test]
fn knowledge_of_all_links_compares_neither_a_vc_nor_lengths() {
    assert_eq!(
        set(&["routing.ugal.knowledge=global"]),
        "routing.ugal.occupancy = vc: with knowledge = \"global\" all VCs of the ports on the paths are counted; \
         valid: port"
    );
    assert_eq!(
        set(&[
            "routing.ugal={ knowledge = \"global\", occupancy = \"port\", path_lengths = \"consecutive\" }"
        ]),
        "routing.ugal.path_lengths = consecutive (override): with knowledge = \"global\" the links of the paths are looked at, \
         and not counted; valid: shortest"
    );
    assert_eq!(set(&["routing.ugal={ knowledge = \"global\", occupancy = \"port\" }"]), "accepted");
}

#[test]
fn on_off_flow_control_with_thresholds_that_do_not_fit() {
    let with = |keys: &str| {
        set(&["router.cioq.buffers={ local = 64 }", &format!("router.cioq.flow_control.on_off={{ {keys} }}")])
    };
    // Packets have 8 phits, and heads may come in 2 · 10 + 7 + 24 cycles.
    assert_eq!(
        with("local = { off = 55 }"),
        "router.cioq.flow_control.on_off.local.off = 55 (override): up to 56 phits may still come when a buffer has said off, \
         and it would overflow; valid: at least 56 phits"
    );
    assert_eq!(with("local = { off = 56 }, global = { off = 232, on = 256 }"), "accepted");
    assert_eq!(
        with("local = { off = 60, on = 59 }"),
        "router.cioq.flow_control.on_off.local.on = 59 (override): a buffer says off when fewer than 60 phits are free; \
         valid: 60 … 64"
    );
    assert_eq!(
        with("local = { on = 65 }"),
        "router.cioq.flow_control.on_off.local.on = 65 (override): the buffer has 64 phits, and would never say on again; \
         valid: 56 … 64"
    );
    assert_eq!(
        with("network = { off = 60 }"),
        "router.cioq.flow_control.on_off.network (override): the topology has no network links; \
         valid: no such key; its links are local, global"
    );
    assert_eq!(
        with("local = { off = 65 }"),
        "router.cioq.buffers.local = 64 (override): a buffer that has room for fewer than 65 phits would never be on; \
         valid: at least 65 phits"
    );
    assert_eq!(
        set(&["router.cioq.flow_control.on_off={}"]),
        "router.cioq.buffers.local = 32: up to 56 phits may still come when a buffer has said off (on/off flow control); \
         valid: at least 56 phits"
    );
}

#[test]
fn on_off_flow_control_beside_what_reads_credits() {
    let with = |more: &[&str]| {
        let mut all = vec!["router.cioq.buffers.local=64", "router.cioq.flow_control.on_off={}"];
        all.extend(more);
        set(&all)
    };
    assert_eq!(with(&[]), "accepted");
    assert_eq!(with(&["routing.valiant.recompute=true"]), "accepted");
    let refused = |reason: &str, valid: &str| {
        format!("router.cioq.flow_control.on_off (override): {reason}; valid: credits, or {valid}")
    };
    for routing in ["ugal", "olm", "piggyback", "par", "source_adaptive"] {
        assert_eq!(
            with(&[&format!("routing={routing}")]),
            refused(
                "adaptive routing compares the room in buffers, of which a router knows no more than on or off",
                "routing that does not adapt: minimal, valiant, up_down or nue"
            )
        );
    }
    assert_eq!(
        with(&["router.cioq.vcs.management=flexvc"]),
        refused(
            "packets take the VC with most room, and a router knows no more of buffers than on or off",
            "VCs of which each hop has one: increasing instead of flexvc, or one VC per link"
        )
    );
    assert_eq!(
        with(&["router.cioq.buffers.damq={ local_reserve = 1, global_reserve = 1 }"]),
        refused(
            "the VCs of a shared buffer take room from each other, of which on and off say nothing",
            "buffers without damq"
        )
    );
    assert_eq!(
        message_of(
            "load = 0.1\ntopology.ring.routers = 4\nrouter.input_queued.flow_control.on_off = {}\nrouter.input_queued.vcs.network = 1\n",
            &[]
        ),
        "line 3, column 34: router.input_queued.flow_control.on_off: a bubble is room for a packet more, and a router knows no more of \
         buffers than on or off; valid: credits, a network without rings, or two VCs with vcs.rings = \"dateline\" (minimal routing)"
    );
}

#[test]
fn trunk_for_which_a_group_has_too_few_global_links() {
    for (trunk, groups, valid) in [(3, 4, "1 … 2"), (0, 4, "1 … 2"), (2, 9, "1 … 1")] {
        assert_eq!(
            set(&[
                &format!("topology.dragonfly.groups={groups}"),
                &format!("topology.dragonfly.trunk={trunk}")
            ]),
            format!(
                "topology.dragonfly.trunk = {trunk} (override): a group has a·h = 8 global links and {} other groups; \
                 valid: {valid}",
                groups - 1
            )
        );
    }
    assert_eq!(
        after("trunk = 9"),
        "line 7, column 1: topology.dragonfly.trunk = 9: a group has a·h = 8 global links; valid: 1 … 8"
    );
    assert_eq!(after("trunk = 8"), "accepted");
}

#[test]
fn misroutes_to_routers_without_global_links() {
    let trunks = "topology.dragonfly={ p = 2, a = 4, h = 2, groups = 3, trunk = 1 }";
    let unplugged = "topology.dragonfly={ p = 2, a = 3, h = 1, groups = 3 }";
    for (network, router) in [(trunks, 1), (unplugged, 2)] {
        for (mechanism, policy) in [("olm", "mm"), ("olm", "rrg"), ("olm", "nrg"), ("par", "mm")] {
            assert_eq!(
                set(&[network, &format!("routing.{mechanism}.policy={policy}")]),
                format!(
                    "routing.{mechanism}.policy = {policy} (override): router {router} has no connected global link, and a packet \
                     misrouted to it would have to leave its group from there; \
                     valid: crg, or another number of groups or global links"
                )
            );
            assert_eq!(set(&[network, &format!("routing.{mechanism}.policy=crg")]), "accepted");
        }
    }
}

#[test]
fn adversarial_consecutive_traffic_from_a_router_without_global_links() {
    assert_eq!(
        set(&[
            "topology.dragonfly={ p = 2, a = 4, h = 2, groups = 3, trunk = 1 }",
            "jobs.0.traffic.pattern=ADVc"
        ]),
        "jobs.0.traffic.pattern.adversarial_consecutive (override): the last router of group 0 has no connected global link; \
         valid: another pattern, or another number of groups or global links"
    );
}

#[test]
fn policy_that_the_mechanism_does_not_have() {
    for policy in ["rrg", "nrg"] {
        assert_eq!(
            set(&[&format!("routing.par.policy={policy}")]),
            format!(
                "routing.par.policy = {policy} (override): PAR misroutes over the own global links first; \
                 valid: mm or crg"
            )
        );
    }
    assert_eq!(
        after("[routing.olm]\npolicy = \"mmm\""),
        "line 8, column 1: routing.olm.policy = \"mmm\": no such choice; did you mean `mm`? Valid: mm, rrg, crg, nrg"
    );
    assert_eq!(
        after("[routing.ugal]\npolicy = \"mm\""),
        "line 8, column 1: routing.ugal.policy = \"mm\": no such choice; valid: rrg, crg, nrg"
    );
}

#[test]
fn thresholds_out_of_range() {
    let refused = |key: &str, value: &str, rest: &str| {
        let expected = format!("routing.{key} = {value} (override): {rest}");
        assert_eq!(set(&[&format!("routing.{key}={value}")]), expected);
    };
    for routing in ["ugal", "piggyback", "source_adaptive"] {
        refused(&format!("{routing}.threshold"), "1000001", "out of range; valid: 0 … 1000000 packets");
    }
    for (key, value) in [("threshold", "1"), ("occupancy", "port")] {
        assert_eq!(
            set(&[&format!("routing.par.{key}={value}")]),
            format!(
                "routing.par.{key} (override): is about other networks; in a dragonfly the trigger decides; \
                 valid: no such key, or trigger"
            )
        );
    }
    for routing in ["piggyback", "source_adaptive"] {
        refused(&format!("{routing}.saturation.factor"), "-1", "out of range; valid: 0 … 1000");
        refused(
            &format!("{routing}.saturation.threshold"),
            "1000.5",
            "out of range; valid: 0 … 1000 packets",
        );
    }
    refused("source_adaptive.longest_detour", "7", "a detour has 1 to 6 links; valid: 1 … 6");
    for routing in ["olm", "par"] {
        let congestion = format!("{routing}.trigger.congestion");
        for key in ["local_threshold", "global_threshold", "min_occupancy"] {
            refused(&format!("{congestion}.{key}"), "100.5", "out of range; valid: 0 … 100 %");
        }
        refused(&format!("{congestion}.restriction.factor"), "-0.5", "out of range; valid: 0 … 1000");
        refused(
            &format!("{routing}.trigger.contention.threshold"),
            "65536",
            "out of range; valid: 0 … 65535",
        );
    }
    refused("olm.trigger.contention.local_threshold", "65536", "out of range; valid: 0 … 65535");
    refused("olm.trigger.hybrid.threshold", "65536", "out of range; valid: 0 … 65535");
    refused("olm.trigger.hybrid.congestion.local_threshold", "101", "out of range; valid: 0 … 100 %");
    refused("olm.trigger.statistical.threshold", "0", "out of range; valid: 1 … 65535");
    refused("olm.trigger.statistical.full", "3", "is below threshold = 4; valid: 4 … 65535");
}

#[test]
fn averages_and_messages_out_of_range() {
    assert_eq!(
        set(&["routing.olm.trigger.filtered.alpha=1"]),
        "routing.olm.trigger.filtered.alpha = 1 (override): the weight of the past leaves none to the present; \
         valid: 0 … 1, 1 excluded"
    );
    assert_eq!(
        set(&["routing.olm.trigger.filtered.alpha=-0.1"]),
        "routing.olm.trigger.filtered.alpha = -0.1 (override): out of range; valid: 0 … 1, 1 excluded"
    );
    assert_eq!(
        set(&["routing.olm.trigger.ectn.period=0"]),
        "routing.olm.trigger.ectn.period = 0 (override): out of range; valid: 1 … 1000000"
    );
    assert_eq!(
        set(&["routing.olm.trigger.ectn={ period = 20, message_length = 11 }"]),
        "routing.olm.trigger.ectn.message_length = 11 (override): messages would take more than half of every \
         local link; valid: 0 … 10 (period / 2), or a longer period"
    );
}

#[test]
fn too_few_vcs() {
    assert_eq!(
        after("[router.cioq]\nvcs = { local = 2 }\n[routing.valiant]"),
        "line 8, column 9: router.cioq.vcs.local = 2: routing valiant follows up to 4 local links (lgllgl) and needs \
         one VC for each, in increasing order, to be free of deadlock; valid: 4 … 16"
    );
}

#[test]
fn too_few_vcs_for_each_mechanism() {
    let refused = |routing: &str, (class, given): (&str, u32), (links, sequence): (u32, &str)| {
        let name = routing.split(['.', '=']).next().unwrap();
        let expected = format!(
            "router.cioq.vcs.{class} = {given} (override): routing {name} follows up to {links} {class} links {sequence} \
             and needs one VC for each, in increasing order, to be free of deadlock; valid: {links} … 16"
        );
        let routing =
            if routing.contains('=') { format!("routing.{routing}") } else { format!("routing={routing}") };
        assert_eq!(set(&[&routing, &format!("router.cioq.vcs.{class}={given}")]), expected);
    };
    refused("minimal", ("local", 1), (2, "(lgl)"));
    refused("valiant.intermediate=group", ("local", 2), (3, "(lglgl)"));
    for routing in ["ugal", "piggyback"] {
        refused(routing, ("local", 2), (3, "(lglgl)"));
        refused(routing, ("global", 1), (2, "(lglgl)"));
        refused(&format!("{routing}.intermediate=router"), ("local", 3), (4, "(lgllgl)"));
    }
    refused("source_adaptive", ("local", 3), (4, "(lgllgl)"));
    refused("source_adaptive", ("global", 1), (2, "(lgllgl)"));
    refused("olm", ("local", 2), (3, "(lglgl), local misroutes aside,"));
    refused("par", ("local", 4), (5, "(llgllgl)"));
    refused("par", ("global", 1), (2, "(llgllgl)"));
}

#[test]
fn flexvc_without_a_safe_path() {
    let flexvc = |routing: &str, (local, global): (u32, u32), rest: &str| {
        let expected =
            format!("router.cioq.vcs = {{ local = {local}, global = {global} }} (override): {rest}");
        let vcs =
            format!("router.cioq.vcs={{ local = {local}, global = {global}, management = \"flexvc\" }}");
        assert_eq!(set(&[&format!("routing={routing}"), &vcs]), expected);
    };
    flexvc(
        "minimal",
        (1, 1),
        "the minimal path (lgl) is not safe for packets; valid: at least 2 local and 1 global VCs",
    );
    for (routing, vcs, path, valid) in [
        ("valiant", (3, 2), "lgllgl", "at least 4 local and 2 global VCs"),
        ("ugal", (2, 2), "lglgl", "at least 3 local and 2 global VCs"),
        ("piggyback", (3, 1), "lglgl", "at least 3 local and 2 global VCs"),
        ("source_adaptive", (3, 2), "lgllgl", "at least 4 local and 2 global VCs"),
        ("olm", (2, 1), "lglgl", "at least 3 local and 2 global VCs"),
        ("par", (2, 1), "llgllgl", "at least 3 local and 2 global VCs"),
    ] {
        let reason = format!(
            "on the nonminimal paths ({path}) of routing {routing} packets would have no safe way on"
        );
        flexvc(routing, vcs, &format!("{reason}; valid: {valid}"));
    }
}

#[test]
fn vcs_for_replies_that_do_not_fit() {
    let replies = "jobs.0.traffic.request_reply={}";
    assert_eq!(
        set(&[replies, "router.cioq.vcs.management=flexvc"]),
        "router.cioq.vcs.reply: is missing: with FlexVC replies need VCs of their own, so that they never \
         wait for requests; valid: at least { local = 2, global = 1 }, out of local and global"
    );
    assert_eq!(
        set(&["router.cioq.vcs={ management = \"flexvc\", reply = { local = 3, global = 1 } }"]),
        "router.cioq.vcs.reply = { local = 3, global = 1 } (override): no job has replies; \
         valid: no such key, or request_reply in the traffic of a job"
    );
    assert_eq!(
        set(&[replies, "router.cioq.vcs.reply={}"]),
        "router.cioq.vcs.reply = { local = 2, global = 1 } (override): with increasing VCs replies use the second half of \
         them; valid: no such key, or management = \"flexvc\""
    );
    let flexvc =
        |vcs: &str| set(&[replies, &format!("router.cioq.vcs={{ management = \"flexvc\", {vcs} }}")]);
    assert_eq!(
        flexvc("local = 4, global = 2, reply = { local = 17, global = 1 }"),
        "router.cioq.vcs.reply.local = 17 (override): out of range; valid: 1 … 16"
    );
    assert_eq!(
        flexvc("local = 2, global = 2, reply = { local = 3, global = 1 }"),
        "router.cioq.vcs.local = 2 (override): 3 of them would be for replies alone; valid: 4 … 16"
    );
    assert_eq!(
        flexvc("local = 2, global = 1, reply = {}"),
        "router.cioq.vcs = { local = 2, global = 1 } (override): the minimal path (lgl) is not safe for requests; \
         valid: at least 2 local and 1 global VCs, besides those for replies alone (at least 2 and 1)"
    );
    assert_eq!(
        flexvc("local = 4, global = 2, reply = { local = 1, global = 1 }"),
        "router.cioq.vcs = { local = 4, global = 2 } (override): the minimal path (lgl) is not safe for replies; \
         valid: at least 2 local and 1 global VCs, besides those for replies alone (at least 2 and 1)"
    );
}

#[test]
fn shared_buffers_that_do_not_fit() {
    let damq = |local: u32, global: u32, more: &str| {
        set(&[&format!(
            "router.cioq.buffers.damq={{ local_reserve = {local}, global_reserve = {global}{more} }}"
        )])
    };
    assert_eq!(
        damq(3, 8, ""),
        "router.cioq.buffers.damq.local_reserve = 3 (override): the local buffer of a port has room for 2 packets per VC; \
         valid: 1 … 2 packets, or a larger buffers.local"
    );
    assert_eq!(
        damq(1, 33, ""),
        "router.cioq.buffers.damq.global_reserve = 33 (override): the global buffer of a port has room for 32 packets per \
         VC; valid: 1 … 32 packets, or a larger buffers.global"
    );
    assert_eq!(
        damq(0, 8, ""),
        "router.cioq.buffers.damq.local_reserve = 0 (override): without a reserve VCs can take each other's space: the \
         network can deadlock; valid: 1 … 2 packets, or damq.allow_deadlock = true"
    );
    assert_eq!(damq(0, 0, ", allow_deadlock = true"), "accepted");
    let small = ["router.cioq.buffers={ local = 8, damq = { local_reserve = 1, global_reserve = 1 } }"];
    assert_eq!(
        set(&small),
        "router.cioq.buffers.damq.local_reserve = 1 (override): the local buffer of a port has room for 0 packets per VC; \
         valid: a larger buffers.local"
    );
    assert_eq!(
        after("[router.cioq.buffers.damq]\nlocal_reserve = 1"),
        "line 7, column 22: router.cioq.buffers.damq.global_reserve: is missing; valid: 0 … 4294967295"
    );
    assert_eq!(
        set(&["router.input_queued.buffers.damq={ reserve = 1 }"]),
        "router.input_queued.buffers.damq.reserve = 1 (override): the VCs of input-queued routers have buffers of their own; \
         valid: no such key, or router.cioq or router.virtual_channel"
    );
}

#[test]
fn buffer_smaller_than_a_packet() {
    assert_eq!(
        after("[router.cioq]\nbuffers = { local = 4 }"),
        "line 8, column 13: router.cioq.buffers.local = 4: virtual cut-through needs room for a whole packet of 8 \
         phits; valid: at least 8 phits"
    );
    assert_eq!(
        set(&["jobs.0.traffic.packet_length=64"]),
        "router.cioq.buffers.local = 32: virtual cut-through needs room for a whole packet of 64 phits; \
         valid: at least 64 phits"
    );
}

#[test]
fn traffic_that_does_not_fit() {
    assert_eq!(
        after("[[jobs]]\ntraffic = { pattern = \"ADV+9\" }"),
        "line 8, column 13: jobs.0.traffic.pattern.adversarial.offset = 9: the network has 9 groups; valid: 1 … 8"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic = { pattern = { mix = [{ weight = -1, pattern = \"UN\" }] } }"),
        "line 8, column 34: jobs.0.traffic.pattern.mix.0.weight = -1: must be a positive number; valid: more than 0"
    );
    assert_eq!(
        after("[[jobs]]\nplacement = { groups = { count = 1 } }\ntraffic = { pattern = \"ADV+1\" }"),
        "line 9, column 13: jobs.0.traffic.pattern.adversarial: node 0 has no destination: the job has no other node \
         where the pattern sends it; valid: a job that covers the target groups or routers"
    );
}

#[test]
fn lengths_of_packets_that_do_not_fit() {
    let message = |lengths: &str, more: &str| {
        let message = after(&format!("[[jobs]]\ntraffic = {{ packet_lengths = {lengths}{more} }}"));
        message.split_once("jobs.0.traffic.").unwrap().1.to_owned()
    };
    let of = |lengths: &str| message(lengths, "");
    let two = "[{ length = 1, weight = 3 }, { length = 5, weight = 1 }]";
    assert_eq!(
        of("[]"),
        "packet_lengths: names no length; valid: a list of two { length, weight } tables or more, or packet_length"
    );
    assert_eq!(
        of("[{ length = 4, weight = 1 }]"),
        "packet_lengths: names one length; valid: a list of two { length, weight } tables or more, or packet_length"
    );
    assert_eq!(
        of("[{ length = 4, weight = 1 }, { length = 4097, weight = 1 }]"),
        "packet_lengths.1.length = 4097: out of range; valid: 1 … 4096"
    );
    assert_eq!(
        of("[{ length = 0, weight = 1 }, { length = 4, weight = 1 }]"),
        "packet_lengths.0.length = 0: out of range; valid: 1 … 4096"
    );
    assert_eq!(
        of("[{ length = 4, weight = 1 }, { length = 5, weight = 1 }, { length = 4, weight = 2 }]"),
        "packet_lengths.2.length = 4: entry 0 has the same length; valid: every length once, with all of its weight"
    );
    for weight in ["0", "-1"] {
        assert_eq!(
            of(&format!("[{{ length = 4, weight = 1 }}, {{ length = 5, weight = {weight} }}]")),
            format!("packet_lengths.1.weight = {weight}: must be a positive number; valid: more than 0")
        );
    }
    assert_eq!(
        of("[{ length = 4, weight = 1e308 }, { length = 5, weight = 1e308 }]"),
        "packet_lengths: the weights add up to more than a number holds; valid: smaller weights"
    );
    assert_eq!(
        message(two, ", packet_length = 8"),
        "packet_length = 8: packets have the lengths that packet_lengths says; valid: packet_length or packet_lengths"
    );
    assert_eq!(
        message(two, ", request_reply = {}"),
        "packet_lengths: a reply is as long as its request, and space for replies is counted in packets of one length; \
         valid: packet_length, or no request_reply"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic.packet_lengths = [{ length = 1, weight = 3 }, { length = 64, weight = 1 }]"),
        "router.cioq.buffers.local = 32: virtual cut-through needs room for a whole packet of 64 phits; \
         valid: at least 64 phits"
    );
}

#[test]
fn bursts_that_do_not_fit() {
    assert_eq!(
        after("[[jobs]]\ntraffic.process.bursty.burst_length = 0.5"),
        "line 8, column 24: jobs.0.traffic.process.bursty.burst_length = 0.5: a burst has at least one packet; \
         valid: 1 … 1000000 packets"
    );
    assert_eq!(
        message_of(&VALID.replace("load = 0.5", ""), &["jobs.0.traffic.process=bursty"]),
        "jobs.0.traffic.process.bursty.load (override): is missing; \
         valid: 0 … 1 phits/(node·cycle), here or as the shorthand `load`"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic.process.bursty.load = 0.1"),
        "line 1, column 1: load = 0.5: the shorthand conflicts with jobs.0.traffic.process.bursty.load = 0.1; \
         valid: one of the two"
    );
}

#[test]
fn changes_that_do_not_fit() {
    let changes = |text: &str| after(&format!("[[jobs]]\ntraffic.changes = [{text}]"));
    for (cycle, place) in [(9_999, "column 22"), (20_000, "column 22")] {
        assert_eq!(
            changes(&format!("{{ cycle = {cycle}, load = 0.1 }}")),
            format!(
                "line 8, {place}: jobs.0.traffic.changes.0.cycle = {cycle}: a transient outside the measured window; \
                 valid: 10000 … 19999 (warm-up included)"
            )
        );
    }
    assert_eq!(
        changes("{ cycle = 12_000, load = 0.1 }, { cycle = 12_000, pattern = \"UN\" }"),
        "line 8, column 54: jobs.0.traffic.changes.1.cycle = 12000: the change before it is at cycle 12000; \
         valid: changes in order of their cycles, one for each cycle"
    );
    assert_eq!(
        changes("{ cycle = 12_000 }"),
        "line 8, column 20: jobs.0.traffic.changes.0: changes nothing; valid: pattern, load or both"
    );
    assert_eq!(
        changes("{ cycle = 12_000, load = 1.5 }"),
        "line 8, column 38: jobs.0.traffic.changes.0.load = 1.5: the offered load is a share of the link rate; \
         valid: 0 … 1 phits/(node·cycle)"
    );
    assert_eq!(
        changes("{ cycle = 12_000, pattern = \"ADV+9\" }"),
        "line 8, column 38: jobs.0.traffic.changes.0.pattern.adversarial.offset = 9: the network has 9 groups; \
         valid: 1 … 8"
    );
}

#[test]
fn request_reply_that_does_not_fit() {
    assert_eq!(
        after("[[jobs]]\ntraffic.request_reply.outstanding = 0"),
        "line 8, column 23: jobs.0.traffic.request_reply.outstanding = 0: no request could ever be sent; valid: 1 …"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic.request_reply = {}\n[router.cioq]\nvcs = { injection = 1 }"),
        "line 10, column 9: router.cioq.vcs.injection = 1: requests and replies need injection VCs of their own; \
         valid: 2 … 16"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic.request_reply = {}\n[router.cioq]\nvcs = { local = 3 }"),
        "line 10, column 9: router.cioq.vcs.local = 3: routing minimal follows up to 2 local links (lgl) and needs one \
         VC for each, in increasing order, to be free of deadlock, and as many for replies; valid: 4 … 16"
    );
}

#[test]
fn stream_without_its_interval() {
    assert_eq!(
        after("[measure]\nstreams = [\"generation\"]"),
        "line 7, column 2: measure.interval = 0: the stream generation has a row per interval; valid: 1 … cycles"
    );
    assert_eq!(
        after("[measure]\nstreams = [\"link_series\"]"),
        "line 7, column 2: measure.interval = 0: the stream link_series has a row per interval; valid: 1 … cycles"
    );
}

#[test]
fn link_series_that_nobody_could_read() {
    assert_eq!(
        after("[measure]\nstreams = [\"link_series\"]\ninterval = 1\ncycles = 100_000"),
        "line 9, column 1: measure.interval = 1: a stream has up to 360 rows per interval, and would have more than 10,000,000; \
         valid: at least 4"
    );
}

#[test]
fn packets_that_nobody_sends() {
    let choose = |of: &str, packets: &str| {
        let job = "[[jobs]]\nplacement = { nodes = { first = 0, count = 60 } }\n";
        after(&format!("{job}[measure]\nstreams = [{of}]\npackets = {{ {packets} }}"))
    };
    let message = |packets: &str| choose("\"packet_hops\"", packets);
    assert_eq!(message("every = 3, source = 4, destination = 59, from = 100, to = 101"), "accepted");
    assert_eq!(
        message("every = 0"),
        "line 11, column 13: measure.packets.every = 0: out of range; valid: 1 … 3000000000"
    );
    assert_eq!(
        message("source = 72"),
        "line 11, column 13: measure.packets.source = 72: out of range; valid: 0 … 71"
    );
    assert_eq!(
        message("destination = 60"),
        "line 11, column 13: measure.packets.destination = 60: the node is idle: no job is placed on it; \
         valid: a node of a job"
    );
    assert_eq!(
        message("from = 20000"),
        "line 11, column 13: measure.packets.from = 20000: out of range; valid: 0 … 19999"
    );
    assert_eq!(
        message("from = 5, to = 5"),
        "line 11, column 23: measure.packets.to = 5: out of range; valid: 6 … 3000000000"
    );
    assert_eq!(
        choose("\"waits\"", "every = 2"),
        "line 11, column 1: measure.packets: neither packet_hops nor flit_hops is recorded, whose packets it chooses; \
         valid: measure.streams with one of them, or no such key"
    );
}

#[test]
fn jobs_that_do_not_fit() {
    assert_eq!(before("jobs = []"), "line 1, column 1: jobs: the experiment has 0 jobs; valid: 1 … 255 jobs");
    assert_eq!(
        after("[[jobs]]\n[[jobs]]"),
        "line 8, column 1: jobs.1.placement: node 0 already runs job 0; valid: jobs that share no node"
    );
    assert_eq!(
        after("[[jobs]]\nname = \"a\"\n[[jobs]]\nname = \"a\""),
        "line 10, column 1: jobs.1.name = \"a\": job 0 has the same name; valid: a name of its own for every job"
    );
    assert_eq!(
        after("[[jobs]]\nplacement = { list = [1, 2, 2] }"),
        "line 8, column 15: jobs.0.placement.list = 2: a node is named twice; valid: every node once"
    );
    assert_eq!(
        after("[[jobs]]\nplacement = { nodes = { first = 70, count = 10 } }"),
        "line 8, column 25: jobs.0.placement.nodes.first = 70 and count = 10: the network has 72 nodes; \
         valid: first + count ≤ 72 nodes"
    );
}

#[test]
fn text_that_is_not_toml() {
    assert_eq!(
        after("[measure\n"),
        "line 7, column 9: not TOML: unclosed table, expected `]`, in the line \"[measure\""
    );
    assert_eq!(after("p = 3"), "line 7, column 1: not TOML: duplicate key, in the line \"p = 3\"");
    assert_eq!(
        before("compat = fogsim"),
        "line 1, column 10: not TOML: a string must be quoted, in the line \"compat = fogsim\"; valid: \"fogsim\""
    );
    assert_eq!(
        after("[measure]\nseed ="),
        "line 8, column 7: not TOML: the value is missing, in the line \"seed =\""
    );
}

#[test]
fn override_that_does_not_fit() {
    assert_eq!(
        set(&["sed=3"]),
        "sed = 3 (override): unknown key; did you mean `faults.0.links.seed` or `measure.seed`? \
         Valid: compat, load, units, topology, contention, links, faults, router, routing, nic, semantics, jobs, only, measure, sweep"
    );
    assert_eq!(
        set(&["load=high"]),
        "load = \"high\" (override): must be a number, not a string; valid: 0 … 1"
    );
    assert_eq!(
        set(&["jobs.2.name=x"]),
        "jobs.2.name = \"x\" (override): the list jobs has 1 element; valid: jobs.0"
    );
    assert_eq!(
        set(&["measure.streams.0=nodes"]),
        "measure.streams.0 = \"nodes\" (override): the list measure.streams has 0 elements; \
         valid: a whole list at measure.streams"
    );
    assert_eq!(
        set(&["measure seed=3"]),
        "measure seed (override): is not a dotted path; \
         valid: keys joined by dots, elements of a list by number from 0: jobs.0.traffic.packet_length"
    );
    assert_eq!(set(&["load=nan"]), "load = nan (override): must be a finite number");
    assert_eq!(
        set(&["measure.stop={relative_ci=nan}"]),
        "measure.stop.relative_ci = nan (override): must be a finite number"
    );
    assert_eq!(
        message_of(&format!("{VALID}[routing.minimal]"), &["routing.valiant.policy=crg"]),
        "routing.valiant (override): a second choice beside `minimal`; valid: one of minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal, piggyback, source_adaptive, olm, par, fpar, function"
    );
    assert_eq!(
        message_of(
            &format!("{VALID}[sweep.product]\nrouting = [\"minimal\"]"),
            &["routing.valiant.policy=crg"]
        ),
        "routing.valiant.policy (override): lies inside routing, which sweep.product.routing varies; \
         valid: an override of routing itself"
    );
    assert_eq!(
        message_of(
            &format!("{VALID}[sweep.product]\nload = [0.1, 0.2]"),
            &["jobs.0.traffic.process.bernoulli.load=0.4"]
        ),
        "jobs.0.traffic.process.bernoulli.load (override): states what is set by load, which sweep.product.load \
         varies; valid: an override of load itself"
    );
}

#[test]
fn branches_that_differ_in_links_that_fail() {
    let sweep = |cycle: u32| {
        let fault = |router| format!("[{{ at = {cycle}, links.between = [[{router}, {}]] }}]", router + 1);
        let text = "load = 0.5\ntopology.slim_fly.q = 5\nmeasure.warmup = 500\n[sweep]\nbranch_at = 500\n";
        message_of(&format!("{text}[sweep.product]\nfaults = [[], {}, {}]", fault(0), fault(5)), &[])
    };
    assert_eq!(sweep(500), "accepted");
    assert!(sweep(499).contains("in faults that begin later"), "{}", sweep(499));
}

#[test]
fn branches_that_do_not_fit() {
    let sweep =
        |at: &str, sweep: &str| after(&format!("[sweep]\nbranch_at = {at}\n[sweep.product]\n{sweep}"));
    let valid = "the same in all points, which may differ in changes of traffic, in faults that begin later, \
                 measure.warmup, measure.cycles, measure.batches, measure.streams";
    assert_eq!(sweep("10000", "\"measure.cycles\" = [100, 200]\n\"measure.batches\" = [1, 2]"), "accepted");
    assert_eq!(
        sweep("500", "\"measure.warmup\" = [500, 600]\n\"measure.streams\" = [[], [\"links\"]]"),
        "accepted"
    );
    let changes = "\"jobs.0.traffic.changes\" = [[], [{ cycle = 10000, load = 0.9 }]]";
    assert_eq!(sweep("10000", changes), "accepted");
    assert_eq!(sweep("0", ""), "line 8, column 1: sweep.branch_at = 0: out of range; valid: 1 … 3000000000");
    assert_eq!(
        sweep("0.5", ""),
        "line 8, column 1: sweep.branch_at = 0.5: must be an integer, not a decimal number; valid: 1 … 3000000000"
    );
    assert_eq!(
        sweep("10001", "\"measure.seed\" = [1]"),
        "measure.warmup = 10000: what is measured would begin before the points part at sweep.branch_at = 10001; \
         valid: 10001 …"
    );
    assert_eq!(
        sweep("5000", "\"measure.seed\" = [1, 2]"),
        format!(
            "line 10, column 1: measure.seed = 2 (from the sweep): is 1 in another point, and sweep.branch_at makes all \
             share a run; valid: {valid}"
        )
    );
    assert_eq!(
        sweep("5000", "load = [0.1, 0.2]"),
        format!(
            "jobs.0.traffic.process.bernoulli.load = 0.2: is 0.1 in another point, and sweep.branch_at makes all share a \
             run; valid: {valid}"
        )
    );
}

#[test]
fn searches_that_do_not_fit() {
    let search = |table: &str| after(&format!("[sweep.saturate]\n{table}"));
    assert_eq!(search(""), "accepted");
    assert_eq!(search("most = 0.5\nseeds = 2\nprecision = 0.05\nkey = \"load\""), "accepted");
    assert_eq!(
        search("precision = 0"),
        "line 8, column 1: sweep.saturate.precision = 0: out of range; valid: 0.0001 … 0.5"
    );
    assert_eq!(
        search("most = 1.5"),
        "line 8, column 1: sweep.saturate.most = 1.5: out of range; valid: 0.00001 … 1"
    );
    assert_eq!(
        search("seeds = 0"),
        "line 8, column 1: sweep.saturate.seeds = 0: out of range; valid: 1 … 10000"
    );
    assert_eq!(
        search("load = 1"),
        "line 8, column 1: sweep.saturate.load = 1: unknown key; did you mean `load`? Valid: key, most, precision, seeds"
    );
}

#[test]
fn sweep_that_does_not_fit() {
    assert_eq!(
        after("[sweep]\nload = [0.1]"),
        "line 8, column 1: sweep.load = [0.1]: unknown key; did you mean `sweep.product.load`? Valid: product, zip, labels, \
         branch_at, saturate"
    );
    assert_eq!(
        after("[sweep.product]\nload = 0.1"),
        "line 8, column 1: sweep.product.load = 0.1: must be a list of values to vary; valid: [0.1]"
    );
    assert_eq!(
        after("[sweep.product]\nload = []"),
        "line 8, column 1: sweep.product.load = []: the list is empty; valid: at least one value"
    );
    assert_eq!(
        after("[sweep]\nzip = { \"measure.seed\" = [1, 2], load = [0.1] }"),
        "line 8, column 34: sweep.zip.load: the list has length 1, but that of measure.seed has length 2; \
         valid: lists of equal length"
    );
    assert_eq!(
        after("[sweep.product]\nload = [0.1]\n[sweep.zip]\nload = [0.2]"),
        "line 10, column 1: sweep.zip.load: varies the same key as sweep.product.load; \
         valid: each key in one list only"
    );
    assert_eq!(
        after("[sweep.product]\n\"measure.sede\" = [1]"),
        "line 8, column 1: measure.sede = 1 (from the sweep): unknown key; did you mean `seed`? \
         Valid: warmup, cycles, max_cycles, stop, end, time, seed, batches, interval, streams, packets, watchdog"
    );
    assert_eq!(
        after("[sweep.product]\nload = [0.5, 1.5]"),
        "line 8, column 1: load = 1.5 (from the sweep): the offered load is a share of the link rate; \
         valid: 0 … 1 phits/(node·cycle)"
    );
    assert_eq!(
        before("sweep = 3"),
        "line 1, column 1: sweep = 3: must be a table; \
         valid: lists by path: [sweep.product] \"measure.seed\" = [1, 2, 3]"
    );
    assert_eq!(
        set(&["sweep.product={ \"measure.seed\" = [1.5] }"]),
        "measure.seed = 1.5 (override): must be an integer, not a decimal number; valid: 0 … 9223372036854775807"
    );
}

#[test]
fn labels_that_do_not_fit_the_sweep() {
    let labels = |labels: &str| {
        after(&format!("[sweep.product]\nrouting = [\"minimal\", \"valiant\"]\n[sweep.labels]\n{labels}"))
    };
    assert_eq!(
        labels("rooting = [\"a\", \"b\"]"),
        "line 10, column 1: sweep.labels.rooting: names the values of a key that the sweep does not vary; \
         did you mean `routing`? Valid: routing"
    );
    assert_eq!(
        labels("routing = [\"a\"]"),
        "line 10, column 1: sweep.labels.routing: the list has length 1, but that of sweep.product.routing has \
         length 2; valid: a name for each value, in their order"
    );
    assert_eq!(
        labels("routing = [\"a\", 2]"),
        "line 10, column 1: sweep.labels.routing = 2: a name must be a string; valid: \"2\""
    );
    assert_eq!(
        labels("routing = [\"a\", \"a\"]"),
        "line 10, column 1: sweep.labels.routing: two values have the name \"a\"; valid: a name of its own for each"
    );
    assert_eq!(
        labels("routing = \"a\""),
        "line 10, column 1: sweep.labels.routing = \"a\": must be a list of names; valid: [\"a\"]"
    );
    assert_eq!(
        after("[sweep]\nlabels = { load = [\"a\"] }"),
        "line 8, column 12: sweep.labels.load: names the values of a key that the sweep does not vary; \
         valid: a key in product or zip"
    );
}

#[test]
fn sweep_of_too_many_points() {
    let seeds: Vec<String> = (0..1000).map(|seed| seed.to_string()).collect();
    let seeds = seeds.join(", ");
    assert_eq!(
        after(&format!("[sweep.product]\n\"measure.seed\" = [{seeds}]\n\"measure.warmup\" = [{seeds}]")),
        "line 7, column 2: sweep: the sweep would have 1000000 points; valid: at most 100000 points"
    );
}

#[test]
fn resolved_configuration_that_was_damaged() {
    let message = |text: &str| document::from_json(text).unwrap_err().to_string();
    assert_eq!(message("{"), "not JSON: EOF while parsing an object at line 1 column 1");
    assert_eq!(
        message(r#"{"topology": {"dragonfly": {"p": 2, "a": 4, "h": null}}}"#),
        "topology.dragonfly.h = null: must be an integer, not nothing; valid: 1 … 254"
    );
}

/// The message about a network of this `topology` with `text` after it, without the place.
fn on(topology: &str, text: &str) -> String {
    let message = message_of(&format!("load = 0.5\ntopology.{topology}\n{text}"), &[]);
    message
        .split_once(": ")
        .filter(|(place, _)| place.starts_with("line "))
        .map_or(message.clone(), |(_, rest)| rest.into())
}

const MESH: &str = "mesh = { sides = [4, 4] }";
const TORUS: &str = "torus = { sides = [4, 4] }";

#[test]
fn sides_that_make_no_grid() {
    assert_eq!(
        on("mesh = { sides = [8, 1] }", ""),
        "topology.mesh.sides.1 = 1: a dimension has at least two routers; valid: 2 … 65535"
    );
    assert_eq!(
        on("torus = { sides = [] }", ""),
        "topology.torus.sides = []: that is not a number of dimensions; valid: 1 to 8 sides"
    );
    assert_eq!(
        on("ring = { routers = 0 }", ""),
        "topology.ring.routers = 0: a dimension has at least two routers; valid: 2 … 65535"
    );
    assert_eq!(
        on("torus = { sides = [4000, 4000] }", ""),
        "topology.torus.sides = [4000, 4000]: the network would have 80000000 router ports, more than memory holds; \
         valid: (2 · dimensions + nodes_per_router) · product of the sides ≤ 67108864"
    );
    assert_eq!(
        on("fat_tree = { k = 16, levels = 6 }", ""),
        "topology.fat_tree.levels = 6: a level would have 1048576 switches; valid: k^(levels - 1) ≤ 65536"
    );
}

#[test]
fn sides_that_make_no_hyperx() {
    assert_eq!(
        on("hyperx = { sides = [8, 1] }", ""),
        "topology.hyperx.sides.1 = 1: a dimension has at least two routers; valid: 2 … 512"
    );
    assert_eq!(
        on("hyperx = { sides = [2, 2, 2, 2, 2, 2, 2, 2, 2] }", ""),
        "topology.hyperx.sides = [2, 2, 2, 2, 2, 2, 2, 2, 2]: that is not a number of dimensions; valid: 1 to 8 sides"
    );
    assert_eq!(
        on("hyperx = { sides = [4, 4], nodes_per_router = 65 }", ""),
        "topology.hyperx.nodes_per_router = 65: out of range; valid: 1 … 64"
    );
    assert_eq!(
        on("hyperx = { sides = [4, 4], latency_per_step = 1001 }", ""),
        "topology.hyperx.latency_per_step = 1001: out of range; valid: 0 … 1000"
    );
    assert_eq!(
        on("hyperx = { sides = [100], latency_per_step = 1000 }", ""),
        "links.network.latency = 1: with topology.hyperx.latency_per_step the longest link would take 98001 cycles; \
         valid: at most 60000 cycles for the longest link"
    );
    assert_eq!(
        on("hyperx = { sides = [512, 2] }", ""),
        "topology.hyperx.sides = [512, 2]: a router would have 513 ports; \
         valid: at most 512 ports per router, terminal ones included"
    );
    assert_eq!(
        on("hyperx = { sides = [80, 80, 80] }", ""),
        "topology.hyperx.sides = [80, 80, 80]: the network would have 121856000 router ports, more than memory holds; \
         valid: product of the sides ≤ 281970"
    );
    assert_eq!(
        on("hyperx = { sides = [60, 8] }", "routing = \"adaptive\""),
        "routing.adaptive: a router has 66 links, and 64 at most are looked at; \
         valid: shorter sides, or routing.minimal, valiant or ugal"
    );
    assert_eq!(
        on("hyperx = { sides = [4, 4] }", "router.cioq.vcs.network = 3\nrouting = \"ugal\""),
        "router.cioq.vcs.network = 3: routing ugal follows up to 4 network links and needs one VC for each, in increasing \
         order, to be free of deadlock; valid: 4 … 16"
    );
}

#[test]
fn link_classes_that_a_topology_does_not_have() {
    assert_eq!(
        on(MESH, "links.local.latency = 5"),
        "links.local: the topology has no local links; valid: no such key; its links are network"
    );
    assert_eq!(
        after("[links]\nnetwork.latency = 5"),
        "line 8, column 1: links.network: the topology has no network links; valid: no such key; its links are local, global"
    );
    assert_eq!(
        on(MESH, "router.input_queued.vcs.global = 2"),
        "router.input_queued.vcs.global: the topology has no global links; valid: no such key; its links are network"
    );
}

#[test]
fn regions_of_detours_and_how_many_are_drawn() {
    assert_eq!(
        on(TORUS, "routing.valiant.within = \"quadrant\""),
        "routing.valiant.within = \"quadrant\": is about meshes; valid: network, or topology.mesh"
    );
    assert_eq!(
        on(TORUS, "routing.ugal.within = \"neighbours\""),
        "routing.ugal.within = \"neighbours\": is about routers next to that of the source, and looks for nodes there; \
         valid: network, or topology.graph or a family of graphs all of whose routers have nodes"
    );
    assert_eq!(
        on(TORUS, "routing.ugal.detours = 0"),
        "routing.ugal.detours = 0: out of range; valid: 1 … 64"
    );
    assert_eq!(on(TORUS, "routing.ugal.within = \"unaligned\""), "accepted");
    assert_eq!(on(MESH, "routing.ugal.within = \"quadrant\""), "accepted");
}

#[test]
fn routing_that_a_cube_or_tree_cannot_carry() {
    assert_eq!(
        on(MESH, "routing = \"olm\""),
        "routing.olm: needs a topology with groups; valid: topology.dragonfly"
    );
    assert_eq!(
        on(MESH, "routing = \"par\""),
        "routing.par: decides again after the first hop, and needs groups or a VC for every link of a path; \
         valid: topology.dragonfly, hyperx or graph, or routing.ugal"
    );
    assert_eq!(
        on("fat_tree = { k = 2, levels = 3 }", "routing = \"par\""),
        "routing.par: the ways up a fat tree are its detours; \
         valid: routing.minimal with up = \"random\", or routing.adaptive"
    );
    assert_eq!(
        on(TORUS, "routing.valiant.policy = \"crg\""),
        "routing.valiant.policy: chooses among groups, which the topology does not have; \
         valid: no such key: any router can be the intermediate one"
    );
    assert_eq!(
        on(TORUS, "routing.ugal.intermediate = \"group\""),
        "routing.ugal.intermediate: chooses among groups, which the topology does not have; valid: router"
    );
    for (mechanism, others) in [("valiant", ["local", "minimal"]), ("ugal", ["local", "global"])] {
        for intra_group in others {
            assert_eq!(
                on(TORUS, &format!("routing.{mechanism}.intra_group = \"{intra_group}\"")),
                format!(
                    "routing.{mechanism}.intra_group = {intra_group}: is about packets inside a group, and the \
                     topology has no groups; valid: no such key"
                )
            );
        }
    }
    assert_eq!(
        on("fat_tree = { k = 2, levels = 3 }", "routing = \"valiant\""),
        "routing.valiant: the ways up a fat tree are its detours; \
         valid: routing.minimal with up = \"random\", or routing.adaptive"
    );
    assert_eq!(
        on(MESH, "routing.minimal.up = \"random\""),
        "routing.minimal.up: only a fat tree has ways up; valid: no such key, or topology.fat_tree"
    );
    assert_eq!(
        after("[routing.adaptive]"),
        "line 7, column 10: routing.adaptive: a dragonfly has one shortest path between most routers; \
         valid: topology.mesh, torus, ring, hyperx, fat_tree or graph; olm or par in a dragonfly"
    );
}

#[test]
fn layers_of_links_that_there_are_not() {
    for (options, rest) in [
        ("layers = 33", "layers = 33: out of range; valid: 1 … 32"),
        ("fraction = 1.5", "fraction = 1.5: out of range; valid: 0 … 1"),
    ] {
        let message = on("slim_fly.q = 4", &format!("routing.fat_paths = {{ {options} }}"));
        assert_eq!(message, format!("routing.fat_paths.{rest}"));
    }
    assert_eq!(
        on(MESH, "routing = \"fat_paths\""),
        "routing.fat_paths: paths are found in a graph; valid: topology.graph or a family of graphs; routing.minimal"
    );
    assert_eq!(
        on("xpander = { routers = 72, degree = 8 }", "routing.fat_paths.fraction = 0.2"),
        "routing.fat_paths.fraction = 0.2: a path in one of the layers has 18 links and needs as many VCs, and a link has at most 16; \
         valid: a greater share, fewer layers or another seed"
    );
}

#[test]
fn several_paths_that_there_are_not() {
    assert_eq!(
        after("[routing.ecmp]"),
        "line 7, column 10: routing.ecmp: a dragonfly has one shortest path between most routers; \
         valid: topology.graph or a family of graphs, hyperx or fat_tree; routing.minimal"
    );
    assert_eq!(
        on(MESH, "routing = \"ecmp\""),
        "routing.ecmp: needs a VC for every link of a path, and there are long ones in a mesh, torus or ring; \
         valid: topology.graph or a family of graphs, hyperx or fat_tree; routing.minimal"
    );
    assert_eq!(
        on("slim_fly.q = 4", "routing.ecmp.seed = 2"),
        "routing.ecmp.seed = 2: packets draw from the numbers of measure.seed; valid: no such key, or by = \"flow\""
    );
    assert_eq!(
        on(MESH, "routing = \"k_shortest_paths\""),
        "routing.k_shortest_paths: paths are found in a graph; valid: topology.graph or a family of graphs; routing.minimal"
    );
    assert_eq!(
        on(MESH, "routing = \"polarized\""),
        "routing.polarized: needs a VC for every link of a path that leads away from the source first; \
         valid: topology.graph or a family of graphs, or hyperx; routing.minimal"
    );
    assert_eq!(
        on("hyperx = { sides = [2, 2, 2, 2, 2] }", "routing = \"polarized\""),
        "routing.polarized: routers are up to 5 links apart, so a path has up to 17 links and needs as many VCs, \
         and a link has at most 16; valid: routers at most 4 links apart; routing.minimal or ecmp"
    );
    assert_eq!(
        on("slim_fly.q = 4", "routing.polarized.penalties = [0, 1001]"),
        "routing.polarized.penalties.1 = 1001: out of range; valid: 0 … 1000"
    );
    for (vcs, message) in [
        ("local = 8, global = 8", "accepted"),
        (
            "local = 8, global = 7",
            "router.cioq.vcs.global = 7: routing par follows up to 8 links, of whatever class, and needs one VC for each, in increasing \
             order, to be free of deadlock; valid: 8 … 16",
        ),
        (
            "management = { flexvc = {} }",
            "router.cioq.vcs.management = flexvc: the paths of routing par are not shortest ones, and a hop does not know how many links are left; \
             valid: increasing, or routing.minimal, ecmp, adaptive, valiant or ugal",
        ),
    ] {
        let routing = format!("routing = \"par\"\nrouter.cioq.vcs = {{ {vcs} }}");
        assert_eq!(on("dragonfly_plus.leaves = 2", &routing), message);
    }
    assert_eq!(
        on("slim_fly.q = 4", "routing.k_shortest_paths.k = 65"),
        "routing.k_shortest_paths.k = 65: out of range; valid: 1 … 64"
    );
    assert_eq!(
        on("jellyfish = { routers = 1200, degree = 4 }", "routing.k_shortest_paths.k = 64"),
        "routing.k_shortest_paths.k = 64: between 1200 routers there would be up to 92160000 paths; valid: 1 … 46"
    );
}

#[test]
fn hops_that_cannot_share_vcs_by_hop() {
    let with = |routing: &str, vcs: &str, more: &str| {
        let vcs = format!("{vcs}, management = {{ flexvc = {{ {more} }} }}");
        on("slim_fly.q = 4", &format!("routing = \"{routing}\"\nrouter.cioq.vcs = {{ {vcs} }}"))
    };
    assert_eq!(with("ugal", "network = 4", ""), "accepted");
    assert_eq!(with("ugal", "network = 9", "selection = \"random\""), "accepted");
    assert_eq!(
        with("ugal", "network = 3", ""),
        "router.cioq.vcs.network = 3: routing ugal follows up to 4 network links and needs one VC for each, in increasing order, to be free of \
         deadlock; valid: 4 … 16"
    );
    assert_eq!(with("adaptive", "network = 4", ""), "accepted");
    assert_eq!(
        with("adaptive", "network = 4", "selection = \"lowest\""),
        "router.cioq.vcs.management.flexvc.selection: routing adaptive asks for the output and VC with most credits; valid: shortest, or no such key"
    );
    assert_eq!(with("minimal", "network = 4, discipline = \"by_hop\"", ""), "accepted");
    assert_eq!(
        with("minimal", "network = 4", ""),
        "router.cioq.vcs.management: a packet keeps the VC of its path; valid: no such key"
    );
    let replies = "routing = \"ugal\"\njobs = [{ traffic.request_reply = {} }]\nrouter.cioq.vcs = { network = 16, injection = 2, management = \"flexvc\" }";
    assert_eq!(
        on("slim_fly.q = 4", replies),
        "router.cioq.vcs.management = flexvc: with FlexVC replies need VCs of their own, and where VCs are by hop there are none; \
         valid: increasing, or no request_reply"
    );
    let failing = "routing = \"ugal\"\nrouter.cioq.vcs = { network = 16, management = \"flexvc\" }\n\
                   faults = [{ links.between = [[0, 1]], at = 100 }]";
    assert_eq!(
        on("graph.edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [0, 2] }]", failing),
        "router.cioq.vcs.management = flexvc: a packet may hold a VC that it needs for the links by which new tables lead it; \
         valid: increasing, or faults without at and until"
    );
}

const LINE: &str = "graph.edges = [{ between = [0, 1] }, { between = [1, 2] }]";

/// The message of a table of a line of three routers.
fn on_line(table: &str) -> String {
    on(LINE, &format!("routing.table = {{ {table} }}"))
}

/// All rows of the line but the one from router 0 to router 2.
const MOST_ROWS: &str = "[0, 1, 1, 0], [1, 0, 1, 0], [1, 2, 2, 0], [2, 0, 1, 0], [2, 1, 1, 0]";

#[test]
fn tables_of_routes_that_lead_nowhere() {
    let hops = |row: &str| on_line(&format!("hops = [{row}, {MOST_ROWS}]"));
    assert_eq!(hops("[0, 2, 1, 0]"), "accepted");
    assert_eq!(on_line(""), "routing.table: the table has no rows; valid: one of hops, paths and file");
    assert_eq!(
        on_line(&format!("hops = [{MOST_ROWS}]")),
        "routing.table.hops: router 0 has no port for router 2, and packets from router 0 come there: 0; valid: a row [0, 2, port, VC]"
    );
    assert_eq!(
        hops("[0, 2, 2, 0]"),
        "routing.table.hops.0.2 = 2: router 0 has no link at this port; valid: 1"
    );
    assert_eq!(hops("[3, 2, 1, 0]"), "routing.table.hops.0.0 = 3: there is no such router; valid: 0 … 2");
    assert_eq!(
        hops("[0, 3, 1, 0]"),
        "routing.table.hops.0.1 = 3: the router has no nodes, or there is none of this number; valid: 0 … 2"
    );
    assert_eq!(
        hops("[0, 2, 1, 16]"),
        "routing.table.hops.0.3 = 16: a link has at most 16 VCs; valid: 0 … 15"
    );
    assert_eq!(
        hops("[0, 1, 1, 0]"),
        "routing.table.hops.1: router 0 and destination 1 are in row 0, too; valid: one row for the two"
    );
    assert_eq!(
        on_line(
            "hops = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 2, 1, 0], [0, 2, 1, 0], [2, 0, 1, 0], [2, 1, 1, 0]]"
        ),
        "routing.table.hops: packets from router 0 to router 2 go round in a circle: 0 → 1 → 0; valid: ports that lead to the destination"
    );
    assert_eq!(
        on_line(&format!("hops = [{MOST_ROWS}], file = \"routes.csv\"")),
        "routing.table.file = \"routes.csv\": the table is given twice; valid: one of file, hops and paths"
    );
    assert_eq!(on_line("file = \"routes.csv\""), "routing.table.file = \"routes.csv\": cannot be read here");
    assert_eq!(
        on_line(&format!("hops = [{MOST_ROWS}], seed = 3")),
        "routing.table.seed = 3: packets draw from the numbers of measure.seed; valid: no such key, or by = \"flow\""
    );
    let vcs = "[router.cioq.vcs]\nnetwork = 1\n[routing.table]\nhops = [[0, 2, 1, 1], ";
    assert_eq!(
        on(LINE, &format!("{vcs}{MOST_ROWS}]")),
        "router.cioq.vcs.network = 1: the table of routing.table uses 2 VCs; valid: 2 … 16"
    );
}

#[test]
fn tables_of_paths_that_lead_elsewhere() {
    let path = |text: &str| on_line(&format!("paths = [{{ {text} }}]"));
    assert_eq!(
        path("between = [0, 2], ports = [1, 2], vcs = [0, 0]"),
        "routing.table.paths: there is no path from router 0 to router 1; valid: one for every two routers with nodes, in either direction"
    );
    assert_eq!(
        path("between = [0, 2], ports = [1, 2], vcs = [0]"),
        "routing.table.paths.0.vcs = 1 numbers: the path has 2 links; valid: a VC for every port"
    );
    assert_eq!(
        path("between = [0, 2], ports = [1], vcs = [0]"),
        "routing.table.paths.0.ports: the path from router 0 to router 2 leads to router 1; \
         valid: ports that lead from the one router to the other, another one"
    );
    assert_eq!(
        path("between = [0, 2], ports = [1, 1], vcs = [0, 0]"),
        "routing.table.paths.0.ports: the path comes to router 0 twice; valid: a path that passes no router twice"
    );
    assert_eq!(
        path("between = [0, 2], ports = [1, 3], vcs = [0, 0]"),
        "routing.table.paths.0.ports.1 = 3: router 1 has no link at this port; valid: 1, 2"
    );
}

#[test]
fn tables_of_routes_that_close_a_circle() {
    let ring = "graph.edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [2, 0] }]";
    // The long way round for everybody: 0 → 1 → 2 → 0.
    let rows = "hops = [[0, 1, 1, 0], [0, 2, 1, 0], [1, 2, 2, 0], [1, 0, 2, 0], [2, 0, 2, 0], [2, 1, 2, 0]]";
    assert_eq!(
        on(ring, &format!("routing.table = {{ {rows} }}")),
        "routing.table: packets can wait for each other in a circle, for room behind these outputs: \
         router 0 network 0 VC 0 → router 1 network 1 VC 0 → router 2 network 1 VC 0 → router 0 network 0 VC 0; \
         valid: a table whose paths close no circle, other VCs in it, or router.cioq.vcs.allow_deadlock = true"
    );
    let allowed = format!("router.cioq.vcs.allow_deadlock = true\n[routing.table]\n{rows}\n");
    assert_eq!(on(ring, &allowed), "accepted");
}

#[test]
fn too_few_vcs_on_a_cube() {
    assert_eq!(
        on(MESH, "router.input_queued.vcs.network = 1\nrouting = \"adaptive\""),
        "router.input_queued.vcs.network = 1: adaptive routing needs an escape VC and at least one adaptive VC; valid: 2 … 16"
    );
    assert_eq!(
        on(MESH, "router.input_queued.vcs.network = 1\nrouting = \"valiant\""),
        "router.input_queued.vcs.network = 1: the ways to the intermediate router and from there need a VC each; valid: 2 … 16"
    );
}

#[test]
fn injection_control_out_of_range() {
    assert_eq!(
        on(MESH, "nic.control.sat = { l = 9, k = 8 }"),
        "nic.control.sat.l = 9: a node may inject only 8 packets before it has to pass the signal on; valid: 1 … 8"
    );
    assert_eq!(
        on(TORUS, "nic.control.lbr.packets = 3"),
        "nic.control.lbr: restricts adaptive VCs, which the network does not have; \
         valid: routing.adaptive in a mesh, torus, ring or HyperX"
    );
    assert_eq!(
        on(TORUS, "nic.control.lbr.packets = 8\nrouting = \"adaptive\""),
        "nic.control.lbr.packets = 8: a buffer holds 8 packets, and one of them is to enter; valid: 1 … 7"
    );
    assert_eq!(
        on(TORUS, "nic.control.ipr.share = 1.5"),
        "nic.control.ipr.share = 1.5: is a share of the cycles; valid: 0 … 1"
    );
}

#[test]
fn a_signal_that_would_hold_back_replies() {
    assert_eq!(
        set(&["nic.control.sat={ l = 1, k = 2 }", "jobs.0.traffic.request_reply={}"]),
        "nic.control.sat (override): a node that waits for the signal would hold back the replies that other nodes wait for, \
         which then never pass the signal on; valid: jobs without request_reply, or nic.control = \"none\""
    );
}

#[test]
fn shared_buffers_of_links_that_are_not_there() {
    assert_eq!(
        on(MESH, "router.cioq.buffers.damq = { local_reserve = 1, global_reserve = 1 }"),
        "router.cioq.buffers.damq: the reserves are those of local and global links, which the topology does not have; \
         valid: no such key, or topology.dragonfly"
    );
}

#[test]
fn inputs_and_outputs_of_the_crossbar_that_do_not_fit() {
    for (kind, written, reason) in [
        ("cioq", "0", "out of range; valid: 1 … 16"),
        ("input_queued", "17", "out of range; valid: 1 … 16"),
        ("cioq", "\"ports\"", "no such choice; did you mean `port`? Valid: 1 … 16 or port, vc"),
        ("input_queued", "1.5", "must be an integer, not a decimal number; valid: 1 … 16 or port, vc"),
        ("cioq", "{ vc = 2 }", "must be an integer or a name, not a table; valid: 1 … 16 or port, vc"),
    ] {
        assert_eq!(
            after(&format!("[router.{kind}]\ncrossbar_inputs = {written}")),
            format!("line 8, column 1: router.{kind}.crossbar_inputs = {written}: {reason}")
        );
    }
    assert_eq!(set(&["router.cioq.crossbar_inputs=vc"]), "accepted");
    assert_eq!(
        after("[router.cioq]\ncrossbar_outputs = 17"),
        "line 8, column 1: router.cioq.crossbar_outputs = 17: out of range; valid: 1 … 16"
    );
    assert_eq!(
        after("[router.input_queued]\ncrossbar_outputs = 2"),
        "line 8, column 1: router.input_queued.crossbar_outputs = 2: unknown key; did you mean `crossbar_inputs`? \
         Valid: vcs, buffers, flow_control, crossbar_latency, pipeline_latency, consumption, crossbar_inputs, allocator"
    );
}

#[test]
fn injection_ports_and_directions_that_do_not_fit() {
    assert_eq!(
        on(TORUS, "nic.injection_ports = 2"),
        "nic.injection_ports = 2: the direction in which a packet sets out says which one it takes; \
         valid: 1, or injection_vc = \"direction\""
    );
    assert_eq!(
        on(TORUS, "nic.injection_vc = \"direction\""),
        "router.cioq.vcs.injection = 3: half of them are for one direction, half for the other; valid: an even number"
    );
    assert_eq!(
        after("[nic]\ninjection_vc = \"direction\""),
        "line 8, column 1: nic.injection_vc = direction: only meshes, tori and rings have directions; \
         valid: shortest, destination, round_robin or random; or topology.mesh, torus or ring"
    );
}

#[test]
fn datelines_of_whole_packets() {
    let rings = |rest: &str| on(TORUS, &format!("router.cioq.vcs = {{ {rest} }}"));
    assert_eq!(rings("rings = \"dateline\""), "accepted");
    assert_eq!(rings("rings = { dateline = { class = \"dimension\" } }"), "accepted");
    assert_eq!(rings("rings = \"bubble\", bubble = 2"), "accepted");
    assert_eq!(
        rings("rings = \"dateline\", network = 1"),
        "router.cioq.vcs.network = 1: datelines divide the VCs of a link into two classes; valid: 2 … 16"
    );
    assert_eq!(
        rings("rings = \"dateline\", bubble = 1"),
        "router.cioq.vcs.bubble = 1: rings with datelines need no bubble; valid: no such key, or no datelines (vcs.rings)"
    );
    assert_eq!(
        on(TORUS, "routing = \"adaptive\"\nrouter.cioq.vcs.rings = \"dateline\""),
        "router.cioq.vcs.rings.dateline: datelines are for packets that go dimension by dimension to their destination, and with \
         routing adaptive they do not; valid: routing.minimal, or vcs.rings = \"bubble\""
    );
    for name in ["bubble", "dateline"] {
        assert_eq!(
            on(MESH, &format!("router.cioq.vcs.rings = \"{name}\"")),
            format!(
                "router.cioq.vcs.rings.{name}: the topology has no rings; valid: no such key, or topology.torus or ring"
            )
        );
        assert_eq!(
            on(TORUS, &format!("routing = \"up_down\"\nrouter.cioq.vcs.rings = \"{name}\"")),
            format!(
                "router.cioq.vcs.rings.{name}: no packet goes round a ring; \
                 valid: no such key, or another routing than up_down and nue"
            )
        );
    }
    let vcs = "router.cioq = { vcs = { rings = \"dateline\" }, flow_control = \"on_off\", buffers = { network = 400 } }";
    assert_eq!(on(TORUS, vcs), "accepted", "with two VCs every hop has one");
}

#[test]
fn bubbles_that_do_not_fit_into_the_queues() {
    assert_eq!(
        on(TORUS, "router.input_queued.buffers.network = 12"),
        "router.input_queued.buffers.network = 12: bubble flow control needs room for two packets of 8 phits; \
         valid: at least 16 phits"
    );
}

#[test]
fn a_torus_without_bubble_deadlocks_only_if_it_may() {
    assert_eq!(
        on(TORUS, "router.input_queued.vcs.bubble = 0"),
        "router.input_queued.vcs.bubble = 0: packets of a ring can wait for each other in a circle: the network can deadlock; \
         valid: 1 … 16 packets, or vcs.allow_deadlock = true"
    );
    assert_eq!(on(TORUS, "router.input_queued.vcs = { bubble = 0, allow_deadlock = true }"), "accepted");
    assert_eq!(
        on(TORUS, "routing = \"up_down\"\nrouter.input_queued.vcs.bubble = 1"),
        "router.input_queued.vcs.bubble = 1: no packet goes round a ring; \
         valid: no such key, or another routing than up_down and nue"
    );
    assert_eq!(
        on(MESH, "router.input_queued.vcs.bubble = 1"),
        "router.input_queued.vcs.bubble = 1: the topology has no rings to enter; \
         valid: no such key, or topology.torus or ring"
    );
}

#[test]
fn permutations_that_the_nodes_do_not_have() {
    let shuffle = "[[jobs]]\ntraffic.pattern.permutation = \"shuffle\"";
    assert_eq!(
        on("mesh = { sides = [3, 4] }", shuffle),
        "jobs.0.traffic.pattern.permutation: shuffle permutes the bits of a node's number, and the job has 12 nodes; \
         valid: a job of 2^b nodes; tornado or neighbour for others"
    );
    assert_eq!(
        on("mesh = { sides = [4, 2] }", "[[jobs]]\ntraffic.pattern.permutation = \"transpose\""),
        "jobs.0.traffic.pattern.permutation: transpose swaps the halves of a node's number, and that has 3 bits; \
         valid: a job of 4^b nodes"
    );
    assert_eq!(
        after("[[jobs]]\ntraffic.pattern.permutation = \"tornado\""),
        "line 8, column 17: jobs.0.traffic.pattern.permutation: tornado goes along dimensions; valid: topology.mesh, torus or ring"
    );
}

#[test]
fn loads_of_nodes_that_are_not_there() {
    assert_eq!(
        on(MESH, "[[jobs]]\ntraffic.node_loads.listed = [{ nodes = [3, 16], load = 1.0 }]"),
        "jobs.0.traffic.node_loads.listed.0.nodes.1 = 16: is not a node of the job; valid: the numbers of its nodes"
    );
    let bursts = "[[jobs]]\ntraffic.process.synchronised_bursts.packets = 10";
    assert_eq!(
        on(MESH, bursts),
        "load = 0.5: jobs.0.traffic.process.synchronised_bursts sends as fast as the network takes it; valid: no such key"
    );
    let loads = "traffic.node_loads.listed = [{ nodes = [3], load = 1.0 }]";
    let bursts = format!("[[jobs]]\n{loads}\ntraffic.process.synchronised_bursts.packets = 10");
    assert_eq!(
        message_of(&format!("topology.{MESH}\n{bursts}"), &[]),
        "line 3, column 9: jobs.0.traffic.node_loads: synchronised_bursts sends as fast as the network takes it; \
         valid: no such key, or another process"
    );
    let changes = format!("[[jobs]]\n{loads}\ntraffic.changes = [{{ cycle = 12_000, load = 0.2 }}]");
    assert_eq!(
        on(MESH, &changes),
        "jobs.0.traffic.node_loads: the load changes for all nodes alike; valid: no such key, or changes of the pattern alone"
    );
}

/// The message about an experiment on a graph of these links, with further overrides.
fn graph(links: &[(u32, u32)], overrides: &[&str]) -> String {
    let edges: Vec<_> =
        links.iter().map(|(one, other)| format!("{{ between = [{one}, {other}] }}")).collect();
    let edges = format!("topology.graph.edges=[{}]", edges.join(", "));
    message_of("load = 0.5\n[topology.graph]\n", &[&[edges.as_str()], overrides].concat())
}

#[test]
fn links_of_a_graph() {
    assert_eq!(graph(&[(0, 1), (1, 2)], &[]), "accepted");
    assert_eq!(
        graph(&[], &[]),
        "topology.graph.edges (override): is missing; valid: a list of { between = [router, router] }, or file = \"…\""
    );
    assert_eq!(
        graph(&[(0, 1), (2, 2)], &[]),
        "topology.graph.edges.1.between = [2, 2] (override): a link joins two routers; valid: two different routers"
    );
    assert_eq!(
        graph(&[(0, 20_480)], &[]),
        "topology.graph.edges.0.between = [0, 20480] (override): the tables of paths would be too large; \
         valid: routers 0 … 20479"
    );
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.edges.0.latency=0"]),
        "topology.graph.edges.0.latency = 0 (override): out of range; valid: 1 … 60000"
    );
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.edges.0.cycles_per_phit=65"]),
        "topology.graph.edges.0.cycles_per_phit = 65 (override): out of range; valid: 1 … 64"
    );
    assert_eq!(
        graph(&[(0, 1)], &["links.network.latency=0"]),
        "links.network.latency = 0 (override): out of range; valid: 1 … 60000"
    );
    assert_eq!(
        graph(&[(0, 1), (4, 2)], &[]),
        "topology.graph.edges (override): routers 2, 3 and 4 cannot reach routers 0 and 1; \
         valid: links that join all routers"
    );
    assert_eq!(
        graph(&[(0, 1), (12, 13)], &[]),
        "topology.graph.edges (override): routers 2, 3, 4, 5, 6, 7, 8, 9 and 4 more cannot reach routers 0 and 1; \
         valid: links that join all routers"
    );
    assert_eq!(
        graph(&[(0, 1); 512], &[]),
        "topology.graph.edges (override): router 0 would have 513 ports; \
         valid: at most 512 ports per router, terminal ones included"
    );
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.edges.0.between=[1]"]),
        "topology.graph.edges.0.between (override): invalid length 1, expected an array of length 2"
    );
}

#[test]
fn nodes_and_file_of_a_graph() {
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.nodes_per_router=65"]),
        "topology.graph.nodes_per_router = 65 (override): out of range; valid: 1 … 64"
    );
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.routers_with_nodes=3"]),
        "topology.graph.routers_with_nodes = 3 (override): the graph has 2 routers; valid: 1 … 2"
    );
    assert_eq!(
        graph(&[(0, 1)], &["topology.graph.file=net.txt"]),
        "topology.graph.file = \"net.txt\" (override): the links are given twice; valid: either file or edges"
    );
    assert_eq!(
        graph(&[], &["topology.graph.file=net.txt"]),
        "topology.graph.file = \"net.txt\" (override): cannot be read here"
    );
}

#[test]
fn routers_that_are_out_of_order() {
    // Two spines above three routers with a node each.
    let edges: Vec<(u32, u32)> = (0..3).flat_map(|leaf| [(leaf, 3), (leaf, 4)]).collect();
    let with = |fault: &str| {
        graph(&edges, &["topology.graph.routers_with_nodes=3", &format!("faults=[{{ {fault} }}]")])
    };
    assert_eq!(with("routers = [3]"), "accepted");
    assert_eq!(with("routers = [4], at = 100, until = 300"), "accepted");
    assert_eq!(with("links = { between = [[0, 3]] }, routers = [4], at = 0, until = 9"), FALLS_APART);
    assert_eq!(
        with("routers = [2]"),
        "faults.0.routers.0 = 2 (override): has nodes, which nobody could reach; \
         valid: 3 … 4, or unreachable = \"drop\" besides: packets from and to these nodes are lost"
    );
    assert_eq!(
        with("routers = [3, 5]"),
        "faults.0.routers.1 = 5 (override): the network has 5 routers; valid: 0 … 4"
    );
    assert_eq!(
        with("routers = [3, 3]"),
        "faults.0.routers.1 = 3 (override): has been named or drawn before; valid: every router once"
    );
    assert_eq!(
        with("routers = []"),
        "faults.0.routers (override): names no routers; valid: [router, …] or { fraction = … }"
    );
    assert_eq!(
        with("routers = { fraction = 0.9, seed = 2 }"),
        "faults.0.routers.fraction = 0.9 (override): draws router 2, which has nodes that nobody could reach; \
         valid: 3 … 4, or unreachable = \"drop\" besides: packets from and to these nodes are lost"
    );
    assert_eq!(
        with("routers = { fraction = 1.2 }"),
        "faults.0.routers.fraction = 1.2 (override): out of range; valid: 0 … 1"
    );
    assert_eq!(
        with("at = 100"),
        "faults.0 (override): names neither links nor routers; valid: links = { between = [[router, router], …] } or \
         { fraction = … }, or routers = [router, …] or { fraction = … }"
    );
    assert_eq!(
        graph(&RING, &["faults=[{ routers = [1] }]"]),
        "faults.0.routers.0 = 1 (override): has nodes, which nobody could reach; \
         valid: unreachable = \"drop\" besides: packets from and to these nodes are lost"
    );
    assert_eq!(with("routers = [2], unreachable = \"drop\""), "accepted");
    assert_eq!(with("links = { between = [[0, 3]] }, routers = [4], unreachable = \"drop\""), "accepted");
}

#[test]
fn a_network_that_falls_apart_is_not_for_everything() {
    let with = |others: &[&str]| {
        let fault = "faults=[{ routers = [1], at = 100, unreachable = \"drop\" }]";
        graph(&RING, &[&[fault], others].concat())
    };
    assert_eq!(with(&[]), "accepted");
    assert_eq!(with(&["faults.0.at=0", "routing=k_shortest_paths"]), NO_WAY);
    assert_eq!(
        with(&["jobs.0.traffic.request_reply={}"]),
        "jobs.0.traffic.request_reply (override): a request waits for its reply, and with unreachable = \"drop\" packets may be \
         lost; valid: other jobs, or no such key in faults"
    );
    assert_eq!(
        with(&["faults.0.unreachable=never"]),
        "faults.0.unreachable = \"never\" (override): no such choice; valid: refuse, drop"
    );
}

/// What is said of paths that are drawn where some routers cannot reach each other.
const NO_WAY: &str = "routing.k_shortest_paths (override): draws paths between all routers, and with unreachable = \"drop\" some \
    cannot reach each other; valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or no such key in faults";

/// What is said of a network of five routers of which a spine and a link to the other one are out of order.
const FALLS_APART: &str = "faults (override): without these links the network falls apart: from router 0 there is no way to \
    routers 1, 2 and 3 (from cycle 0 on); valid: fewer links, other ones, another seed of the draw, or unreachable = \"drop\" besides";

#[test]
fn links_that_become_slower() {
    let with = |keys: &str| {
        graph(&RING, &["routing=ugal", &format!("faults=[{{ links = {{ between = [[0, 1]] }}, {keys} }}]")])
    };
    assert_eq!(with("slowdown = 4"), "accepted");
    assert_eq!(with("slowdown = 4, at = 100, until = 200"), "accepted");
    assert_eq!(with("slowdown = 1"), "faults.0.slowdown = 1 (override): out of range; valid: 2 … 64");
    assert_eq!(
        with("slowdown = 4, reaction = { detection = 5 }"),
        "faults.0.reaction (override): with slowdown links are in order: nothing is lost, and nobody finds other paths; \
         valid: no such key, or no slowdown"
    );
    let edges = "graph = { edges = [{ between = [0, 1], cycles_per_phit = 20 }] }";
    assert_eq!(
        on(edges, "faults = [{ links = { between = [[0, 1]] }, slowdown = 4 }]"),
        "faults.0.slowdown = 4: one of the links takes 20 cycles per phit, and no link takes more than 64; valid: at most 3"
    );
    let both = "{ at = 10, links = { between = [[0, 1]] } }, { at = 20, links = { between = [[1, 2]] }, slowdown = 2 }";
    assert_eq!(
        graph(&RING, &["routing=minimal", &format!("faults=[{both}]")]),
        "faults.0.reaction.reconfiguration = \"static\" (override): links do not become slower in a run in which new tables wait \
         until the network is drained; valid: dynamic, or no entry with slowdown; VCs by hop are dynamic by default"
    );
}

/// A ring of five routers.
const RING: [(u32, u32); 5] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];

#[test]
fn links_that_are_out_of_order() {
    let with = |links: &str| graph(&RING, &[&format!("faults=[{{ links = {links} }}]")]);
    assert_eq!(with("{ between = [[0, 1]] }"), "accepted");
    assert_eq!(with("{ fraction = 0.2, seed = 7, class = \"network\" }"), "accepted");
    assert_eq!(
        with("{ between = [[2, 0]] }"),
        "faults.0.links.between.0 = [2, 0] (override): no link joins the two routers; \
         valid: two routers that a link joins which is in order"
    );
    assert_eq!(
        with("{ between = [[0, 1], [1, 0]] }"),
        "faults.0.links.between.1 = [1, 0] (override): all links between the two routers have been named or drawn before; \
         valid: two routers that a link joins which is in order"
    );
    assert_eq!(
        with("{ between = [[0, 5]] }"),
        "faults.0.links.between.0 = [0, 5] (override): the network has 5 routers; valid: routers 0 … 4"
    );
    assert_eq!(
        with("{ between = [[0, 1], [2, 3]] }"),
        "faults (override): without these links the network falls apart: from router 0 there is no way to routers 1 and 2; \
         valid: fewer links, other ones, another seed of the draw, or unreachable = \"drop\" besides"
    );
    assert_eq!(
        with("{}"),
        "faults.0.links (override): names no links; valid: between = [[router, router], …] or fraction"
    );
    assert_eq!(
        with("{ fraction = 1.5 }"),
        "faults.0.links.fraction = 1.5 (override): out of range; valid: 0 … 1"
    );
    assert_eq!(
        with("{ fraction = 0.1, class = \"global\" }"),
        "faults.0.links.class = \"global\" (override): the topology has no such links; valid: network"
    );
    assert_eq!(
        with("{ between = [[0, 1]], seed = 3 }"),
        "faults.0.links.seed (override): is about links that are drawn, and fraction does not say how many; \
         valid: no such key, or fraction besides"
    );
    assert_eq!(
        on("torus = { sides = [4, 4], tie = \"plus\" }", "faults = [{ links = { fraction = 0.01 } }]"),
        "topology.torus.tie: where links may fail tables say which of several shortest paths packets take; \
         valid: another value, or no faults"
    );
    assert_eq!(on(MESH, "faults = [{ links = { fraction = 0.1 } }]"), "accepted");
    assert_eq!(
        on(
            "dragonfly = { p = 1, a = 2, h = 1 }",
            "routing = \"olm\"\nfaults = [{ links = { fraction = 0.01 } }]"
        ),
        "routing.olm: needs the groups of a dragonfly, whose routers are all joined to each other (with faults a network is the graph \
         of its links); valid: topology.dragonfly"
    );
    let dragonfly_plus = "dragonfly_plus = { leaves = 3, spines = 2, global_links = 4, groups = 4 }";
    let global = "faults = [{ links = { fraction = 0.1, class = \"global\" } }]";
    assert_eq!(on(dragonfly_plus, global), "accepted");
}

#[test]
fn any_shortest_path_of_a_graph() {
    assert_eq!(graph(&RING, &["routing=adaptive"]), "accepted");
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.network=1", "routing=adaptive"]),
        "router.cioq.vcs.network = 1 (override): routing adaptive follows up to 2 network links and needs one VC for each, in \
         increasing order, to be free of deadlock; valid: 2 … 16"
    );
    let chain: Vec<(u32, u32)> = (0..17).map(|router| (router, router + 1)).collect();
    assert_eq!(
        graph(&chain, &["routing=adaptive"]),
        "routing.adaptive (override): a shortest path has up to 17 links and needs as many VCs, and a link has at most 16; \
         valid: routers with nodes at most 16 links apart; routing.minimal or up_down"
    );
    assert_eq!(graph(&chain[..16], &["routing=adaptive"]), "accepted");
    let star: Vec<(u32, u32)> = (1..66).map(|router| (0, router)).collect();
    assert_eq!(
        graph(&star, &["routing=adaptive"]),
        "routing.adaptive (override): a router has 65 links, and 64 at most are looked at; \
         valid: fewer links of a router, or routing.minimal, valiant or ugal"
    );
    assert_eq!(graph(&star[..64], &["routing=adaptive"]), "accepted");
}

#[test]
fn detours_behind_the_first_hop_on_a_graph() {
    let chain: Vec<(u32, u32)> = (0..8).map(|router| (router, router + 1)).collect();
    assert_eq!(
        graph(&chain, &["routing=par"]),
        "routing.par (override): a path through an intermediate router, behind a hop of the minimal path, has up to 17 links and \
         needs as many VCs, and a link has at most 16; valid: routers with nodes at most 7 links apart; routing.minimal or up_down"
    );
    assert_eq!(graph(&chain[..7], &["routing=par"]), "accepted");
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.network=4", "routing=par"]),
        "router.cioq.vcs.network = 4 (override): routing par follows up to 5 network links and needs one VC for each, in \
         increasing order, to be free of deadlock; valid: 5 … 16"
    );
    for (key, value) in [
        ("policy", "crg"),
        ("local_misrouting", "false"),
        ("candidates", "one"),
        ("trigger.contention.threshold", "3"),
    ] {
        let named = key.split('.').next().unwrap();
        assert_eq!(
            graph(&RING, &[&format!("routing.par.{key}={value}")]),
            format!(
                "routing.par.{named} (override): is about the groups of a dragonfly; \
                 valid: no such key, or topology.dragonfly"
            )
        );
    }
    assert_eq!(
        graph(&RING, &["routing.par.threshold=1000001"]),
        "routing.par.threshold = 1000001 (override): out of range; valid: 0 … 1000000 packets"
    );
}

#[test]
fn links_that_fail_in_the_middle_of_a_run() {
    let fault = |more: &str| format!("faults=[{{ links = {{ between = [[0, 1]] }}, {more} }}]");
    let with = |more: &str, others: &[&str]| graph(&RING, &[&[fault(more).as_str()], others].concat());
    assert_eq!(with("at = 100", &[]), "accepted");
    assert_eq!(with("at = 0, until = 100", &["routing=par"]), "accepted");
    assert_eq!(
        with("at = 100, until = 100", &[]),
        "faults.0.until = 100 (override): links are repaired after they have failed, in cycle 100; \
         valid: at least 101, or no such key: never"
    );
    assert_eq!(
        with("reaction = { reroute = 7 }", &[]),
        "faults.0.reaction (override): links that are out of order from the beginning to the end surprise nobody; \
         valid: no such key, or at or until besides"
    );
    assert_eq!(
        with("at = 100, reaction = { detection = 1000000001 }", &[]),
        "faults.0.reaction.detection = 1000000001 (override): out of range; valid: 0 … 1000000000"
    );
    assert_eq!(
        with("at = 100", &["measure.warmup=50", "measure.cycles=50"]),
        "faults.0.at = 100 (override): the run ends with cycle 99; valid: at most 99, or no such key"
    );
    assert_eq!(
        with("at = 100, reaction.reconfiguration = \"static\"", &["routing=ugal"]),
        "faults.0.reaction.reconfiguration = \"static\" (override): packets whose VC is that of the links passed before \
         never wait for each other in a circle, whatever the tables; valid: dynamic, or routing.minimal with vcs.discipline = \"layers\""
    );
    let apart = "faults=[{ at = 100, links.between = [[0, 1]] }, { at = 200, links.between = [[2, 3]] }]";
    assert_eq!(
        graph(&RING, &[apart]),
        "faults (override): without these links the network falls apart: from router 0 there is no way to routers 1 and 2 \
         (from cycle 5700 on); valid: fewer links, other ones, another seed of the draw, or unreachable = \"drop\" besides"
    );
}

#[test]
fn packets_that_are_sent_again() {
    let fault = |links: &str, retransmit: &str| {
        format!("{{ at = 100, links = {{ between = [{links}] }}, reaction.retransmit = {retransmit} }}")
    };
    let with = |retransmit: &str| graph(&RING, &[&format!("faults=[{}]", fault("[0, 1]", retransmit))]);
    assert_eq!(with("{ timeout = 0, most = 255 }"), "accepted");
    assert_eq!(
        with("{ timeout = 1000000001, most = 1 }"),
        "faults.0.reaction.retransmit.timeout = 1000000001 (override): out of range; valid: 0 … 1000000000"
    );
    for most in [0, 256] {
        assert_eq!(
            with(&format!("{{ timeout = 9, most = {most} }}")),
            format!("faults.0.reaction.retransmit.most = {most} (override): out of range; valid: 1 … 255")
        );
    }
    assert_eq!(
        with("{ timeout = 9 }"),
        "faults.0.reaction.retransmit.most (override): is missing; valid: 1 … 255"
    );
    assert_eq!(
        with("{ timeout = 9, most = 1, backoff = 2 }"),
        "faults.0.reaction.retransmit.backoff = 2 (override): unknown key; valid: timeout, most"
    );
    let twice = |one: &str, other: &str| {
        let ring = [&RING[..], &[(0, 2)]].concat();
        graph(&ring, &[&format!("faults=[{}, {}]", fault("[0, 1]", one), fault("[0, 2]", other))])
    };
    assert_eq!(twice("{ timeout = 9, most = 1 }", "{ timeout = 9, most = 1 }"), "accepted");
    assert_eq!(
        twice("{ timeout = 9, most = 1 }", "{ timeout = 9, most = 2 }"),
        "faults.1.reaction.retransmit = { timeout = 9, most = 2 } (override): a source sends again what it has lost, \
         whatever has failed; valid: as in faults.0, or no such key"
    );
    assert_eq!(
        with_a_link_that_fails(&[
            "faults.0.reaction.retransmit={ timeout = 9, most = 1 }",
            "jobs.0.traffic.request_reply={}",
            "routing=valiant",
            "router.cioq.vcs.injection=2",
        ]),
        "faults.0.reaction.retransmit (override): the room for a reply is given back when it leaves its node, and may not \
         be there a second time; valid: no such key, or jobs without request_reply"
    );
}

/// The message about the ring, one of whose links fails, with other overrides besides.
fn with_a_link_that_fails(others: &[&str]) -> String {
    graph(&RING, &[&["faults=[{ at = 100, links = { between = [[0, 1]] } }]"], others].concat())
}

#[test]
fn flits_that_do_not_know_of_links_that_fail() {
    let flits = |others: &[&str]| with_a_link_that_fails(&[&["router=virtual_channel"], others].concat());
    assert_eq!(flits(&[]), "accepted");
    let queues =
        "where flits wait behind the crossbar links neither fail nor become slower in the middle of a run";
    for (key, value, other) in
        [("speedup", "1.5", "1.0"), ("crossbar_outputs", "2", "1"), ("buffers.output", "8", "no such key")]
    {
        assert_eq!(
            flits(&[&format!("router.virtual_channel.{key}={value}")]),
            format!(
                "router.virtual_channel.{key} (override): {queues}; valid: {other}, or faults without at, until and slowdown"
            )
        );
    }
    assert_eq!(
        flits(&["semantics.stages=batched"]),
        "semantics.stages = batched (override): where flits go through the stages of a router together links neither \
         fail nor become slower in the middle of a run; valid: pipelined, or faults without at, until and slowdown"
    );
    assert_eq!(
        flits(&["measure.streams=[\"flit_hops\"]"]),
        "measure.streams = flit_hops (override): flits that are lost on their way are not followed; valid: other \
         streams, or faults without at, until and slowdown"
    );
    assert_eq!(
        flits(&["jobs.0.traffic.request_reply={}", "router.virtual_channel.vcs.injection=2"]),
        "jobs.0.traffic.request_reply (override): the room for a reply is promised to a packet that may be lost on its \
         way; valid: router.cioq or input_queued, no such key, or faults without at, until and slowdown"
    );
}

#[test]
fn groups_that_fpar_cannot_route_in() {
    let needs = |topology: &str| on(topology, "routing = \"fpar\"");
    assert_eq!(needs(MESH), "routing.fpar: needs a topology with groups; valid: topology.dragonfly_plus");
    assert_eq!(
        needs("dragonfly = { p = 2, a = 4, h = 2 }"),
        "routing.fpar: needs groups of leaf and spine routers, of which only spines have links to other groups; \
         valid: topology.dragonfly_plus"
    );
    // Leaves of different groups are joined, too.
    let all = "product = { inner = { xgft = { children = [1, 2], parents = [1, 2] } }, outer = { ring = { routers = 3 } } }";
    assert_eq!(
        needs(all),
        "routing.fpar: needs links between leaves and spines of a group and between spines of different groups alone, and \
         routers 0 and 2 are joined; valid: topology.dragonfly_plus"
    );
    let spines = |outer: &str| {
        format!(
            "product = {{ inner = {{ xgft = {{ children = [1, 2], parents = [1, 2] }} }}, outer = {{ ring = {{ routers = {outer} }} }}, gateways = [2, 3] }}"
        )
    };
    assert_eq!(needs(&spines("3")), "accepted");
    assert_eq!(
        needs(&spines("4")),
        "routing.fpar: needs a link between every two groups, and groups 0 and 2 have none; valid: topology.dragonfly_plus"
    );
    let plus = "dragonfly_plus = { leaves = 2, spines = 2, global_links = 2, groups = 3 }";
    let without = |between: &str| {
        on(plus, &format!("routing = \"fpar\"\nfaults = [{{ links = {{ between = [{between}] }} }}]"))
    };
    assert_eq!(
        without("[0, 6]"),
        "routing.fpar: needs a link between every leaf and every spine of a group, and router 0 of group 0 lacks one; \
         valid: topology.dragonfly_plus"
    );
    // Two groups share two links.
    assert_eq!(without("[6, 9]"), "accepted");
    assert_eq!(
        on(plus, "router.cioq.vcs.local = 1\nrouting = \"fpar\""),
        "router.cioq.vcs.local = 1: the ways to another group and from there need a VC each; valid: 2 … 16"
    );
    assert_eq!(
        on(plus, "router.cioq.vcs.management = \"flexvc\"\nrouting = \"fpar\""),
        "router.cioq.vcs.management: a hop uses the VCs of its half, which its place on the path says; valid: no such key"
    );
    assert_eq!(
        on(plus, "routing.fpar.detour_weight = 0"),
        "routing.fpar.detour_weight = 0: out of range; valid: 1 … 100"
    );
    assert_eq!(
        needs("dragonfly_plus = { leaves = 33, spines = 1, global_links = 32, nodes_per_leaf = 1 }"),
        "routing.fpar: a router has 65 links, and 64 at most are looked at; valid: fewer links of a router, or routing.minimal, \
         valiant or ugal"
    );
}

#[test]
fn what_does_not_know_of_links_that_fail() {
    let valid = "faults without at and until";
    assert_eq!(
        with_a_link_that_fails(&["router.cioq.flow_control=on_off"]),
        format!(
            "router.cioq.flow_control.on_off (override): a link that fails loses words on and off; valid: credits, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["routing=up_down"]),
        format!(
            "routing.up_down (override): a packet that has gone down one tree may have no way on in the tree of other links; \
             valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["routing=nue"]),
        format!(
            "routing.nue (override): packets on the paths of two tables can wait for each other in a circle; \
             valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["routing=fpar"]),
        format!(
            "routing.fpar (override): a packet that has gone to a spine may have no way down from there over the links that are left; \
             valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["routing=polarized"]),
        format!(
            "routing.polarized (override): a packet goes away from its source, and with other tables it would be elsewhere on its way; \
             valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["routing=k_shortest_paths"]),
        format!(
            "routing.k_shortest_paths (override): a packet keeps to the path that it has drawn, which may lead over links that are out of order; \
             valid: routing.minimal, adaptive, ecmp, valiant, ugal or par, or {valid}"
        )
    );
    assert_eq!(
        with_a_link_that_fails(&["measure.warmup=auto"]),
        format!(
            "measure (override): links fail in a given cycle, and nobody knows beforehand when this run is measured; \
             valid: no measure.stop or measure.end, and measure.warmup in cycles; or {valid}"
        )
    );
}

/// Three routers, two of which lose their link, up to what the job of their nodes is.
const FAILING_TRIANGLE: &str = "faults = [{ at = 100, links.between = [[0, 1]] }]\n\
    topology.graph.edges = [{ between = [0, 1] }, { between = [1, 2] }, { between = [2, 0] }]\n\
    units = { cycle = '1 ns', phit = '4 B' }\n[[jobs]]\n";

#[test]
fn nodes_that_wait_for_packets_which_may_be_lost() {
    let valid = "faults without at and until";
    let requests = |more: &str| {
        let requests = format!("jobs.0.traffic.request_reply={{{more}}}");
        with_a_link_that_fails(&[&requests, "routing=valiant", "router.cioq.vcs.injection=2"])
    };
    assert_eq!(requests(""), "accepted");
    assert_eq!(
        requests("outstanding = 3"),
        format!(
            "jobs.0.traffic.request_reply.outstanding (override): a node waits for the replies to its requests, and where \
             links fail in the middle of a run packets may be lost; valid: no such key, or {valid}"
        )
    );
    let of_job = |job: &str| message_of(&format!("{FAILING_TRIANGLE}{job}"), &[]);
    assert_eq!(of_job("program.collective = { kind = 'allreduce', bytes = 64 }"), "accepted");
    assert_eq!(
        of_job("program.external = {}"),
        format!(
            "line 5, column 9: jobs.0.program.external: links neither fail nor become slower in the middle of a run that another simulator \
             drives; valid: other jobs, or {valid}"
        )
    );
    assert_eq!(
        of_job("traffic.process.synchronised_bursts.packets = 3"),
        format!(
            "line 5, column 17: jobs.0.traffic.process.synchronised_bursts: a burst waits for the last packet of the one before, and \
             where links fail in the middle of a run packets may be lost; valid: other jobs, or {valid}"
        )
    );
}

#[test]
fn detours_on_a_graph() {
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.network=3", "routing=valiant"]),
        "router.cioq.vcs.network = 3 (override): routing valiant follows up to 4 network links and needs one VC for each, in \
         increasing order, to be free of deadlock; valid: 4 … 16"
    );
    assert_eq!(graph(&RING, &["router.cioq.vcs.management=flexvc", "routing=ugal"]), "accepted");
    let chain: Vec<(u32, u32)> = (0..9).map(|router| (router, router + 1)).collect();
    assert_eq!(
        graph(&chain, &["routing=ugal"]),
        "routing.ugal (override): a path through an intermediate router has up to 18 links and needs as many VCs, and a \
         link has at most 16; valid: routers with nodes at most 8 links apart; routing.minimal or up_down"
    );
    assert_eq!(graph(&chain[..8], &["routing=ugal"]), "accepted");
    assert_eq!(graph(&chain, &["routing=ugal", "topology.graph.routers_with_nodes=9"]), "accepted");
    assert_eq!(
        graph(&chain[..5], &["routing=valiant", "jobs.0.traffic.request_reply.outstanding=1"]),
        "jobs.0.traffic.request_reply (override): routing valiant follows up to 10 network links and needs one VC for each, \
         in increasing order, to be free of deadlock, and as many for replies; valid: no such key: a link has 16 VCs at \
         most, and this would take 20"
    );
    assert_eq!(
        graph(&RING, &["routing.valiant.within=unaligned"]),
        "routing.valiant.within = \"unaligned\" (override): is about dimensions, which the topology does not have; \
         valid: network, or topology.mesh, torus, ring or hyperx"
    );
    assert_eq!(
        graph(&RING, &["routing.valiant.policy=crg"]),
        "routing.valiant.policy (override): chooses among groups, which the topology does not have; \
         valid: no such key: any router can be the intermediate one"
    );
}

#[test]
fn routing_on_a_graph() {
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.network=1"]),
        "router.cioq.vcs.network = 1 (override): the shortest paths of the graph need 2 VCs to be free of deadlock; \
         valid: 2 … 16, or routing.up_down, which needs one"
    );
    assert_eq!(graph(&RING, &["router.cioq.vcs.network=1", "routing=up_down"]), "accepted");
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.management=flexvc"]),
        "router.cioq.vcs.management (override): a packet keeps the VC of its path; valid: no such key"
    );
    assert_eq!(
        graph(&RING, &["routing.up_down.root=5"]),
        "routing.up_down.root = 5 (override): the network has 5 routers; valid: 0 … 4"
    );
    assert_eq!(graph(&RING, &["router.cioq.vcs.network=1", "routing=nue"]), "accepted");
    assert_eq!(graph(&RING, &["routing.nue.vcs=16"]), "accepted");
    for vcs in [0, 17] {
        assert_eq!(
            graph(&RING, &[&format!("routing.nue.vcs={vcs}")]),
            format!("routing.nue.vcs = {vcs} (override): out of range; valid: 1 … 16")
        );
    }
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.network=2", "routing.nue.vcs=3"]),
        "router.cioq.vcs.network = 2 (override): routing nue divides destinations among 3 layers, each with a VC; \
         valid: 3 … 16, or fewer layers (routing.nue.vcs)"
    );
    assert_eq!(
        graph(&RING, &["router.cioq.vcs.management=flexvc", "routing=nue"]),
        "router.cioq.vcs.management (override): a packet keeps the VC of the layer of its destination; valid: no such key"
    );
    assert_eq!(
        message_of("load = 0.5\nrouting = \"nue\"\n[topology.mesh]\nsides = [64, 64]\n", &[]),
        "line 2, column 1: routing.nue: the search for paths between 4096 routers would take too long; \
         valid: at most 2048 routers"
    );
    assert_eq!(
        message_of("load = 0.5\nrouting = \"up_down\"\n[topology.mesh]\nsides = [64, 64]\n", &[]),
        "line 2, column 1: routing.up_down: the tables of paths between 4096 routers would be too large; \
         valid: at most 2048 routers"
    );
    assert_eq!(
        graph(&RING, &["links.local.latency=2"]),
        "links.local (override): the topology has no local links; valid: no such key; its links are network"
    );
}

/// The message about planes of a ring of four routers, with some more keys of theirs and overrides.
fn planes(keys: &str, overrides: &[&str]) -> String {
    let text = format!("load = 0.5\ntopology.planes = {{ {keys} }}\n");
    message_of(&text, overrides).replace("line 2, column 1: ", "").replace(" (override)", "")
}

#[test]
fn planes_that_cannot_be() {
    const RING: &str = "of.ring.routers = 4";
    assert_eq!(planes(&format!("count = 2, {RING}"), &[]), "accepted");
    for (keys, expected) in [
        (
            format!("count = 1, {RING}"),
            "topology.planes.count = 1: there would be one network at most; valid: 2 … 64",
        ),
        (
            format!("count = 65, {RING}"),
            "topology.planes.count = 65: an adapter has a port into every plane, and that would be more planes than ports; \
             valid: 2 … 64",
        ),
        (
            format!("count = 2, nodes_per_adapter = 65, {RING}"),
            "topology.planes.nodes_per_adapter = 65: out of range; valid: 1 … 64",
        ),
        (
            format!("count = 2, cycles_per_phit = 0, {RING}"),
            "topology.planes.cycles_per_phit = 0: out of range; valid: 1 … 64",
        ),
        (
            "count = 2, of.dragonfly = { p = 1, a = 2, h = 1 }".into(),
            "topology.planes.of.dragonfly: has links of two classes of its own; valid: mesh, torus, ring, hyperx, fat_tree, graph or \
             a family of graphs with links of one class",
        ),
        (
            format!("count = 2, of.planes = {{ count = 2, {RING} }}"),
            "topology.planes.of.planes: has links of two classes of its own; valid: mesh, torus, ring, hyperx, fat_tree, graph or \
             a family of graphs with links of one class",
        ),
        (
            "count = 2, of.ring = { routers = 4, tie = 'plus' }".into(),
            "topology.planes.of.ring.tie: paths are those of the whole network, whose ties says which of several packets take; \
             valid: no such key",
        ),
        (
            "count = 2, of.mesh.sides = [90, 90]".into(),
            "topology.planes.of = 2 planes of 8100 routers, and 8100 adapters: 24300 routers are too many for the tables of paths, \
             which hold 20480; valid: planes and adapters of at most 20480 routers together",
        ),
        ("count = 2, of.mesh = { sides = [100], nodes_per_router = 10 }".into(), "accepted"),
        (
            "count = 2, of.mesh.sides = [30, 30]".into(),
            "topology.planes.ties = \"spread\": the network has 2700 routers, and to spread the paths of more than 2048 over the links \
             would take too long; valid: \"first\", \"hash\", or at most 2048 routers",
        ),
    ] {
        let said = planes(&keys, &[]);
        let said = said.split_once("topology").map_or(said.clone(), |(_, rest)| format!("topology{rest}"));
        assert_eq!(said, expected, "{keys}");
    }
    assert!(planes("count = 2", &[]).contains("topology.planes.of: is missing"));
}

#[test]
fn packets_of_planes_keep_to_shortest_paths() {
    let with = |overrides: &[&str]| planes("count = 2, of.ring.routers = 4", overrides);
    for routing in ["minimal", "adaptive", "ecmp"] {
        assert_eq!(with(&[&format!("routing={routing}")]), "accepted", "{routing}");
    }
    for routing in ["valiant", "ugal", "par", "polarized", "k_shortest_paths", "fat_paths", "up_down", "nue"]
    {
        assert_eq!(
            with(&[&format!("routing={routing}")]),
            format!(
                "routing.{routing}: may lead packets through any router, and 4 routers, the adapters of nodes, forward nothing; \
                 valid: routing.minimal, adaptive or ecmp, which keep to shortest paths"
            )
        );
    }
    assert_eq!(
        with(&["links.local.latency=3"]),
        "links.local: the topology has no local links; valid: no such key; its links are network, rail"
    );
    assert_eq!(
        message_of("load = 0.5\ntopology.ring.routers = 4\nlinks.rail.latency = 3\n", &[]),
        "line 3, column 7: links.rail: the topology has no rail links; valid: no such key; its links are network"
    );
}

#[test]
fn planes_some_of_whose_links_are_out_of_order() {
    let with = |fault: &str| planes("count = 2, of.ring.routers = 4", &[&format!("faults=[{{ {fault} }}]")]);
    // Adapter 0 has no port into plane 0, adapter 2 none into plane 1: routers 4 and 10.
    let parted = "links = { between = [[0, 4], [2, 10]] }";
    assert_eq!(with("links = { between = [[0, 4], [2, 6]] }"), "accepted");
    assert_eq!(with("routers = [4, 5, 6, 7]"), "accepted", "a whole plane");
    assert_eq!(
        with(parted),
        "faults: without these links the network falls apart: from router 0 there is no way to router 2, as routers with nodes \
         forward nothing; valid: fewer links, other ones, another seed of the draw, or unreachable = \"drop\" besides"
    );
    assert_eq!(with(&format!("{parted}, unreachable = \"drop\"")), "accepted");
}

#[test]
fn a_host_of_a_fabric_has_no_port_into_several_planes() {
    let text = "router = \"infiniband\"\njobs = [{ flows = [{ source = 0, destination = 1 }] }]\n\
        topology.planes = { count = 2, of.xgft = { children = [2, 2], parents = [1, 2] } }\n";
    let said = message_of(text, &[]);
    assert!(
        said.ends_with(
            "topology.planes: a node has a port into each of several networks, and a host of an InfiniBand fabric has one port; \
             valid: the network of one plane, or router.cioq, input_queued or virtual_channel"
        ),
        "{said}"
    );
}

/// What is said of a document with a topology, a routing and a discipline of VCs.
fn with_discipline(topology: &str, routing: &str, discipline: &str) -> String {
    let text = format!(
        "load = 0.5\nrouting = \"{routing}\"\nrouter.cioq.vcs.discipline = \"{discipline}\"\n{topology}\n"
    );
    message_of(&text, &[])
}

#[test]
fn disciplines_of_vcs_that_a_routing_does_not_have() {
    let on = with_discipline;
    let small = "topology.jellyfish = { routers = 10, degree = 3 }";
    for (routing, discipline) in
        [("minimal", "layers"), ("minimal", "by_hop"), ("valiant", "by_hop"), ("adaptive", "by_hop")]
    {
        assert_eq!(on(small, routing, discipline), "accepted", "{routing} {discipline}");
    }
    assert_eq!(
        on(
            "topology.xgft = { children = [1, 60, 40], parents = [1, 1, 30], ties = \"first\" }",
            "minimal",
            "layers"
        ),
        "accepted",
        "up and down a tree of 2,470 switches"
    );
    let minimal = "no such key, or routing.minimal on topology.graph or a family of graphs";
    assert_eq!(
        on(small, "valiant", "layers"),
        format!(
            "line 3, column 17: router.cioq.vcs.discipline = \"layers\": routing valiant on topology.jellyfish has VCs by hop and \
             no other discipline; valid: \"by_hop\", {minimal}"
        )
    );
    for (topology, name, routing) in [
        ("topology.mesh.sides = [3, 3]", "mesh", "minimal"),
        ("topology.torus.sides = [3, 3]", "torus", "adaptive"),
        (small, "jellyfish", "up_down"),
        ("topology.dragonfly = { p = 2, a = 4, h = 2 }", "dragonfly", "valiant"),
    ] {
        assert_eq!(
            on(topology, routing, "by_hop"),
            format!(
                "line 3, column 17: router.cioq.vcs.discipline = \"by_hop\": routing {routing} on topology.{name} has neither layers nor \
                 VCs by hop, but an order of its own; valid: {minimal}"
            )
        );
    }
}

#[test]
fn disciplines_of_vcs_that_a_network_does_not_have() {
    let on = with_discipline;
    let long: Vec<String> =
        (0..34).map(|router| format!("{{ between = [{router}, {}] }}", (router + 1) % 34)).collect();
    let long = format!("topology.graph.edges = [{}]", long.join(", "));
    let large = "topology.jellyfish = { routers = 2050, degree = 3, ties = \"hash\" }";
    assert_eq!(on("topology.dragonfly_plus.leaves = 2", "minimal", "by_hop"), "accepted");
    assert_eq!(
        on(&long, "minimal", "by_hop"),
        "line 3, column 17: router.cioq.vcs.discipline = \"by_hop\": a shortest path has up to 17 links and needs as many VCs, and a \
         link has at most 16; valid: \"layers\", or routers with nodes at most 16 links apart"
    );
    assert_eq!(
        message_of(&format!("load = 0.5\nrouting = \"minimal\"\n{large}\n"), &[]),
        "router.cioq.vcs.discipline = \"layers\": to sort the paths between 2050 routers into layers would take too long; \
         valid: \"by_hop\", or at most 2048 routers"
    );
    assert_eq!(
        message_of(
            "load = 0.5\nrouting = \"minimal\"\ntopology.jellyfish = { routers = 2050, degree = 3 }\n",
            &[]
        ),
        "line 3, column 10: topology.jellyfish.ties = \"spread\": the network has 2050 routers, and to spread the paths of more than 2048 \
         over the links would take too long; valid: \"first\", \"hash\", or at most 2048 routers"
    );
}

/// The message about a fabric of two leaf switches below two spines, some of which are out of order, with other overrides besides.
fn fabric_without(fault: &str, others: &[&str]) -> String {
    let text = "router = \"infiniband\"\njobs = [{ flows = [{ source = 0, destination = 1 }] }]\n\
        topology.xgft = { children = [2, 2], parents = [1, 2] }\n";
    let said = message_of(text, &[&[&*format!("faults=[{{ {fault} }}]")], others].concat());
    said.replace(" (override)", "")
}

#[test]
fn links_of_a_fabric_that_are_out_of_order() {
    let with = fabric_without;
    assert_eq!(with("links = { between = [[0, 2]] }", &[]), "accepted");
    assert_eq!(with("routers = [2]", &[]), "accepted");
    assert_eq!(
        with("links = { between = [[0, 2], [0, 3]] }", &[]),
        "faults: without these links the network falls apart: from router 0 there is no way to routers 1, 2 and 3; \
         valid: fewer links, other ones, or another seed of the draw"
    );
    assert_eq!(
        with("links = { between = [[0, 1]] }", &[]),
        "faults.0.links.between.0 = [0, 1]: no link joins the two routers; valid: two routers that a link joins which is in order"
    );
    assert_eq!(
        with("routers = [0], unreachable = \"drop\"", &[]),
        "faults.0.unreachable = \"drop\": forwarding tables of an InfiniBand fabric lead to every node; valid: refuse, or no such key"
    );
    assert_eq!(
        with("links = { between = [[0, 2]] }, at = 5", &[]),
        "faults.0.at: an InfiniBand fabric has no cycles; valid: no such key; faults.0.time"
    );
    assert_eq!(
        with("routers = [2]", &["router.infiniband.forwarding={ tables = [[0]] }"]),
        "router.infiniband.forwarding: the tables that are given know of no links that are out of order; \
         valid: minimal, min_hop or up_down, or no such key as faults"
    );
    assert_eq!(
        with("links = { between = [[0, 2]] }, slowdown = 4", &[]),
        "faults.0.slowdown: links of an InfiniBand fabric keep their speed; valid: no such key; router.infiniband.links says how fast \
         each is"
    );
    assert_eq!(with("routers = [2]", &["topology={ fat_tree = { k = 2, levels = 2 } }"]), "accepted");
}

#[test]
fn links_of_a_fabric_that_fail_in_the_middle_of_a_run() {
    let timed = |time: &str, others: &[&str]| {
        fabric_without(&format!("links = {{ between = [[0, 2]] }}, time = {{ {time} }}"), others)
    };
    let window = "measure.time.window=\"1 ms\"";
    assert_eq!(timed("at = '20 us', until = '30 us'", &[window]), "accepted");
    assert_eq!(
        timed("detection = '1 us'", &[window]),
        "faults.0.time: links that are out of order from the beginning to the end have no times; \
         valid: no such key, or at or until in it"
    );
    assert_eq!(
        timed("at = '20 us', until = '20 us'", &[window]),
        "faults.0.time.until = \"20 us\": links are repaired after they have failed, at 20 us; valid: a later time, or no such key: never"
    );
    assert_eq!(
        timed("at = '20 s'", &[window]),
        "faults.0.time.at = \"20 s\": the run has ended before; valid: a time before the end of the window, or no such key"
    );
    assert_eq!(
        timed("at = '20'", &[window]),
        "faults.0.time.at = \"20\": is not a number and a unit; valid: a decimal number and ps, ns, us, ms, s"
    );
    // The first link is missing in the tables from 71 us on, although it has been repaired, and the second one for good.
    assert_eq!(
        timed(
            "at = '20 us', until = '30 us' } }, { links = { between = [[0, 3]] }, time = { at = '29 us', reroute = '0.5 us'",
            &[window]
        ),
        "faults: without these links the network falls apart: from router 0 there is no way to routers 1, 2 and 3 (in the tables of \
         71 us); valid: fewer links, other ones, or another seed of the draw"
    );
    assert_eq!(
        timed("at = '20 us' }, reaction = { reroute = 5", &[window]),
        "faults.0.reaction.reroute: an InfiniBand fabric has no cycles; valid: no such key; faults.0.time"
    );
    assert_eq!(
        timed("at = '20 us' }, reaction = { retransmit = { timeout = 1, most = 1 }", &[window]),
        "faults.0.reaction.retransmit: hosts of an InfiniBand fabric send nothing again; valid: no such key"
    );
    assert_eq!(
        timed("at = '20 us'", &["jobs=[{ program = { collective = { kind = 'barrier' } } }]"]),
        "jobs.0.program: a program waits for its messages, and where links fail in the middle of a run packets may be lost; \
         valid: other jobs, or no such key as faults.0.time"
    );
    assert_eq!(
        graph(&RING, &["faults=[{ links = { between = [[0, 1]] }, time = { at = '1 us' } }]"]),
        "faults.0.time (override): is for fabrics of InfiniBand or Ethernet; valid: at, until and reaction, or router.infiniband or router.ethernet"
    );
}

#[test]
fn ports_of_a_fabric_that_are_exceptions() {
    let text = "router = \"infiniband\"\ntopology.fat_tree = { k = 2, levels = 2 }\n\
        jobs = [{ flows = [{ source = 0, destination = 1 }] }]\n";
    let path = "router.infiniband.congestion_control.exceptions";
    let names = "names no ports, or names them twice; valid: ports = \"hosts\", switch = 3, switch = 3 with ports or port = 0, node = 5, \
        or between = [0, 1]";
    for (value, expected) in [
        ("{ packet_size = 1 }", format!("0: {names}")),
        ("{ node = 1, switch = 1, packet_size = 1 }", format!("0: {names}")),
        ("{ port = 1, packet_size = 1 }", format!("0: {names}")),
        ("{ switch = 0, port = 1, ports = 'hosts', packet_size = 1 }", format!("0: {names}")),
        ("{ node = 4, packet_size = 1 }", "0.node = 4: the network has 4 nodes; valid: 0 … 3".into()),
        ("{ switch = 4, packet_size = 1 }", "0.switch = 4: the network has 4 switches; valid: 0 … 3".into()),
        (
            "{ switch = 1, port = 4, packet_size = 1 }",
            "0.port = 4: switch 1 has 4 ports that are plugged; valid: 0 … 3".into(),
        ),
        (
            "{ switch = 3, ports = 'hosts', packet_size = 1 }",
            "0.ports = \"hosts\": switch 3 has no port to a host; valid: \"switches\"".into(),
        ),
        (
            "{ between = [0, 1], packet_size = 1 }",
            "0.between = [0, 1]: no link joins these switches; valid: two switches that a link joins".into(),
        ),
        (
            "{ node = 1, marking_rate = 1 }, { node = 2 }",
            "1: sets nothing for its ports; valid: thresholds, victim_mask, marking_rate or packet_size".into(),
        ),
        (
            "{ node = 1, thresholds = { weight = 16 } }",
            "0.thresholds.weight = 16: out of range; valid: 0 … 15".into(),
        ),
        (
            "{ node = 1, thresholds = { weight = 1, high = '1 MTU' } }",
            "0.thresholds.weight: stands for high, which is given, too; valid: one of the two".into(),
        ),
        (
            "{ node = 1, thresholds = { high = '0.5 MTU' } }",
            "0.thresholds.low = \"0.9 MTU\": is above the upper threshold, \"0.5 MTU\"; valid: at most 1024 B".into(),
        ),
        (
            "{ node = 1, victim_mask = 'some' }",
            "0.victim_mask = \"some\": no such choice; valid: hosts, all, none".into(),
        ),
    ] {
        let said = message_of(text, &[&format!("{path}=[{value}]")]).replace(" (override)", "");
        assert_eq!(said, format!("{path}.{expected}"));
    }
}

#[test]
fn links_to_nodes_where_nodes_go_on_when_a_packet_has_left() {
    let late = |text: &str| after(&format!("[links]\nejection = {{ latency = 2 }}\n{text}"));
    assert_eq!(late(""), "accepted");
    for (text, reason) in [
        (
            "[router.cioq]\nvcs = { injection = 2 }\n[[jobs]]\ntraffic = { request_reply = {} }",
            "nodes answer a request when it has left for them",
        ),
        (
            "[units]\ncycle = \"1 ns\"\nphit = \"4 B\"\n[[jobs]]\nprogram.collective = { kind = \"barrier\" }\n[[jobs]]\nplacement = { list = [70, 71] }",
            "programs go on when a packet has left for its node",
        ),
    ] {
        assert_eq!(
            late(text),
            format!("line 8, column 14: links.ejection.latency = 2: {reason}; valid: 1"),
            "{text}"
        );
    }
    assert_eq!(
        after("[links]\nejection = { latency = 0 }"),
        "line 8, column 14: links.ejection.latency = 0: out of range; valid: 1 … 60000"
    );
}

#[test]
fn bursts_in_step_over_long_links_to_nodes() {
    let text = "[topology.dragonfly]\np = 2\na = 4\nh = 2\n[links]\nejection = { latency = 2 }\n[[jobs]]\n\
                traffic = { process = { synchronised_bursts = { packets = 3 } } }";
    assert_eq!(
        message_of(text, &[]),
        "line 6, column 14: links.ejection.latency = 2: bursts begin when the last packet has left for its node; valid: 1"
    );
}

#[test]
fn packets_that_are_given_one_by_one() {
    let network = "topology.mesh.sides = [2, 2]\nmeasure = { warmup = 0, cycles = 100 }\n";
    let of = |list: &str, more: &str| {
        let text = format!("{network}[[jobs]]\ntraffic.packet_list = {list}\n{more}");
        let message = message_of(&text, &[]);
        let place = message.split_once(": ").filter(|(place, _)| place.starts_with("line "));
        place.map_or(message.clone(), |(_, rest)| rest.into())
    };
    let packet = "[{ cycle = 3, source = 0, destination = 1, length = 4 }]";
    assert_eq!(of(packet, ""), "accepted");
    assert_eq!(of(packet, "traffic.packet_length = 2"), "accepted");
    for (key, value) in [
        ("pattern", "\"uniform\""),
        ("process", "\"bernoulli\""),
        ("node_loads", "{ equal = {} }"),
        ("packet_lengths", "[{ length = 1, weight = 1.0 }, { length = 2, weight = 1.0 }]"),
        ("changes", "[{ cycle = 5, pattern = \"uniform\" }]"),
        ("request_reply", "{}"),
    ] {
        let message = of(packet, &format!("traffic.{key} = {value}"));
        let expected = "packet_list says which packets there are; valid: no such key, or no packet_list";
        assert!(
            message.starts_with(&format!("jobs.0.traffic.{key}")) && message.ends_with(expected),
            "{message}"
        );
    }
    let path = "jobs.0.traffic.packet_list";
    for (list, expected) in [
        (
            "[]",
            ": names no packet; valid: a list of { cycle, source, destination, length } tables, or a pattern",
        ),
        (
            "[{ cycle = 100, source = 0, destination = 1 }]",
            ".0.cycle = 100: the run ends before; valid: 0 … 99, or a longer measure.cycles",
        ),
        (
            "[{ cycle = 1, source = 0, destination = 1 }, { cycle = 1, source = 4, destination = 1 }]",
            ".1.source = 4: the job has no such node; valid: the number of a node of the job",
        ),
        (
            "[{ cycle = 1, source = 2, destination = 2 }]",
            ".0.destination = 2: nodes do not send to themselves; \
             valid: another node of the job, or semantics.self_traffic = \"router\"",
        ),
        (
            "[{ cycle = 1, source = 2, destination = 1, length = 0 }]",
            ".0.length = 0: out of range; valid: 1 … 4096",
        ),
        ("{ file = \"packets.csv\" }", ".file = \"packets.csv\": cannot be read here"),
    ] {
        assert_eq!(of(list, ""), format!("{path}{expected}"));
    }
    assert_eq!(
        message_of(&format!("load = 0.1\n{network}[[jobs]]\ntraffic.packet_list = {packet}\n"), &[]),
        "line 1, column 1: load = 0.1: jobs.0.traffic.packet_list says which packets there are; valid: no such key"
    );
}
