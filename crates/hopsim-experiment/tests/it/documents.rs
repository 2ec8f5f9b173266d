//! What documents are accepted, and the points they make.

use hopsim_cycles::choices::InjectionCount;
use hopsim_experiment::config::{Experiment, SourceQueue};
use hopsim_experiment::document::{self, Point};
use hopsim_experiment::plan::Plan;
use hopsim_network::error::Origin;
use hopsim_routing::RoutingConfig;
use serde_json::{Value, json};

/// The example of the design: every section, explicit loads, a product.
const DESIGN: &str = r#"
[topology.dragonfly]
p = 8
a = 16
h = 8
arrangement = "palmtree"

[links]
local  = { latency = 10 }
global = { latency = 100 }

[router.cioq]
vcs = { local = 2, global = 1, injection = 3 }
buffers = { local = 32, global = 256, injection = 256, output = 32 }   # phits
speedup = 2
crossbar_latency = 3
allocator = { iterations = 2, input_arbiter = "round_robin", output_arbiter = "round_robin", transit_priority = false }

[routing.minimal]

[[jobs]]
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.5 } }, packet_length = 8 }

[measure]
warmup = 60_000
cycles = 60_000
seed = 1

[sweep]
product = { "jobs.0.traffic.process.bernoulli.load" = [0.1, 0.2, 0.3], "measure.seed" = [1, 2, 3] }
"#;

/// Every key of the document.
const FULL: &str = r#"
compat = "fogsim"
load = 0.5

[topology.dragonfly]
p = 2
a = 4
h = 2
groups = 9
arrangement = "palmtree"

[links]
injection = { latency = 1 }
ejection = { latency = 1 }
local  = { latency = 10 }
global = { latency = 100 }

[router.cioq]
vcs = { local = 8, global = 4, injection = 3 }
buffers = { local = 32, global = 256, injection = 256, output = 32 }
speedup = 2
crossbar_latency = 3
pipeline_latency = 0
allocator = { iterations = 2, input_arbiter = "least_recently_served", output_arbiter = { age = { timestamp = "injection" } }, transit_priority = true }

[routing.valiant]
intermediate = "node"
policy = "crg"
recompute = true
intermediate_groups = "any"
intra_group = "local"

[nic]
source_queue = { packets = 4 }
injection_vc = "random"

[semantics]
ejection = "idle_node"
output_hold = "speedup"
input_pointer = "request"
injection_link = "unlimited"
injection_count = "buffer"
injection_latency = "departure"
self_traffic = "router"
hop_count = "routers"

[[jobs]]
name = "main"
placement = { groups = { first = 0, count = 4 } }
traffic = { pattern = { mix = [{ weight = 0.5, pattern = "UN" }, { weight = 1, pattern = "ADV-local" }] }, process = "bernoulli", packet_length = 8 }

[[jobs]]
name = "other"
placement = { random_nodes = { count = 8 } }
traffic = { pattern = "random_permutation", process = { bursty = { burst_length = 3 } }, changes = [{ cycle = 150, pattern = "UN", load = 0.2 }], request_reply = { outstanding = 5 } }

[measure]
warmup = 100
cycles = 100
seed = 1
batches = 10
interval = 10
streams = ["nodes", "routers", "links", "generation", "occupancy", "latency_histogram"]
watchdog = 10_000

[sweep]
product = { "load" = [0.1, 0.2], "measure.seed" = [1, 2, 3] }
zip = { "links.local.latency" = [5, 10], "links.global.latency" = [50, 100] }
"#;

/// A small experiment; keys of tables may follow it.
const SMALL: &str = "load = 0.5\n[topology.dragonfly]\np = 2\na = 4\nh = 2\n";

fn points(text: &str, overrides: &[(&str, &str)]) -> Vec<Point> {
    let owned: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    document::points(text, &owned).unwrap_or_else(|error| panic!("{error}\nin {text}"))
}

/// The only point of a document, as JSON.
fn resolved(text: &str, overrides: &[(&str, &str)]) -> Value {
    let points = points(text, overrides);
    assert_eq!(points.len(), 1);
    serde_json::to_value(&points[0].experiment).unwrap()
}

fn axis(points: &[Point], index: usize) -> Vec<String> {
    points.iter().map(|point| point.axes[index].1.to_string()).collect()
}

#[test]
fn the_example_of_the_design_makes_nine_points() {
    let points = points(DESIGN, &[]);
    assert_eq!(axis(&points, 0), ["0.1", "0.1", "0.1", "0.2", "0.2", "0.2", "0.3", "0.3", "0.3"]);
    assert_eq!(axis(&points, 1), ["1", "2", "3", "1", "2", "3", "1", "2", "3"]);
    assert_eq!(points[0].axes[0].0, "jobs.0.traffic.process.bernoulli.load");
}

#[test]
fn every_key_is_accepted_and_zipped_lists_vary_fastest() {
    let points = points(FULL, &[]);
    assert_eq!(points.len(), 12);
    let names: Vec<&str> = points[0].axes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["load", "measure.seed", "links.local.latency", "links.global.latency"]);
    assert_eq!(axis(&points, 2)[..4], ["5", "10", "5", "10"]);
    assert_eq!(axis(&points, 3)[..4], ["50", "100", "50", "100"]);
    assert_eq!(points[2].experiment.measure.seed, 2);
}

#[test]
fn every_default_is_filled_in() {
    let point = resolved(SMALL, &[]);
    assert_eq!(point["topology"]["dragonfly"]["groups"], 9);
    assert_eq!(point["links"]["global"]["latency"], 100);
    assert_eq!(point["links"]["local"]["latency"], 10);
    let vcs = json!({
        "local": 2, "global": 1, "injection": 3, "allow_deadlock": false, "management": { "increasing": {} },
    });
    assert_eq!(point["router"]["cioq"]["vcs"], vcs);
    assert_eq!(point["semantics"]["ejection"], "link");
    assert_eq!(point["jobs"][0]["name"], "job0");
    assert_eq!(point["jobs"][0]["traffic"]["process"]["bernoulli"]["load"], 0.5);
    assert_eq!(point.get("load"), None);
    assert_eq!(point.get("sweep"), None);
}

#[test]
fn a_preset_sets_defaults_and_explicit_keys_win() {
    let text = format!("compat = \"fogsim\"\n{SMALL}[semantics]\ninjection_count = \"network\"\n");
    let experiment = &points(&text, &[])[0].experiment;
    assert_eq!(experiment.nic.source_queue, Some(SourceQueue::Packets(0)));
    assert_eq!(experiment.semantics.injection_count, Some(InjectionCount::Network));
}

#[test]
fn a_choice_may_be_written_as_its_name() {
    for (path, short, long) in [
        ("routing", "valiant", "{ valiant = {} }"),
        ("router", "input_queued", "{ input_queued = {} }"),
        ("router.cioq.allocator.input_arbiter", "age", "{ age = { timestamp = \"generation\" } }"),
        ("jobs.0.placement", "all", "{ all = {} }"),
        ("jobs.0.traffic.pattern", "random_permutation", "{ random_permutation = {} }"),
        ("jobs.0.traffic.process", "bursty", "{ bursty = { burst_length = 5 } }"),
        (
            "jobs.0.traffic.changes",
            "[{ cycle = 10000, pattern = \"ADV+1\" }]",
            "[{ cycle = 10000, pattern = { adversarial = { offset = 1 } } }]",
        ),
        ("jobs.0.traffic.pattern", "un", "\"uniform\""),
        ("jobs.0.traffic.pattern", "ADV+3", "{ adversarial = { offset = 3 } }"),
        ("jobs.0.traffic.pattern", "Adv+H", "{ adversarial = { offset = \"h\" } }"),
        ("jobs.0.traffic.pattern", "ADVc", "{ adversarial_consecutive = {} }"),
        ("jobs.0.traffic.pattern", "ADV-local", "{ adversarial_local = {} }"),
    ] {
        assert_eq!(resolved(SMALL, &[(path, short)]), resolved(SMALL, &[(path, long)]), "{short}");
    }
}

#[test]
fn an_override_may_name_what_the_document_leaves_out() {
    let changes = [
        ("routing.valiant.policy", "crg"),
        ("router.input_queued.crossbar_latency", "1"),
        ("jobs.0.traffic.packet_length", "16"),
        ("measure.streams", "[\"nodes\"]"),
        ("links.local.latency", " 7 "),
    ];
    let point = resolved(SMALL, &changes);
    assert_eq!(point["routing"]["valiant"]["policy"], "crg");
    assert_eq!(point["router"]["input_queued"]["crossbar_latency"], 1);
    assert_eq!(point["jobs"][0]["traffic"]["packet_length"], 16);
    assert_eq!(point["measure"]["streams"], json!(["nodes"]));
    assert_eq!(point["links"]["local"]["latency"], 7);
}

#[test]
fn a_choice_written_as_a_name_can_be_given_parameters() {
    let point = resolved(&format!("routing = \"valiant\"\n{SMALL}"), &[("routing.valiant.policy", "nrg")]);
    assert_eq!(point["routing"]["valiant"]["policy"], "nrg");
}

#[test]
fn overrides_win_in_their_order() {
    let point =
        resolved(SMALL, &[("measure.seed", "3"), ("measure", "{ warmup = 5 }"), ("measure.cycles", "70")]);
    assert_eq!(point["measure"]["seed"], 1);
    assert_eq!(point["measure"]["warmup"], 5);
    assert_eq!(point["measure"]["cycles"], 70);
}

#[test]
fn an_overridden_key_is_not_swept_any_more() {
    let seeds = points(DESIGN, &[("jobs.0.traffic.process.bernoulli.load", "0.9")]);
    assert_eq!(axis(&seeds, 0), ["1", "2", "3"]);
    assert_eq!(points(DESIGN, &[("measure", "{ cycles = 50 }")]).len(), 3);
}

#[test]
fn the_shorthand_load_as_an_override_or_a_sweep_replaces_the_loads_of_the_jobs() {
    let seeds = points(DESIGN, &[("load", "0.9")]);
    assert_eq!(axis(&seeds, 0), ["1", "2", "3"]);
    let loads = points(DESIGN, &[("sweep.product", "{ load = [0.25, 0.75] }")]);
    assert_eq!(axis(&loads, 0), ["0.25", "0.75"]);
    for point in seeds {
        let job = serde_json::to_value(&point.experiment.jobs[0]).unwrap();
        assert_eq!(job["traffic"]["process"]["bernoulli"]["load"], 0.9);
    }
}

#[test]
fn the_load_of_a_job_as_an_override_stands_beside_the_shorthand() {
    let loads = |text: &str, overrides: &[(&str, &str)]| -> Vec<f64> {
        let jobs = resolved(text, overrides)["jobs"].as_array().unwrap().clone();
        jobs.iter().map(|job| job["traffic"]["process"]["bernoulli"]["load"].as_f64().unwrap()).collect()
    };
    let path = "jobs.0.traffic.process.bernoulli.load";
    assert_eq!(loads(SMALL, &[(path, "0.9")]), [0.9]);
    assert_eq!(loads(SMALL, &[(path, "0.9"), ("load", "0.2")]), [0.2]);
    assert_eq!(loads(SMALL, &[("load", "0.2"), (path, "0.9")]), [0.9]);
    assert_eq!(
        loads(SMALL, &[("jobs", "[{ traffic = { process = { bernoulli = { load = 0.1 } } } }]")]),
        [0.1]
    );
    let two = |first: &str| {
        format!(
            "{SMALL}[[jobs]]\nplacement = {{ groups = {{ count = 4 }} }}\n{first}[[jobs]]\nplacement = {{ random_nodes = {{ count = 9 }} }}"
        )
    };
    assert_eq!(loads(&two(""), &[(path, "0.9")]), [0.9, 0.5]);
    assert_eq!(loads(&two(""), &[("jobs.1.traffic.process", "{ bernoulli = { load = 0 } }")]), [0.5, 0.0]);
    assert_eq!(loads(&two("traffic = { process = \"bernoulli\" }\n"), &[(path, "0.9")]), [0.9, 0.5]);
}

#[test]
fn a_sweep_may_vary_whole_choices_and_nest_its_keys() {
    let text = format!(
        "{SMALL}[sweep.product]\nrouting = [\"minimal\", {{ valiant = {{ policy = \"crg\" }} }}]\nmeasure.seed = [4, 5]"
    );
    let points = points(&text, &[]);
    assert_eq!(axis(&points, 1), ["4", "5", "4", "5"]);
    assert_eq!(points[2].axes[1].0, "measure.seed");
    assert!(matches!(points[1].experiment.routing, RoutingConfig::Minimal(_)));
    assert!(matches!(points[2].experiment.routing, RoutingConfig::Valiant(_)));
}

#[test]
fn axes_are_those_of_the_points() {
    for text in [DESIGN, FULL, SMALL] {
        let of_points: Vec<_> = points(text, &[]).into_iter().map(|point| point.axes).collect();
        let axes = document::axes(text, &[]).unwrap();
        assert_eq!(axes.into_iter().map(|(values, _)| values).collect::<Vec<_>>(), of_points);
    }
}

#[test]
fn labels_name_the_values_of_swept_keys_in_their_order() {
    let text = format!(
        "{SMALL}[sweep]\nproduct = {{ routing = [\"valiant\", \"minimal\"], load = [0.1, 0.2] }}\n\
         zip = {{ \"measure.seed\" = [1, 2], \"measure.warmup\" = [3, 3] }}\n\
         [sweep.labels]\nrouting = [\"VAL\", \"MIN\"]\nmeasure.warmup = [\"a\", \"\"]"
    );
    let labels = |overrides: &[(&str, &str)]| {
        let overrides: Vec<_> = overrides.iter().map(|&(p, v)| (p.to_owned(), v.to_owned())).collect();
        let axes = document::axes(&text, &overrides).unwrap().into_iter();
        axes.map(|(_, labels)| labels.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join("|"))
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(&[]), ["VAL|a", "VAL|", "VAL|a", "VAL|", "MIN|a", "MIN|", "MIN|a", "MIN|"]);
    assert_eq!(labels(&[("routing", "minimal"), ("load", "0.1")]), ["a", ""]);
    assert_eq!(labels(&[("sweep.labels.routing", "[\"V\", \"M\"]"), ("load", "0")])[2..], ["M|a", "M|"]);
}

#[test]
fn an_empty_sweep_is_one_point() {
    for sweep in ["[sweep]", "[sweep.product]", "[sweep]\nproduct = {}\nzip = {}"] {
        let points = points(&format!("{SMALL}{sweep}"), &[]);
        assert_eq!((points.len(), points[0].axes.len()), (1, 0));
    }
}

/// A resolved point comes back from JSON as it was, and resolving it again changes nothing.
pub fn assert_settled(experiment: &Experiment) {
    let text = serde_json::to_string(experiment).unwrap();
    assert_eq!(&document::from_json(&text).unwrap(), experiment);
    assert_eq!(&Plan::new(experiment).unwrap().experiment, experiment);
}

#[test]
fn resolved_points_are_settled() {
    for point in [DESIGN, FULL, SMALL].into_iter().flat_map(|text| points(text, &[])) {
        assert_settled(&point.experiment);
    }
}

#[test]
fn the_schema_documents_every_key() {
    fn undocumented(node: &Value, path: &str, found: &mut Vec<String>) {
        let properties = node.get("properties").and_then(Value::as_object);
        for (key, child) in properties.into_iter().flatten() {
            let in_choice = node.get("description").is_some() && node["required"] == json!([key]);
            if child.get("description").is_none() && !in_choice {
                found.push(format!("{path}.{key}"));
            }
            undocumented(child, &format!("{path}.{key}"), found);
        }
        for branch in node.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            undocumented(branch, path, found);
        }
    }
    let mut found = Vec::new();
    undocumented(document::schema(), "", &mut found);
    for (name, definition) in document::schema()["$defs"].as_object().unwrap() {
        undocumented(definition, name, &mut found);
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn what_a_sweep_replaces_must_be_valid() {
    let mesh = "topology.mesh.sides = [4, 4]\n";
    let cases = [
        ("measure = \"nonsense\"", "\"measure.seed\" = [1, 2]", "measure"),
        ("load = 2.0", "load = [0.1, 0.2]", "load"),
        ("load = 2.0", "load = [0.1]", "load"),
        ("measure.cycles = 0", "\"measure.cycles\" = [100, 200]", "measure.cycles"),
        ("measure.sed = 1", "measure = [{ seed = 1 }]", "measure.sed"),
        ("routing.valiant.nonsense = 1", "routing = [\"minimal\", \"valiant\"]", "routing.valiant.nonsense"),
        ("routing = \"minimum\"", "routing = [\"minimal\", \"valiant\"]", "routing"),
        ("links = 3", "\"links.network.latency\" = [1, 2]", "links"),
        (
            "router.cioq.buffers.damq = {}",
            "router = [\"input_queued\"]",
            "router.cioq.buffers.damq.local_reserve",
        ),
        (
            "jobs = [{ traffic.process.bernoulli.load = 2.0 }]",
            "load = [0.1, 0.2]",
            "jobs.0.traffic.process.bernoulli.load",
        ),
    ];
    for (stated, swept, path) in cases {
        let text = format!("{mesh}{stated}\n[sweep.product]\n{swept}\n");
        let refused = document::points(&text, &[]).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert_eq!(refused.path, path, "{refused}\nin {text}");
        assert!(matches!(refused.origin, Origin::Text { .. }), "{refused}");
    }
}

#[test]
fn what_a_sweep_replaces_must_be_in_range_where_the_rest_is_no_experiment_yet() {
    let text = "measure.cycles = 0\n[sweep.product]\n\"topology.mesh.sides\" = [[4, 4]]\n\"measure.cycles\" = [100, 200]\n";
    let refused = document::points(text, &[]).expect_err("without topology nothing is planned");
    assert_eq!((&*refused.path, &*refused.reason), ("measure.cycles", "out of range"));
}

#[test]
fn what_the_sweep_alone_states_may_be_missing_without_it() {
    let text = "load = 0.1\ntopology.dragonfly = { p = 1, a = 2, h = 1 }\nrouter.cioq.buffers.damq.global_reserve = 1\n\
        [sweep.product]\nload = [0.1, 0.2]\n\"router.cioq.buffers.damq.local_reserve\" = [1, 2]\n";
    assert_eq!(document::points(text, &[]).map(|points| points.len()), Ok(4));
}

#[test]
fn what_an_override_puts_a_table_in_place_of_must_be_valid() {
    let refused = |stated: &str, set: &str, value: &str| {
        let text = format!("{stated}\nload = 0.1\ntopology.mesh.sides = [4, 4]\n");
        document::points(&text, &[(set.to_owned(), value.to_owned())]).err().map(|error| error.to_string())
    };
    assert_eq!(
        refused("measure = \"nonsense\"", "measure.seed", "1").unwrap(),
        "line 1, column 1: measure = \"nonsense\": must be a table, not a string; valid: { warmup = …, cycles = …, max_cycles = …, stop = …, … }"
    );
    let said = refused("routing = \"adaptve\"", "routing.valiant.policy", "rrg").unwrap();
    assert!(
        said.starts_with("line 1, column 1: routing = \"adaptve\": no such choice; did you mean"),
        "{said}"
    );
    assert_eq!(refused("router = \"cioq\"", "router.cioq.speedup", "2.0"), None);
    assert_eq!(refused("measure = {}", "measure.seed", "1"), None);
}

#[test]
fn what_only_a_sweep_states_may_be_missing() {
    for text in [
        "load = 0.1\n[sweep.product]\ntopology = [{ mesh = { sides = [4, 4] } }]\n",
        "load = 0.1\n[topology.mesh]\nnodes_per_router = 1\n[sweep.product]\n\"topology.mesh.sides\" = [[4, 4], [2, 2]]\n",
        "topology.mesh.sides = [4, 4]\n[sweep.product]\nload = [0.1, 0.2]\n",
        "load = 0.1\ntopology.mesh.sides = [4, 4]\nrouting = \"minimal\"\n[sweep.zip]\nrouting = [\"minimal\", \"adaptive\"]\n\
         \"router.input_queued.vcs.network\" = [1, 3]\n",
        "topology.mesh.sides = [4, 4]\n[[jobs]]\ntraffic.process.bernoulli.load = 0.5\n[sweep.product]\nload = [0.1, 0.2]\n",
    ] {
        assert!(!points(text, &[]).is_empty());
    }
}

#[test]
fn a_refusal_takes_no_longer_than_its_document() {
    // The time of a comparison of all with all would be minutes in a test that is not optimised.
    let count = 100_000;
    let jobs: Vec<String> = (0..count).map(|job| format!("[[jobs]]\nname = \"j{job}\"\n")).collect();
    let keys: Vec<String> = (0..count).map(|key| format!("\"a{key}\" = [1]\n")).collect();
    let seeds: Vec<String> = (0..count).map(|seed| seed.to_string()).collect();
    let names: Vec<String> = (0..count).map(|seed| format!("\"n{}\"", seed.min(count - 2))).collect();
    let mesh = "topology.mesh.sides = [4, 4]\n";
    for text in [
        format!("{mesh}{}", jobs.concat()),
        format!("{mesh}[sweep.product]\n{}", keys.concat()),
        format!(
            "{mesh}[sweep.product]\n\"measure.seed\" = [{}]\n[sweep.labels]\n\"measure.seed\" = [{}]\n",
            seeds.join(", "),
            names.join(", ")
        ),
    ] {
        assert!(document::points(&text, &[]).is_err());
    }
}

#[test]
fn vcs_of_replies_are_refused_where_vcs_have_no_order() {
    let text = "load = 0.1\ntopology.mesh.sides = [4, 4]\nrouter.input_queued.vcs.reply = { local = 1, global = 1 }\n";
    let refused = document::points(text, &[]).unwrap_err();
    assert_eq!(refused.path, "router.input_queued.vcs.reply", "{refused}");
}
