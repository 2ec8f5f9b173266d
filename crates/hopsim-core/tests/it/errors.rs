//! The whole text of every message about bad input: key, value, reason, what would be valid, place.

use hopsim_core::config::document;

/// A small valid experiment; what a test adds to it starts at line 7.
const VALID: &str = "\
load = 0.5

[topology.dragonfly]
p = 2
a = 4
h = 2
";

/// The message about `text`, with overrides written `path=value`.
fn message_of(text: &str, overrides: &[&str]) -> String {
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
         Valid: vcs, buffers, speedup, crossbar_latency, pipeline_latency, allocator"
    );
    assert_eq!(
        after("[measure]\nwarm-up = 3"),
        "line 8, column 1: measure.warm-up = 3: unknown key; did you mean `warmup`? \
         Valid: warmup, cycles, seed, batches, interval, streams, watchdog"
    );
}

#[test]
fn key_in_the_wrong_table() {
    assert_eq!(
        before("seed = 1"),
        "line 1, column 1: seed = 1: unknown key; did you mean `measure.seed`? \
         Valid: compat, load, topology, links, router, routing, nic, semantics, jobs, measure, sweep"
    );
    assert_eq!(
        after("[router]\ncioq = {}\nspeedup = 2"),
        "line 9, column 1: router.speedup = 2: unknown key; did you mean `router.cioq.speedup`? \
         Valid: cioq, input_queued"
    );
}

#[test]
fn unknown_choice() {
    assert_eq!(
        after("[routing.valient]"),
        "line 7, column 10: routing.valient: unknown key; did you mean `valiant`? Valid: minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
    );
    assert_eq!(
        before("routing = \"Minimall\""),
        "line 1, column 1: routing = \"Minimall\": no such choice; did you mean `minimal`? Valid: minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
    );
    assert_eq!(
        after("arrangement = \"absolute\""),
        "line 7, column 1: topology.dragonfly.arrangement = \"absolute\": no such choice; \
         valid: palmtree, consecutive"
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
        "line 8, column 10: routing.valiant: a second choice beside `minimal`; valid: one of minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
    );
    assert_eq!(
        before("routing = {}"),
        "line 1, column 1: routing = {}: names none of the choices; valid: minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
    );
}

#[test]
fn missing_key() {
    assert_eq!(
        message_of("load = 0.5", &[]),
        "topology: is missing; valid: one of the tables [topology.dragonfly]"
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
         valid: a list of nodes, routers, links, generation, occupancy, latency_histogram"
    );
    assert_eq!(
        after("[jobs]\nname = \"a\""),
        "line 7, column 2: jobs = { name = \"a\" }: must be a list, not a table; \
         valid: a list of tables, each under its own [[jobs]]"
    );
    assert_eq!(
        before("routing = 3"),
        "line 1, column 1: routing = 3: must be a name or a table, not an integer; valid: minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
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
        "line 8, column 1: measure.warmup = -5: must not be negative; valid: 0 … 3000000000"
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
        "sed = 3 (override): unknown key; did you mean `measure.seed`? \
         Valid: compat, load, topology, links, router, routing, nic, semantics, jobs, measure, sweep"
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
        message_of(&format!("{VALID}[routing.minimal]"), &["routing.valiant.policy=crg"]),
        "routing.valiant (override): a second choice beside `minimal`; valid: one of minimal, valiant, ugal, piggyback, source_adaptive, olm, par"
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
fn sweep_that_does_not_fit() {
    assert_eq!(
        after("[sweep]\nload = [0.1]"),
        "line 8, column 1: sweep.load = [0.1]: unknown key; did you mean `sweep.product.load`? Valid: product, zip"
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
         Valid: warmup, cycles, seed, batches, interval, streams, watchdog"
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
