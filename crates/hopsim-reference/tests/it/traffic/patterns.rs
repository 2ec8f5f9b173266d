//! To whom packets go: the share of every destination in closed form, from what `hopsim explain` says of the pattern.

use super::{plan_with, shuffle};
use hopsim_experiment::document::schema;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::{Interconnect, Topology};
use hopsim_random::{Purpose, Stream};
use hopsim_traffic::pattern::PatternConfig;
use hopsim_traffic::pattern::adversarial::Offset;
use hopsim_traffic::pattern::permutation::Config as Permutation;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Share of the packets of a node by destination; those to itself are sent only where nodes send to themselves.
type Shares = BTreeMap<u32, f64>;

/// A job on the network.
struct Job<'a> {
    plan: &'a Plan,
    number: usize,
    /// Whether nodes send to themselves.
    to_itself: bool,
}

impl Job<'_> {
    fn nodes(&self) -> &[u32] {
        self.plan.system.jobs[self.number].nodes()
    }

    fn router(&self, node: u32) -> u32 {
        node / self.plan.system.topology.nodes_per_router()
    }

    fn group(&self, node: u32) -> u32 {
        self.plan.system.topology.group(self.router(node))
    }

    /// Equal shares for the nodes of the job that are wanted, the source left out unless nodes send to themselves.
    fn equally(&self, from: u32, wanted: impl Fn(u32) -> bool) -> Shares {
        let may = |node: u32| (self.to_itself || node != from) && wanted(node);
        let nodes: Vec<u32> = self.nodes().iter().copied().filter(|&node| may(node)).collect();
        nodes.iter().map(|&node| (node, 1.0 / nodes.len() as f64)).collect()
    }

    fn shares(&self, pattern: &PatternConfig, from: u32) -> Shares {
        let dragonfly = self.plan.system.topology.dragonfly();
        match pattern {
            PatternConfig::Uniform(_) => self.equally(from, |_| true),
            PatternConfig::Adversarial(config) => {
                let dragonfly = dragonfly.unwrap();
                let ahead = match config.offset {
                    Offset::Groups(groups) => groups,
                    Offset::H(_) => dragonfly.h(),
                };
                let target = (self.group(from) + ahead) % dragonfly.groups();
                self.equally(from, |node| self.group(node) == target)
            }
            PatternConfig::AdversarialConsecutive(config) => {
                let groups = self.behind_last_router(from, config.groups);
                self.equally(from, |node| groups.contains(&self.group(node)))
            }
            PatternConfig::AdversarialLocal(config) => {
                let a = dragonfly.unwrap().a();
                let (router, group) = (self.router(from), self.group(from));
                let target = group * a + (router - group * a + config.offset) % a;
                self.equally(from, |node| self.router(node) == target)
            }
            PatternConfig::Hotspot(config) if config.node == from && !self.to_itself => {
                self.equally(from, |_| true)
            }
            PatternConfig::Hotspot(config) => {
                let hot = BTreeMap::from([(config.node, 1.0)]);
                blend(&[(config.fraction, hot), (1.0 - config.fraction, self.equally(from, |_| true))])
            }
            PatternConfig::HotRegion(config) => {
                let count = (self.nodes().len() as f64 * config.share).round() as usize;
                let region = self.equally(from, |node| self.nodes()[..count].contains(&node));
                blend(&[(config.fraction, region), (1.0 - config.fraction, self.equally(from, |_| true))])
            }
            PatternConfig::Permutation(name) => BTreeMap::from([(self.image(*name, from), 1.0)]),
            PatternConfig::Destinations(list) => {
                let number = self.nodes().iter().position(|&node| node == from).unwrap();
                BTreeMap::from([(self.nodes()[list[number] as usize], 1.0)])
            }
            PatternConfig::RandomPermutation(_) => BTreeMap::from([(self.partner(from), 1.0)]),
            PatternConfig::Mix(parts) => {
                let total: f64 = parts.iter().map(|part| part.weight).sum();
                let part = |part: &hopsim_traffic::pattern::mix::Part| {
                    (part.weight / total, self.shares(&part.pattern, from))
                };
                blend(&parts.iter().map(part).collect::<Vec<_>>())
            }
        }
    }

    /// The groups behind the last global ports of the last router of the group of a node.
    fn behind_last_router(&self, node: u32, groups: Option<u32>) -> BTreeSet<u32> {
        let topology = &self.plan.system.topology;
        let dragonfly = topology.dragonfly().unwrap();
        let last = self.group(node) * dragonfly.a() + dragonfly.a() - 1;
        let neighbours = (0..topology.ports().len()).rev().filter_map(|port| topology.neighbour(last, port));
        let others = neighbours.map(|(router, _)| topology.group(router)).filter(|&g| g != self.group(node));
        others.take(groups.unwrap_or(dragonfly.h()) as usize).collect()
    }

    /// The image of a node in a fixed permutation.
    fn image(&self, name: Permutation, from: u32) -> u32 {
        let nodes = self.nodes();
        let number = nodes.iter().position(|&node| node == from).unwrap();
        let count = nodes.len().ilog2() as usize;
        // The bits of the number, the lowest first.
        let bits: Vec<bool> = (0..count).map(|bit| number & (1 << bit) != 0).collect();
        let of_bits = |bit: &dyn Fn(usize) -> bool| {
            nodes[(0..count).filter(|&b| bit(b)).map(|b| 1 << b).sum::<usize>()]
        };
        match name {
            Permutation::Shuffle => of_bits(&|bit| bits[(bit + count - 1) % count]),
            Permutation::BitReversal => of_bits(&|bit| bits[count - 1 - bit]),
            Permutation::Transpose => of_bits(&|bit| bits[(bit + count / 2) % count]),
            Permutation::BitComplement => of_bits(&|bit| !bits[bit]),
            Permutation::Tornado => self.moved(from, |side| side.div_ceil(2) - 1),
            Permutation::Neighbour => self.moved(from, |_| 1),
        }
    }

    /// The node so many routers ahead in every dimension.
    fn moved(&self, from: u32, ahead: impl Fn(u32) -> u32) -> u32 {
        let Topology::Cube(cube) = &*self.plan.system.topology else { panic!("no dimensions") };
        let per_router = cube.nodes_per_router();
        let mut rest = from / per_router;
        let (mut image, mut stride) = (0, 1);
        for &side in cube.sides() {
            image += (rest % side + ahead(side)) % side * stride;
            rest /= side;
            stride *= side;
        }
        image * per_router + from % per_router
    }

    /// The partner of a node in a random permutation: shuffled again until nobody is its own, unless nodes send to themselves.
    fn partner(&self, from: u32) -> u32 {
        let seed = self.plan.experiment.measure.seed;
        let mut stream = Stream::new(seed, Purpose::Placement, (self.number as u64) * (1 << 32) + 1);
        let mut partners = self.nodes().to_vec();
        loop {
            shuffle(&mut partners, &mut stream);
            let pairs = partners.iter().zip(self.nodes());
            if self.to_itself || pairs.clone().all(|(partner, node)| partner != node) {
                break;
            }
        }
        partners[self.nodes().iter().position(|&node| node == from).unwrap()]
    }
}

/// Several distributions, each with its share.
fn blend(parts: &[(f64, Shares)]) -> Shares {
    let mut all = Shares::new();
    for (weight, shares) in parts {
        for (&node, share) in shares {
            *all.entry(node).or_default() += weight * share;
        }
    }
    all
}

/// Panics unless draws have these shares: never another destination, and a chi-square that so many draws exceed with a
/// probability below 3e-7 (by the cube root of Wilson and Hilferty, 1931, five standard deviations).
fn check(shares: &Shares, counts: &BTreeMap<u32, u32>, what: &str) {
    let draws: u32 = counts.values().sum();
    let total: f64 = shares.values().sum();
    assert!((total - 1.0).abs() < 1e-9, "{what}: shares add up to {total}");
    let stranger = counts.keys().find(|node| shares.get(node).is_none_or(|&share| share == 0.0));
    assert!(stranger.is_none(), "{what}: sends to {stranger:?}; {shares:?}");
    let mut chi2 = 0.0;
    for (node, share) in shares {
        let expected = share * f64::from(draws);
        let count = f64::from(counts.get(node).copied().unwrap_or(0));
        chi2 += if expected > 0.0 { (count - expected) * (count - expected) / expected } else { 0.0 };
    }
    let freedom = (shares.len().max(2) - 1) as f64;
    let deviations =
        ((chi2 / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / (2.0 / (9.0 * freedom)).sqrt();
    assert!(deviations < 5.0, "{what}: chi-square {chi2} of {freedom}; {counts:?} for {shares:?}");
}

/// Every pattern, with parameters other than their defaults.
fn patterns() -> Vec<Value> {
    let permutations = ["shuffle", "bit_reversal", "transpose", "bit_complement", "tornado", "neighbour"];
    let mut all = vec![
        json!({ "uniform": {} }),
        json!({ "adversarial": { "offset": 1 } }),
        json!({ "adversarial": { "offset": 3 } }),
        json!({ "adversarial": { "offset": "h" } }),
        json!({ "adversarial_consecutive": {} }),
        json!({ "adversarial_consecutive": { "groups": 1 } }),
        json!({ "adversarial_local": { "offset": 1 } }),
        json!({ "adversarial_local": { "offset": 3 } }),
        json!({ "hotspot": { "node": 12, "fraction": 0.3 } }),
        json!({ "hot_region": {} }),
        json!({ "hot_region": { "fraction": 0.7, "share": 0.3 } }),
        json!({ "random_permutation": {} }),
    ];
    all.extend(permutations.map(|name| json!({ "permutation": name })));
    // For a job of so many nodes.
    let ahead: Vec<u32> = (0..16).map(|node| if node == 8 { 8 } else { (node * 3 + 1) % 16 }).collect();
    let listed = json!({ "destinations": ahead });
    let part = |weight: f64, pattern: &Value| json!({ "weight": weight, "pattern": pattern });
    let inner = json!({ "mix": [part(1.0, &all[11]), part(3.0, &all[8])] });
    all.push(json!({ "mix": [part(0.2, &all[0]), part(0.3, &all[15]), part(0.5, &inner)] }));
    all.push(json!({ "mix": [part(2.0, &all[1]), part(1.0, &all[6])] }));
    all.push(listed);
    all
}

/// Networks and placements.
fn sites() -> Vec<(Value, Value)> {
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2 } });
    let sparse =
        json!({ "dragonfly": { "p": 2, "a": 4, "h": 2, "groups": 4, "arrangement": "consecutive" } });
    let every = |step: usize, end: u32| json!({ "list": (0..end).step_by(step).collect::<Vec<u32>>() });
    vec![
        (dragonfly.clone(), json!({ "all": {} })),
        (dragonfly.clone(), every(3, 72)),
        (dragonfly, json!({ "nodes": { "first": 8, "count": 16 } })),
        (sparse, json!({ "all": {} })),
        (json!({ "torus": { "sides": [4, 4], "nodes_per_router": 1 } }), json!({ "all": {} })),
        (json!({ "mesh": { "sides": [5, 3, 2], "nodes_per_router": 2 } }), json!({ "all": {} })),
        (json!({ "fat_tree": { "k": 2, "levels": 5 } }), every(2, 32)),
    ]
}

#[test]
fn packets_go_where_the_pattern_says_with_the_shares_it_says() {
    for to_itself in [false, true] {
        let mut seen = BTreeSet::new();
        for (topology, placement) in sites() {
            for pattern in patterns() {
                if compare(&topology, &placement, &pattern, to_itself) {
                    seen.insert(pattern.to_string());
                }
            }
        }
        assert_eq!(seen.len(), patterns().len(), "compared: {seen:?}");
        let names = schema()["$defs"]["PatternConfig"]["oneOf"].as_array().unwrap();
        for name in names.iter().map(|choice| choice["required"][0].as_str().unwrap()) {
            assert!(seen.iter().any(|pattern| pattern.starts_with(&format!("{{\"{name}\""))), "{name}");
        }
    }
}

/// Panics unless a pattern on a network has the shares that are said of it; false if the network cannot have it.
fn compare(topology: &Value, placement: &Value, pattern: &Value, to_itself: bool) -> bool {
    let traffic = json!({ "pattern": pattern, "process": { "bernoulli": { "load": 0.1 } } });
    let jobs = json!([{ "placement": placement, "traffic": traffic }]);
    let semantics = json!({ "self_traffic": if to_itself { "router" } else { "none" } });
    let Ok(plan) = plan_with(topology, &jobs, &semantics) else { return false };
    let job = Job { plan: &plan, number: 0, to_itself };
    let count = job.nodes().len();
    // Among them the hot node, if the job has it.
    let hot = job.nodes().iter().position(|&node| node == 12).unwrap_or(0);
    for &from in [0, 1, count / 2, count - 1, hot].map(|place| &job.nodes()[place]) {
        let shares = job.shares(&plan.experiment.jobs[0].traffic.as_ref().unwrap().pattern, from);
        let built = &plan.system.jobs[0].traffic().unwrap().pattern;
        let is_one = pattern.get("permutation").or(pattern.get("destinations")).is_some();
        let is_fixed = is_one && shares.contains_key(&from);
        assert_eq!(built.is_silent(from), is_fixed && !to_itself, "{pattern} from {from}");
        if built.is_silent(from) {
            continue;
        }
        let mut stream = Stream::new(17, Purpose::Pattern, from.into());
        let mut counts = BTreeMap::new();
        for _ in 0..3_000 {
            *counts.entry(built.destination(from, &mut stream)).or_default() += 1;
        }
        check(&shares, &counts, &format!("{pattern} from {from} on {topology}, {placement}, {semantics}"));
    }
    true
}

#[test]
fn a_random_permutation_is_any_without_a_fixed_point() {
    // Four nodes have nine of them.
    let mut counts = BTreeMap::new();
    for seed in 0..900 {
        let jobs = json!([{ "placement": { "nodes": { "count": 4 } }, "traffic": {
            "pattern": { "random_permutation": {} }, "process": { "bernoulli": { "load": 0.1 } } } }]);
        let mut document = json!({ "topology": { "ring": { "routers": 4 } }, "jobs": jobs });
        document["measure"]["seed"] = json!(seed);
        let plan = crate::documents::Document(document).plan().unwrap();
        let mut stream = Stream::new(0, Purpose::Pattern, 0);
        let code: u32 = (0..4)
            .map(|node| {
                plan.system.jobs[0].traffic().unwrap().pattern.destination(node, &mut stream) << (4 * node)
            })
            .sum();
        *counts.entry(code).or_default() += 1;
    }
    let expected: Shares = counts.keys().map(|&code| (code, 1.0 / 9.0)).collect();
    assert_eq!(expected.len(), 9);
    check(&expected, &counts, "random permutations");
}
