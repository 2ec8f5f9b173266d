//! When packets are generated: every gap counted cycle by cycle, with the numbers that the streams give.

use super::plan_of;
use hopsim_core::engine::trace;
use hopsim_experiment::document::schema;
use hopsim_experiment::plan::Plan;
use hopsim_random::{Purpose, Stream};
use hopsim_reference::record;
use hopsim_traffic::node_loads::NodeLoads;
use hopsim_traffic::process::ProcessConfig;
use serde_json::{Value, json};

/// Cycles after which a gap is as good as endless here.
const FOR_EVER: u32 = 100_000;

/// Cycles to an event that comes in each with probability `p`: the first after which it has come with at least the
/// probability that was drawn; `None` if it does not come for long.
fn gap(p: f64, stream: &mut Stream) -> Option<u32> {
    if p <= 0.0 || p >= 1.0 {
        return (p >= 1.0).then_some(1);
    }
    let drawn = stream.unit();
    let mut none_yet = 1.0;
    for cycles in 1..FOR_EVER {
        none_yet *= 1.0 - p;
        if none_yet < drawn {
            return Some(cycles);
        }
    }
    None
}

fn cut(gap: u32) -> Option<u32> {
    Some(gap).filter(|&gap| gap < FOR_EVER)
}

/// A job of all nodes of a small ring.
fn ring(traffic: &Value) -> Plan {
    let topology = json!({ "ring": { "routers": 4, "nodes_per_router": 2 } });
    plan_of(&topology, &json!([{ "traffic": traffic }])).unwrap()
}

#[test]
fn gaps_of_bernoulli_traffic_are_those_of_a_draw_in_every_cycle() {
    for (load, length) in [(1.0, 1), (1.0, 2), (0.7, 1), (0.35, 8), (0.02, 16), (0.0, 4)] {
        let process = json!({ "bernoulli": { "load": load } });
        let plan = ring(&json!({ "process": process, "packet_length": length }));
        let (mut one, mut other) = (Stream::new(3, Purpose::Process, 9), Stream::new(3, Purpose::Process, 9));
        let p = load / f64::from(length);
        for _ in 0..2_000 {
            assert_eq!(
                cut(plan.system.jobs[0].traffic().unwrap().process.begin(&mut one)),
                gap(p, &mut other),
                "load {load}"
            );
            let step = plan.system.jobs[0].traffic().unwrap().process.step(&mut one);
            assert!(step.new_destination);
            assert_eq!(cut(step.gap), gap(p, &mut other), "load {load} / {length}");
        }
    }
}

#[test]
fn bursts_end_and_begin_with_the_probabilities_that_the_model_says() {
    for (load, mean, length) in [(0.5, 5.0, 8), (0.9, 20.0, 4), (0.3, 1.0, 8), (1.0, 3.0, 2), (0.01, 2.5, 5)]
    {
        let process = json!({ "bursty": { "load": load, "burst_length": mean } });
        let plan = ring(&json!({ "process": process, "packet_length": length }));
        let r = load / f64::from(length);
        let begin = r / (mean + r * (1.0 - mean));
        // A burst of B packets takes B − 1 cycles, and the next one begins 1 / p later: that is the load.
        assert!((mean / (mean - 1.0 + 1.0 / begin) - r).abs() < 1e-12);
        let (mut one, mut other) = (Stream::new(4, Purpose::Process, 2), Stream::new(4, Purpose::Process, 2));
        assert_eq!(
            cut(plan.system.jobs[0].traffic().unwrap().process.begin(&mut one)),
            gap(begin, &mut other)
        );
        for _ in 0..5_000 {
            let step = plan.system.jobs[0].traffic().unwrap().process.step(&mut one);
            let ends = other.unit() < 1.0 / mean;
            assert_eq!(step.new_destination, ends);
            assert_eq!(cut(step.gap), if ends { gap(begin, &mut other) } else { Some(1) });
        }
    }
}

#[test]
fn sources_are_on_and_off_with_the_probabilities_that_the_model_says() {
    for (load, alpha, beta, length) in
        [(0.2, 0.5, 0.5, 1), (0.3, 0.05, 0.2, 8), (0.04, 0.7, 1.0, 2), (0.5, 1.0, 1.0, 1)]
    {
        let process = json!({ "on_off": { "load": load, "alpha": alpha, "beta": beta } });
        let plan = ring(&json!({ "process": process, "packet_length": length }));
        let p = load / f64::from(length) * (alpha + beta) / alpha;
        let q = beta + (1.0 - beta) * p;
        let (mut one, mut other) = (Stream::new(4, Purpose::Process, 2), Stream::new(4, Purpose::Process, 2));
        // Whether the node generates a packet in the cycle in which it is on again, or in how many more.
        let expected = |mut is_on: bool, other: &mut Stream| {
            let mut cycles = 0;
            loop {
                if !is_on {
                    cycles += gap(alpha, other).unwrap();
                    if other.unit() < p {
                        return cycles;
                    }
                }
                cycles += gap(q, other).unwrap();
                is_on = other.unit() >= beta / q;
                if is_on {
                    return cycles;
                }
            }
        };
        let process = &plan.system.jobs[0].traffic().unwrap().process;
        let begins_on = other.unit() < alpha / (alpha + beta);
        assert_eq!(process.begin(&mut one), expected(begins_on, &mut other));
        for _ in 0..5_000 {
            let step = process.step(&mut one);
            assert!(step.new_destination);
            assert_eq!(step.gap, expected(true, &mut other), "load {load}, {alpha}, {beta}");
        }
    }
}

/// The cycles in which a node generates by itself, with a new probability from some cycles on.
fn cycles(plan: &Plan, node: u32, p: f64, changes: &[(u32, f64)], end: u32) -> Vec<u32> {
    let mut stream = Stream::new(plan.experiment.measure.seed, Purpose::Process, node.into());
    let (mut p, mut cycles) = (p, Vec::new());
    let mut next = gap(p, &mut stream).map(|gap| gap - 1);
    for now in 0..end {
        if let Some(&(_, new)) = changes.iter().find(|&&(at, _)| at == now) {
            p = new;
            next = gap(p, &mut stream).map(|gap| now + gap - 1);
        }
        if next == Some(now) {
            cycles.push(now);
            next = gap(p, &mut stream).map(|gap| now + gap);
        }
    }
    cycles
}

#[test]
fn packets_are_generated_in_the_cycles_that_the_load_and_its_changes_give() {
    let changes = json!([{ "cycle": 300, "load": 0.0 }, { "cycle": 800, "load": 0.5 }, { "cycle": 1_500, "load": 0.15 }]);
    let rates = [(300, 0.0), (800, 0.125), (1_500, 0.0375)];
    for changes in [json!([]), changes] {
        let process = json!({ "bernoulli": { "load": 0.2 } });
        let plan = ring(&json!({ "process": process, "packet_length": 4, "changes": changes }));
        let rates = if changes == json!([]) { &rates[..0] } else { &rates[..] };
        let traces = trace(&plan, 2_000).unwrap();
        for node in 0..8 {
            let packets = traces.iter().filter(|packet| packet.source == node);
            let seen: Vec<u32> = packets.map(|packet| packet.generated).filter(|&at| at < 1_900).collect();
            assert_eq!(seen, cycles(&plan, node, 0.05, rates, 1_900), "node {node}");
        }
    }
}

#[test]
fn requests_are_generated_at_half_the_load_and_every_one_is_answered() {
    let traffic = json!({
        "process": { "bernoulli": { "load": 0.4 } }, "packet_length": 4, "request_reply": {},
    });
    let topology = json!({ "dragonfly": { "p": 1, "a": 2, "h": 1 } });
    let plan = plan_of(&topology, &json!([{ "traffic": traffic }])).unwrap();
    let lives = record(&plan).lives;
    for node in 0..plan.system.network.nodes {
        let own = lives.iter().filter(|life| life.trace.source == node && life.requested.is_none());
        let seen: Vec<u32> = own.map(|life| life.trace.generated).collect();
        assert_eq!(seen, cycles(&plan, node, 0.05, &[], 2_000), "node {node}");
        let consumed = |life: &&hopsim_reference::Life| {
            let to_it = life.trace.destination == node && life.requested.is_none();
            to_it && life.trace.delivered.is_some_and(|at| at < 2_000)
        };
        let mut asked: Vec<(u32, u32, u32)> = lives
            .iter()
            .filter(consumed)
            .map(|life| (life.trace.delivered.unwrap(), life.trace.source, life.trace.generated))
            .collect();
        let replies = lives.iter().filter(|life| life.trace.source == node);
        let mut answered: Vec<(u32, u32, u32)> = replies
            .filter_map(|life| Some((life.trace.generated, life.trace.destination, life.requested?)))
            .collect();
        asked.sort_unstable();
        answered.sort_unstable();
        assert_eq!(answered, asked, "node {node}");
    }
}

/// The load of every node of a job, in their order.
fn loads(plan: &Plan, number: usize) -> Vec<f64> {
    let nodes = plan.system.jobs[number].nodes();
    let traffic = plan.experiment.jobs[number].traffic.as_ref().unwrap();
    let ProcessConfig::Bernoulli(process) = &traffic.process else { panic!("another process") };
    match &traffic.node_loads {
        NodeLoads::Equal(_) => vec![process.load.unwrap(); nodes.len()],
        NodeLoads::Listed(lists) => nodes
            .iter()
            .map(|node| {
                let list = lists.iter().rfind(|list| list.nodes.contains(node));
                list.map_or(process.load.unwrap(), |list| list.load)
            })
            .collect(),
        NodeLoads::Random(random) => {
            let seed = plan.experiment.measure.seed;
            let mut stream = Stream::new(seed, Purpose::NodeLoads, number as u64);
            let count = (random.saturated * nodes.len() as f64).round() as usize;
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            for first in 0..count {
                // One of those that have not been drawn takes the next place.
                let drawn = first + stream.below((nodes.len() - first) as u32) as usize;
                (order[first], order[drawn]) = (order[drawn], order[first]);
            }
            let mut loads = vec![1.0; nodes.len()];
            order[count..].iter().for_each(|&place| loads[place] = stream.unit());
            loads
        }
    }
}

#[test]
fn nodes_offer_loads_of_their_own() {
    let listed = json!({ "listed": [{ "nodes": [1, 5], "load": 0.8 }, { "nodes": [5, 6], "load": 0.0 }] });
    let all = [listed, json!({ "random": { "saturated": 0.45 } }), json!({ "random": { "saturated": 0.0 } })];
    for node_loads in all {
        let process = json!({ "bernoulli": { "load": 0.2 } });
        let plan = ring(&json!({ "process": process, "packet_length": 4, "node_loads": node_loads }));
        let (loads, job) = (loads(&plan, 0), plan.system.jobs[0].traffic().unwrap());
        assert!((job.load - loads.iter().sum::<f64>() / loads.len() as f64).abs() < 1e-12);
        for (&node, load) in job.nodes.iter().zip(loads) {
            let (mut one, mut other) =
                (Stream::new(1, Purpose::Process, 0), Stream::new(1, Purpose::Process, 0));
            for _ in 0..300 {
                let drawn = job.process_of(node).step(&mut one).gap;
                assert_eq!(cut(drawn), gap(load / 4.0, &mut other), "{node_loads}, node {node}, {load}");
            }
        }
    }
}

#[test]
fn a_synchronised_burst_begins_when_the_one_before_has_been_consumed() {
    let traffic = json!({ "process": { "synchronised_bursts": { "packets": 5 } }, "packet_length": 3 });
    let plan = ring(&traffic);
    let traces = trace(&plan, 2_000).unwrap();
    let consumed = |burst: u32| {
        let packets = traces.iter().filter(move |packet| packet.serial / 5 == burst);
        packets.map(|packet| packet.delivered.map(|at| at + 3)).max().flatten()
    };
    let mut begin = 0;
    let mut bursts = 0;
    while let Some(end) = consumed(bursts).filter(|&end| end < 1_900) {
        let packets: Vec<_> = traces.iter().filter(|packet| packet.serial / 5 == bursts).collect();
        assert_eq!(packets.len(), 5 * 8);
        for packet in packets {
            // Nothing keeps a node from generating one packet per cycle.
            assert_eq!(packet.generated, begin + packet.serial % 5, "burst {bursts}");
        }
        (begin, bursts) = (end, bursts + 1);
    }
    assert!(bursts > 10, "{bursts} bursts");
}

#[test]
fn every_process_is_compared() {
    let names = schema()["$defs"]["ProcessConfig"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|choice| choice["required"][0].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["bernoulli", "bursty", "on_off", "synchronised_bursts"],
        "a new process needs a test here"
    );
}

/// Lengths with their weights, of which the mean is 2.6.
fn lengths() -> Value {
    let shares = [(5, 3.0), (1, 6.0), (4, 0.5), (6, 0.5)];
    json!(shares.map(|(length, weight)| json!({ "length": length, "weight": weight })))
}

/// The length of the packet of this number that a node generates, of [`lengths`].
fn length(seed: u64, node: u32, number: u32) -> u32 {
    let draw = 10.0 * Stream::new(seed, Purpose::PacketLength, node.into()).at(number.into()).unit();
    [(3.0, 5), (9.0, 1), (9.5, 4)].iter().find(|(upto, _)| draw < *upto).map_or(6, |&(_, length)| length)
}

#[test]
fn every_packet_draws_its_length_by_its_number() {
    let processes = [
        json!({ "bernoulli": { "load": 0.26 } }),
        json!({ "bernoulli": { "load": 1.0 } }),
        json!({ "bursty": { "load": 0.52, "burst_length": 4 } }),
        json!({ "synchronised_bursts": { "packets": 7 } }),
    ];
    for process in processes {
        let plan = ring(&json!({ "process": process, "packet_lengths": lengths() }));
        let lives = record(&plan).lives;
        assert!(lives.len() > 1_000, "{process}: {} packets", lives.len());
        for life in &lives {
            let packet = &life.trace;
            assert_eq!(life.length, length(5, packet.source, packet.serial), "{packet:?}");
        }
    }
}

#[test]
fn packets_of_several_lengths_are_generated_at_the_load_over_their_mean_length() {
    let traffic = json!({ "process": { "bernoulli": { "load": 0.26 } }, "packet_lengths": lengths() });
    let plan = ring(&traffic);
    let traces = trace(&plan, 2_000).unwrap();
    for node in 0..8 {
        let packets = traces.iter().filter(|packet| packet.source == node);
        let seen: Vec<u32> = packets.map(|packet| packet.generated).filter(|&at| at < 1_900).collect();
        assert_eq!(seen, cycles(&plan, node, 0.1, &[], 1_900), "node {node}");
    }
}
