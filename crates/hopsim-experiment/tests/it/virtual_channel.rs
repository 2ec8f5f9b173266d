//! Documents with virtual-channel routers: what they mean, and what they must not say.

use crate::errors::message_of;
use hopsim_cycles::choices::PortOrder;
use hopsim_cycles::system::{RouterPlan, VirtualChannelPlan};
use hopsim_experiment::plan::Plan;
use serde_json::{Value, json};

const MESH: &str = "load = 0.1\ntopology.mesh.sides = [4, 4]\n";
const TORUS: &str = "load = 0.1\ntopology.torus.sides = [4, 4]\n";
const DRAGONFLY: &str = "load = 0.1\ntopology.dragonfly = { p = 2, a = 4, h = 2 }\n";

/// The message, without its place, about a network with virtual-channel routers and more lines.
fn on(network: &str, lines: &str) -> String {
    let router = if lines.contains("router.virtual_channel") { "" } else { "router = \"virtual_channel\"\n" };
    let message = message_of(&format!("{network}{router}{lines}"), &[]);
    let place = message.split_once(": ").filter(|(place, _)| place.starts_with("line "));
    place.map_or(message.clone(), |(_, rest)| rest.into())
}

fn plan(router: &Value) -> Plan {
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } },
        "router": { "virtual_channel": router },
        "jobs": [{ "traffic": { "packet_length": 20 } }],
        "load": 0.1,
    });
    Plan::new(&serde_json::from_value(document).unwrap()).unwrap()
}

fn routers(plan: &Plan) -> VirtualChannelPlan {
    let RouterPlan::VirtualChannel(routers) = plan.system.router else { panic!("other routers") };
    routers
}

#[test]
fn a_document_says_the_delays_the_switching_and_the_buffers() {
    let plan = plan(&json!({
        "routing_delay": 2, "vc_allocation_delay": 3, "switch_traversal_delay": 4,
        "buffers": { "network": 5, "injection": 40 }, "vcs": { "network": 6 },
    }));
    let found = routers(&plan);
    assert_eq!(
        (found.routing_delay, found.vc_allocation_delay, found.switch_traversal_delay, found.whole_packets),
        (2, 3, 4, false)
    );
    let classes = &plan.system.network.classes;
    assert_eq!((classes.links[0].buffer, classes.links[0].vcs, classes.terminal.buffer), (5, 6, 40));
    let default = self::plan(&json!({}));
    let found = routers(&default);
    assert_eq!(
        (found.routing_delay, found.vc_allocation_delay, found.switch_traversal_delay, found.whole_packets),
        (1, 1, 1, false)
    );
    assert!(routers(&self::plan(&json!({ "switching": "virtual_cut_through" }))).whole_packets);
}

#[test]
fn a_document_with_every_default_filled_in_means_the_same() {
    let first = plan(&json!({}));
    let again = Plan::new(&first.experiment).unwrap();
    assert_eq!(first.experiment, again.experiment);
}

#[test]
fn delays_out_of_range() {
    for (key, value, valid) in [
        ("routing_delay", "10001", "0 … 10000"),
        ("vc_allocation_delay", "0", "1 … 10000"),
        ("switch_traversal_delay", "99999", "0 … 10000"),
        ("credit_delay", "10001", "0 … 10000"),
        ("crossbar_inputs", "17", "1 … 16"),
    ] {
        let message = on(MESH, &format!("router.virtual_channel.{key} = {value}"));
        assert_eq!(message, format!("router.virtual_channel.{key} = {value}: out of range; valid: {valid}"));
    }
}

#[test]
fn heads_that_need_a_credit_where_they_need_more_anyway() {
    for (key, reason, valid) in [
        ("switching = \"virtual_cut_through\"", "for the whole packet", "switching = \"wormhole\""),
        ("vc_reuse = \"credits\"", "of the output VC", "vc_reuse = \"tail\""),
    ] {
        let credits = if key.starts_with('s') { "credits" } else { "all credits" };
        assert_eq!(
            on(MESH, &format!("router.virtual_channel = {{ vc_needs_credit = true, {key} }}")),
            format!(
                "router.virtual_channel.vc_needs_credit = true: a head needs {credits} {reason} anyway; valid: false, or {valid}"
            )
        );
    }
    assert_eq!(on(MESH, "router.virtual_channel.vc_needs_credit = true"), "accepted");
}

#[test]
fn allocators_out_of_range_and_beside_each_other() {
    let range = "out of range; valid: 1 … 8";
    assert_eq!(
        on(MESH, "router.virtual_channel.vc_allocator.islip.iterations = 0"),
        format!("router.virtual_channel.vc_allocator.islip.iterations = 0: {range}")
    );
    assert_eq!(
        on(MESH, "router.virtual_channel.switch_allocator.pim.iterations = 9"),
        format!("router.virtual_channel.switch_allocator.pim.iterations = 9: {range}")
    );
    assert_eq!(
        on(MESH, "router.virtual_channel = { switch_allocator = \"pim\", arbiter = \"age\" }"),
        "router.virtual_channel.switch_allocator.pim: an allocator that picks at random has no arbiters that could look at \
         ages; valid: another allocator, or arbiter = \"round_robin\""
    );
    assert_eq!(
        on(MESH, "router.virtual_channel = { switch_allocator = \"wavefront\", switch_input = \"vc\" }"),
        "router.virtual_channel.switch_input = \"vc\": is about allocations that begin at the inputs, and this one of the \
         switch does not; valid: no such key, or switch_allocator = \"separable_input_first\""
    );
    assert_eq!(on(MESH, "router.virtual_channel.switch_input = \"output\""), "accepted");
    assert_eq!(
        on(
            MESH,
            "router.virtual_channel = { vc_allocator = \"wavefront\", switch_allocator.islip.iterations = 3 }"
        ),
        "accepted"
    );
}

#[test]
fn switching_that_does_not_exist_and_packets_without_room() {
    assert_eq!(
        on(MESH, "router.virtual_channel.switching = \"cut_through\""),
        "router.virtual_channel.switching = \"cut_through\": no such choice; \
         valid: wormhole, virtual_cut_through"
    );
    let short = "router.virtual_channel = { buffers = { network = 4 }, switching = \"virtual_cut_through\" }";
    assert_eq!(
        on(MESH, short),
        "router.virtual_channel.buffers.network = 4: virtual cut-through needs room for a whole packet of 8 phits; \
         valid: at least 8 phits"
    );
    assert_eq!(on(MESH, "router.virtual_channel = { buffers = { network = 1 } }"), "accepted");
    // Packets of patterns set out when there is room for a flit, replies and those of programs when there is room for all of them.
    let short = "router.virtual_channel.buffers.injection = 7\n";
    assert_eq!(on(MESH, short), "accepted");
    for (network, more, length) in [
        (DRAGONFLY, "[[jobs]]\ntraffic.request_reply = {}", 8),
        (
            "topology.mesh.sides = [4, 4]\nunits = { cycle = \"1 ns\", phit = \"4 B\" }\n",
            "[[jobs]]\nprogram.collective = { kind = \"alltoall\", bytes = 512 }",
            16,
        ),
    ] {
        assert_eq!(
            on(network, &format!("{short}{more}")),
            format!(
                "router.virtual_channel.buffers.injection = 7: a node that runs a program or answers requests needs room \
                 for a whole packet of {length} phits; valid: at least {length} phits"
            )
        );
    }
}

#[test]
fn ejection_vcs_are_as_many_as_injection_vcs_unless_a_document_says_otherwise() {
    let of = |vcs: &Value| {
        let classes = plan(&json!({ "vcs": vcs })).system.network.classes.clone();
        (classes.one_way, classes.ejection)
    };
    assert_eq!(of(&json!({ "injection": 5 })), (5, 5));
    assert_eq!(of(&json!({ "injection": 5, "ejection": 2 })), (2, 2));
    let document = json!({
        "topology": { "dragonfly": { "p": 2, "a": 4, "h": 2 } },
        "router": { "virtual_channel": { "vcs": { "injection": 4, "ejection": 3 } } },
        "jobs": [{ "traffic": { "request_reply": {} } }],
        "load": 0.1,
    });
    let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
    assert_eq!((plan.system.network.classes.one_way, plan.system.network.classes.ejection), (3, 4));
}

#[test]
fn ejection_vcs_out_of_range_and_of_other_routers() {
    for vcs in [0, 17] {
        let given = format!("router.virtual_channel.vcs.ejection = {vcs}");
        assert_eq!(on(MESH, &given), format!("{given}: out of range; valid: 1 … 16"));
    }
    for router in ["cioq", "input_queued"] {
        let given = format!("router.{router}.vcs.ejection = 2");
        let message = message_of(&format!("{MESH}{given}"), &[]);
        let message = message.split_once(": ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        assert_eq!(
            message,
            format!(
                "{given}: whole packets leave for a node one behind the other; \
                 valid: no such key, or router.virtual_channel"
            )
        );
    }
}

#[test]
fn speculation_that_comes_before_an_output_vc_or_that_an_allocator_ignores() {
    let given = "router.virtual_channel.speculation = \"equal\"";
    assert_eq!(
        on(MESH, &format!("{given}\nrouter.virtual_channel.vc_allocation_delay = 2")),
        format!(
            "{given}: a head that is granted the switch has no output VC yet where the allocation of output VCs takes \
             longer; valid: none, or vc_allocation_delay = 1"
        )
    );
    let given = "router.virtual_channel.speculation = \"firm_first\"";
    assert_eq!(
        on(MESH, &format!("{given}\nrouter.virtual_channel.switch_allocator = \"pim\"")),
        format!(
            "{given}: an allocator that picks at random serves nobody before others; \
             valid: none, equal, separate, or another switch_allocator"
        )
    );
    for (speculation, allocator) in [("equal", "pim"), ("separate", "pim"), ("firm_first", "islip")] {
        let router = format!("speculation = \"{speculation}\", switch_allocator = \"{allocator}\"");
        assert_eq!(on(MESH, &format!("router.virtual_channel = {{ {router} }}")), "accepted");
    }
}

#[test]
fn what_only_routers_of_whole_packets_have() {
    assert_eq!(
        on(MESH, "router.virtual_channel.crossbar_output = 2"),
        "router.virtual_channel.crossbar_output = 2: unknown key; did you mean \
         `crossbar_outputs`? Valid: vcs, buffers, switching, routing_delay, vc_allocation_delay, switch_allocation_delay, speedup, \
         switch_traversal_delay, credit_delay, vc_reuse, vc_needs_credit, empty_vcs_first, crossbar_inputs, crossbar_outputs, vc_allocator, \
         switch_allocator, switch_input, arbiter, speculation, hold_switch"
    );
    for (key, value, default) in [
        ("ejection", "idle_node", "link"),
        ("injection_link", "unlimited", "serial"),
        ("output_hold", "speedup", "transfer"),
        ("input_pointer", "request", "grant"),
    ] {
        assert_eq!(
            on(DRAGONFLY, &format!("semantics.{key} = \"{value}\"")),
            format!(
                "semantics.{key} = \"{value}\": is about routers through which whole packets move; \
                 valid: no such key, \"{default}\", or router.cioq or input_queued"
            )
        );
        assert_eq!(on(DRAGONFLY, &format!("semantics.{key} = \"{default}\"")), "accepted");
    }
    assert_eq!(
        on(DRAGONFLY, "compat = \"fogsim\""),
        "compat = \"fogsim\": FOGSim has no routers through which packets move flit by flit; \
         valid: no such key, or router.cioq or input_queued"
    );
    assert_eq!(
        on(MESH, "nic.control.sat = { l = 8, k = 8 }"),
        "nic.control.sat: injection is restricted by whole packets, which virtual-channel routers do \
         not have; valid: no such key, or router.cioq or input_queued"
    );
    for (stream, reason) in [
        ("output_queues", "virtual-channel routers have no output queues"),
        ("allocation", "the allocators of virtual-channel routers do not count requests"),
    ] {
        assert_eq!(
            on(MESH, &format!("measure.streams = [\"{stream}\"]")),
            format!("measure.streams.0 = \"{stream}\": {reason}; valid: no such stream, or router.cioq")
        );
    }
}

#[test]
fn mechanisms_that_need_sensors_or_room_for_whole_packets() {
    for (routing, reason) in [
        ("piggyback", "virtual-channel routers keep no marks of saturated links"),
        ("source_adaptive", "virtual-channel routers keep no marks of saturated links"),
        ("olm", "a packet that is misrouted in transit goes on only where there is room for all of it"),
        ("par", "a packet that is misrouted in transit goes on only where there is room for all of it"),
    ] {
        assert_eq!(
            on(DRAGONFLY, &format!("routing = \"{routing}\"")),
            format!(
                "routing.{routing}: {reason}; valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down, nue, valiant, ugal or fpar \
                 with virtual-channel routers, or router.cioq or input_queued"
            )
        );
    }
    for routing in ["minimal", "valiant", "ugal"] {
        assert_eq!(on(DRAGONFLY, &format!("routing = \"{routing}\"")), "accepted");
    }
}

#[test]
fn rings_have_datelines() {
    for lines in [
        "",
        "router.virtual_channel.vcs.rings = \"dateline\"",
        "router.virtual_channel.vcs = { network = 3, rings = { dateline = { class = \"dimension\" } } }",
        "routing = \"up_down\"",
        "routing = \"nue\"",
    ] {
        assert_eq!(on(TORUS, lines), "accepted", "{lines}");
    }
    assert_eq!(on("load = 0.1\ntopology.ring.routers = 5\n", ""), "accepted");
    assert_eq!(
        on(TORUS, "router.virtual_channel.vcs.network = 1"),
        "router.virtual_channel.vcs.network = 1: datelines divide the VCs of a link into two classes; valid: 2 … 16"
    );
    assert_eq!(
        on(TORUS, "router.virtual_channel.vcs.management = \"flexvc\""),
        "router.virtual_channel.vcs.management: a hop uses the VCs of its class, which the dateline says; valid: no such key"
    );
    assert_eq!(
        on(TORUS, "router.virtual_channel.vcs.rings = { dateline = { class = \"router\" } }"),
        "router.virtual_channel.vcs.rings.dateline.class = \"router\": no such choice; valid: crossing, dimension"
    );
    assert_eq!(
        on(MESH, "router.virtual_channel.vcs.rings = \"dateline\""),
        "router.virtual_channel.vcs.rings.dateline: the topology has no rings; \
         valid: no such key, or topology.torus or ring"
    );
}

#[test]
fn routings_that_do_not_go_dimension_by_dimension_have_no_datelines() {
    for routing in ["adaptive", "valiant", "ugal"] {
        assert_eq!(
            on(TORUS, &format!("routing = \"{routing}\"")),
            format!(
                "routing.{routing}: packets of a ring can wait for each other in a circle: virtual-channel routers prevent that by \
                 datelines, which are for packets that go dimension by dimension to their destination; valid: routing.minimal, \
                 routing.up_down or nue, topology.mesh, or router.cioq or input_queued"
            )
        );
        assert_eq!(
            on(TORUS, &format!("routing = \"{routing}\"\nrouter.virtual_channel.vcs.rings = \"dateline\"")),
            format!(
                "router.virtual_channel.vcs.rings.dateline: datelines are for packets that go dimension by dimension to their \
                 destination, and with routing {routing} they do not; valid: routing.minimal"
            )
        );
    }
}

#[test]
fn rings_have_no_bubbles_of_flits() {
    let refused = "router.virtual_channel.vcs.bubble: packets of a ring can wait for each other in a circle, and the bubble \
                   that prevents it is made of whole packets; valid: no such key with routing.minimal, which has datelines, 0 with \
                   vcs.allow_deadlock = true, routing.up_down or nue, topology.mesh, or router.cioq or input_queued";
    assert_eq!(on(TORUS, "router.virtual_channel.vcs.rings = \"bubble\""), refused);
    let one = refused.replacen("bubble:", "bubble = 1:", 1);
    assert_eq!(on(TORUS, "router.virtual_channel.vcs.bubble = 1"), one);
    assert_eq!(on(TORUS, "router.virtual_channel.vcs = { bubble = 1, rings = \"bubble\" }"), one);
    assert_eq!(
        on(TORUS, "router.virtual_channel.vcs = { bubble = 0, rings = \"dateline\" }"),
        "router.virtual_channel.vcs.bubble = 0: rings with datelines need no bubble; \
         valid: no such key, or no datelines (vcs.rings)"
    );
    // Without a word of rings a bubble of 0 means that there is none, and no datelines either.
    for rings in ["", ", rings = \"bubble\""] {
        let vcs = format!(
            "router.virtual_channel.vcs = {{ bubble = 0, allow_deadlock = true, network = 1{rings} }}"
        );
        assert_eq!(on(TORUS, &vcs), "accepted");
    }
}

#[test]
fn buffers_at_nodes_hold_what_their_flow_needs() {
    let size = "router.virtual_channel.buffers.ejection";
    assert_eq!(on(MESH, &format!("{size} = 1")), "accepted");
    assert_eq!(on(MESH, &format!("{size} = 0")), format!("{size} = 0: out of range; valid: 1 … 16777216"));
    let whole =
        "router.virtual_channel = { buffers = { ejection = 7 }, switching = \"virtual_cut_through\" }";
    assert_eq!(
        on(MESH, whole),
        format!(
            "{size} = 7: a head is granted an ejection VC if there is room for the whole packet; \
             valid: at least 8 flits, or switching = \"wormhole\""
        )
    );
    let message = message_of(&format!("{MESH}router.input_queued.buffers.ejection = 9\n"), &[]);
    assert!(
        message.ends_with(
            "router.input_queued.buffers.ejection = 9: nodes of routers through which whole packets move have no such \
             buffers; valid: no such key, or router.virtual_channel"
        ),
        "{message}"
    );
    // The link there and back, and the delay of the credit.
    let delays = json!({ "switch_traversal_delay": 4, "credit_delay": 3, "buffers": { "ejection": 5 } });
    let ejection = routers(&plan(&delays)).ejection.unwrap();
    assert_eq!((ejection.size, ejection.returns), (5, 5));
    assert!(routers(&plan(&json!({}))).ejection.is_none());
}

#[test]
fn ports_are_counted_as_in_booksim_where_a_document_or_compat_says_so() {
    let order = |lines: &str| {
        let text = format!("{MESH}router = \"virtual_channel\"\n{lines}");
        let points = hopsim_experiment::document::points(&text, &[]).unwrap();
        points[0].experiment.semantics.port_order
    };
    assert_eq!(order(""), Some(PortOrder::Topology));
    assert_eq!(order("compat = \"booksim\""), Some(PortOrder::Booksim));
    assert_eq!(order("compat = \"booksim\"\nsemantics.port_order = \"topology\""), Some(PortOrder::Topology));
    let message = message_of(&format!("{MESH}semantics.port_order = \"booksim\"\n"), &[]);
    assert!(
        message.ends_with(
            "semantics.port_order = \"booksim\": is about the allocators of virtual-channel routers; \
             valid: no such key, or router.virtual_channel"
        ),
        "{message}"
    );
}

#[test]
fn arbiters_that_an_allocator_could_not_have_are_refused() {
    for (arbiter, allocator, expected) in [
        (
            "hop_count",
            "switch_allocator = \"pim\"",
            "switch_allocator.pim: an allocator that picks at random lets nobody go before others; \
             valid: another allocator, or arbiter = \"round_robin\"",
        ),
        (
            "least_recently_served",
            "vc_allocator = \"wavefront\"",
            "vc_allocator.wavefront: has no arbiters that could know whom they have served; \
             valid: separable_input_first, separable_output_first or islip, or another arbiter",
        ),
        (
            "queue_length",
            "vc_allocator = \"maximum_size\"",
            "vc_allocator.maximum_size: an allocator that looks for the largest matching lets nobody go before others; \
             valid: another allocator, or arbiter = \"round_robin\"",
        ),
        (
            "fixed_priority",
            "switch_allocator = \"wavefront\"",
            "switch_allocator.wavefront: begins with another one in every cycle, whoever has the lowest number; \
             valid: separable_input_first, separable_output_first or islip, or another arbiter",
        ),
        (
            "random",
            "switch_allocator = \"pim\"",
            "switch_allocator.pim: an allocator that picks at random lets nobody go before others; \
             valid: another allocator, or arbiter = \"round_robin\"",
        ),
        (
            "priority",
            "switch_allocator = \"maximum_size\"",
            "switch_allocator.maximum_size: an allocator that looks for the largest matching lets nobody go before others; \
             valid: another allocator, or arbiter = \"round_robin\"",
        ),
        (
            "least_recently_served",
            "vc_allocator = \"lonely_output\"",
            "vc_allocator.lonely_output: has no arbiters that could know whom they have served; \
             valid: separable_input_first, separable_output_first or islip, or another arbiter",
        ),
    ] {
        let given = format!("router.virtual_channel = {{ arbiter = \"{arbiter}\", {allocator} }}");
        assert_eq!(on(MESH, &given), format!("router.virtual_channel.{expected}"));
    }
    for given in [
        "arbiter = \"queue_length\", switch_allocator = \"lonely_output\"",
        "arbiter = \"least_recently_served\", switch_allocator = \"islip\"",
        "arbiter = \"fixed_priority\", switch_allocator = \"islip\"",
        "arbiter = \"random\", vc_allocator = \"wavefront\"",
        "arbiter = \"priority\", switch_allocator = \"wavefront\"",
        "arbiter = \"hop_count\", vc_allocator = { wavefront = { next = \"grant\" } }",
        "speculation = \"pessimistic\"",
        "arbiter = { age = { timestamp = \"arrival\", by_flit = true } }",
        "arbiter = { age = { timestamp = \"injection\", donation = true } }",
    ] {
        assert_eq!(on(MESH, &format!("router.virtual_channel = {{ {given} }}")), "accepted");
    }
}

#[test]
fn priority_classes_are_refused_where_no_arbiter_looks_at_them() {
    let refused = "jobs.1.priority = 3: no arbiter of the routers looks at priority classes; \
                   valid: 0, or router.virtual_channel with arbiter = \"priority\"";
    for (router, expected) in [
        ("virtual_channel.arbiter = \"priority\"", "accepted"),
        ("virtual_channel = {}", refused),
        ("virtual_channel.arbiter = \"fixed_priority\"", refused),
        ("cioq = {}", refused),
        ("input_queued.allocator.output_arbiter = \"age\"", refused),
    ] {
        let of = |priority: u32| {
            let jobs = "placement.nodes = { first = 0, count = 4 }\n[[jobs]]\nplacement.nodes = { first = 4, count = 4 }";
            let message =
                message_of(&format!("{MESH}router.{router}\n[[jobs]]\n{jobs}\npriority = {priority}"), &[]);
            message.split_once(": ").map_or(message.clone(), |(_, rest)| rest.into())
        };
        assert_eq!(of(3), expected, "{router}");
        assert_eq!(of(0), "accepted", "{router}");
    }
    let classes = "router.virtual_channel.arbiter = \"priority\"\n[[jobs]]\npriority = 256";
    assert_eq!(on(MESH, classes), "jobs.0.priority = 256: out of range; valid: 0 … 255");
    let ideal = "topology.ideal = { nodes = 4, latency = 2 }\nunits = { cycle = \"1 ns\", phit = \"4 B\" }\n";
    let program = "[[jobs]]\npriority = 3\nprogram.collective = { kind = \"alltoall\", bytes = 8 }";
    assert!(message_of(&format!("{ideal}{program}"), &[]).contains("jobs.0.priority = 3: no arbiter"));
}

#[test]
fn jobs_that_run_keep_their_priority_classes() {
    let job = |name: &str, first: u32, priority: u32| json!({ "name": name, "placement": { "nodes": { "first": first, "count": 4 } }, "priority": priority });
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } }, "router": { "virtual_channel": { "arbiter": { "priority": {} } } },
        "jobs": [job("a", 0, 1), job("b", 4, 255), job("c", 8, 0)], "only": ["b", "c"], "load": 0.1,
    });
    let plan = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
    assert_eq!(plan.system.priorities, [255, 0]);
}

#[test]
fn empty_output_vcs_go_first_where_inputs_pick_one() {
    for (given, expected) in [
        (
            "vc_allocator = \"islip\"",
            "inputs of this VC allocator do not pick among the output VCs before these are asked; \
             valid: false, or vc_allocator = \"separable_input_first\"",
        ),
        (
            "vc_reuse = \"credits\"",
            "all output VCs that can be granted are empty anyway; valid: false, or vc_reuse = \"tail\"",
        ),
    ] {
        assert_eq!(
            on(MESH, &format!("router.virtual_channel = {{ empty_vcs_first = true, {given} }}")),
            format!("router.virtual_channel.empty_vcs_first = true: {expected}")
        );
    }
    assert_eq!(on(MESH, "router.virtual_channel.empty_vcs_first = true"), "accepted");
}

#[test]
fn shared_buffers_leave_each_vc_a_reserve_and_heads_need_to_know_of_no_more() {
    let shared = |more: &str| {
        let buffers = "buffers = { network = 8, damq = { reserve = 2 } }";
        on(MESH, &format!("router.virtual_channel = {{ vcs = {{ network = 4 }}, {buffers}, {more} }}"))
    };
    assert_eq!(shared(""), "accepted");
    for (given, expected) in [
        (
            "switching = \"virtual_cut_through\"",
            "a head needs room for the whole packet, which other VCs may take of what they share; valid: no such key, or \
             switching = \"wormhole\"",
        ),
        (
            "vc_reuse = \"credits\"",
            "a head needs all credits of the output VC, which other VCs may take of what they share; valid: no such key, or \
             vc_reuse = \"tail\"",
        ),
        (
            "empty_vcs_first = true",
            "a head needs to know which output VCs have all their credits, which other VCs may take of what they share; \
             valid: no such key, or empty_vcs_first = false",
        ),
    ] {
        assert_eq!(shared(given), format!("router.virtual_channel.buffers.damq: {expected}"));
    }
    for (reserve, network, valid) in [
        (3, 8, "1 … 2 flits, or a larger buffers.network"),
        (0, 8, "1 … 2 flits, or a larger buffers.network"),
        (1, 3, "a larger buffers.network"),
    ] {
        let buffers = format!("buffers = {{ network = {network}, damq = {{ reserve = {reserve} }} }}");
        assert_eq!(
            on(MESH, &format!("router.virtual_channel = {{ vcs = {{ network = 4 }}, {buffers} }}")),
            format!(
                "router.virtual_channel.buffers.damq.reserve = {reserve}: the network buffer of a port has room for {} flits per VC; \
                 valid: {valid}",
                network / 4
            )
        );
    }
}

#[test]
fn ages_of_flits_and_of_packets_behind_are_some_that_there_are() {
    for (given, expected) in [
        (
            "by_flit = true",
            "by_flit = true: flits have no time stamp of their own but that of their arrival in the router; \
             valid: false, or timestamp = arrival",
        ),
        (
            "timestamp = \"arrival\", donation = true",
            "donation = true: the first packet of an input VC is the one that came first; \
             valid: false, or timestamp = generation or injection",
        ),
    ] {
        let given = format!("router.virtual_channel = {{ arbiter = {{ age = {{ {given} }} }} }}");
        assert_eq!(on(MESH, &given), format!("router.virtual_channel.arbiter.age.{expected}"));
    }
}

#[test]
fn speedups_are_hundredths_and_output_queues_hold_some_flits() {
    let speedup = "router.virtual_channel.speedup";
    for accepted in ["1.0", "1.5", "8.0", "2"] {
        assert_eq!(on(MESH, &format!("{speedup} = {accepted}")), "accepted");
    }
    assert_eq!(on(MESH, &format!("{speedup} = 0.9")), format!("{speedup} = 0.9: out of range; valid: 1 … 8"));
    assert_eq!(
        on(MESH, &format!("{speedup} = 1.505")),
        format!("{speedup} = 1.505: is no multiple of 0.01; valid: such as 1.5 or 2.0")
    );
    let output = "router.virtual_channel.buffers.output";
    assert_eq!(on(MESH, &format!("{output} = 0")), format!("{output} = 0: out of range; valid: 1 … 4096"));
    let long =
        "router.virtual_channel = { speedup = 2.0, vcs = { network = 4 }, buffers = { network = 16385 } }";
    assert_eq!(
        on(MESH, long),
        "router.virtual_channel.buffers.network = 16385: with output queues a port has buffers for at most 65536 flits; \
         valid: at most 16384"
    );
    // The VCs of a port share one buffer, whose size the document states.
    let shared = |size: u32| {
        let buffers = format!("{{ network = {size}, damq.reserve = 1 }}");
        on(
            MESH,
            &format!(
                "router.virtual_channel = {{ speedup = 2.0, vcs = {{ network = 4 }}, buffers = {buffers} }}"
            ),
        )
    };
    assert_eq!(shared(65_536), "accepted");
    assert_eq!(
        shared(65_537),
        "router.virtual_channel.buffers.network = 65537: with output queues a port has buffers for at most 65536 flits; \
         valid: at most 65536"
    );
    let message = message_of(&format!("{MESH}router.input_queued.buffers.output = 9\n"), &[]);
    assert!(
        message.ends_with(
            "router.input_queued.buffers.output = 9: input-queued routers have no queues at their outputs; \
             valid: no such key, or router.cioq or router.virtual_channel"
        ),
        "{message}"
    );
    let queues = |router: &Value| routers(&plan(router)).output_queue;
    assert_eq!(queues(&json!({})), None);
    assert_eq!(queues(&json!({ "speedup": 2.0 })), Some(32));
    assert_eq!(queues(&json!({ "buffers": { "output": 3 } })), Some(3));
}

#[test]
fn two_orders_of_dimensions_need_two_dimensions_and_two_vcs() {
    let turn = "routing = \"o1turn\"\n";
    assert_eq!(on(MESH, turn), "accepted");
    for other in [TORUS, DRAGONFLY, "load = 0.1\ntopology.mesh.sides = [4]\n"] {
        assert_eq!(
            on(other, turn),
            "routing.o1turn: needs several dimensions whose links close no rings; \
             valid: topology.mesh or hyperx with two or more sides; routing.minimal"
        );
    }
    assert_eq!(
        on(MESH, &format!("{turn}router.virtual_channel.vcs.network = 1")),
        "router.virtual_channel.vcs.network = 1: the two orders of dimensions need a VC each; valid: 2 … 16"
    );
}

#[test]
fn stages_in_batches_are_for_routers_that_do_one_thing_in_a_cycle() {
    let batched = "semantics.stages = \"batched\"\n";
    let delay = "router.virtual_channel.switch_allocation_delay";
    assert_eq!(on(MESH, &format!("{batched}{delay} = 3")), "accepted");
    assert_eq!(on(MESH, &format!("compat = \"booksim\"\n{delay} = 3")), "accepted");
    assert_eq!(
        on(MESH, &format!("{delay} = 2")),
        format!(
            "{delay} = 2: in a pipeline a longer allocation of the switch is a longer way through it; \
             valid: 1, with a longer switch_traversal_delay, or semantics.stages = \"batched\""
        )
    );
    let more =
        |keys: &str| format!("{batched}router.virtual_channel = {{ switch_allocation_delay = 2, {keys} }}");
    assert_eq!(
        on(MESH, &more("hold_switch = true")),
        format!("{delay} = 2: a held switch is allocated in no time; valid: 1, or hold_switch = false")
    );
    assert_eq!(
        on(MESH, &more("speculation = \"equal\"")),
        format!(
            "{delay} = 2: a head that speculates is granted an output VC and the switch at once; \
             valid: 1, or speculation = \"none\""
        )
    );
    assert_eq!(
        on(MESH, &more("speedup = 2.0")),
        "semantics.stages = \"batched\": a router allocates several times in a cycle, and has stages of several cycles \
         that are no pipelines; valid: pipelined, delays of 1, or speedup = 1"
    );
    let message = message_of(&format!("{MESH}{batched}"), &[]);
    assert!(
        message.ends_with(
            "semantics.stages = \"batched\": is about the stages of virtual-channel routers; \
             valid: no such key, or router.virtual_channel"
        ),
        "{message}"
    );
    let router = json!({ "switch_traversal_delay": 20 });
    let document = json!({
        "topology": { "mesh": { "sides": [4, 4] } }, "router": { "virtual_channel": router },
        "semantics": { "stages": "batched" }, "load": 0.1,
    });
    let made = Plan::new(&serde_json::from_value(document).unwrap()).unwrap();
    assert_eq!(routers(&made).output_queue, Some(40), "all that crosses together has room");
    assert_eq!(routers(&plan(&router)).output_queue, None);
}
