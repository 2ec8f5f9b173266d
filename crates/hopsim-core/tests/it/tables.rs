//! Tables of routes, right and wrong: what is refused is what a second look at the rows finds, and packets that wait for each other in a
//! circle do so where that was foreseen.

use hopsim_core::engine::{Control, run};
use hopsim_core::error::RunError;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Channel, Verdict, prove};
use hopsim_random::{Purpose, Stream};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A link in one direction with a VC: router, port and VC.
type Link = (u32, u32, u32);

/// A random network and a table of shortest paths for it.
struct Drawn {
    pairs: Vec<[u32; 2]>,
    rows: Vec<[u32; 4]>,
    /// What packets hold when they ask for what.
    waits: BTreeSet<(Link, Link)>,
}

/// Port and router at the other end, of every link of a router.
fn links(pairs: &[[u32; 2]], router: u32) -> Vec<(u32, u32)> {
    let ends = pairs.iter().filter(|pair| pair.contains(&router));
    let peers = ends.map(|pair| if pair[0] == router { pair[1] } else { pair[0] });
    // A node has the port 0.
    (1..).zip(peers).collect()
}

/// Links from every router to one of them.
fn distances(pairs: &[[u32; 2]], routers: u32, to: u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; routers as usize];
    distances[to as usize] = 0;
    for left in 0..routers {
        for router in (0..routers).filter(|&router| distances[router as usize] == left).collect::<Vec<_>>() {
            for (_, peer) in links(pairs, router) {
                distances[peer as usize] = distances[peer as usize].min(left + 1);
            }
        }
    }
    distances
}

impl Drawn {
    fn new(number: u64, most: u32) -> Self {
        let mut draws = Stream::new(number, Purpose::RandomGraph, 7);
        let routers = 4 + draws.below(most - 3);
        let is_ring = draws.below(2) == 0;
        let mut pairs: Vec<[u32; 2]> = (1..routers)
            .map(|router| [if is_ring { router - 1 } else { draws.below(router) }, router])
            .collect();
        pairs.extend(is_ring.then_some([routers - 1, 0]));
        for _ in 0..draws.below(routers) {
            let pair = [draws.below(routers), draws.below(routers)];
            pairs.extend((pair[0] != pair[1]).then_some(pair));
        }
        let (rule, vcs) = (draws.below(4), 1 + draws.below(4));
        let mut rows = Vec::new();
        for to in 0..routers {
            let left = distances(&pairs, routers, to);
            for at in (0..routers).filter(|&at| at != to) {
                let nearer: Vec<u32> = links(&pairs, at)
                    .into_iter()
                    .filter(|&(_, peer)| left[peer as usize] < left[at as usize])
                    .map(|(port, _)| port)
                    .collect();
                let vc = match rule {
                    0 => 0,
                    // The VC grows with every hop, as long as there are so many.
                    1 => (vcs * 4 - 1).saturating_sub(left[at as usize]),
                    2 => draws.below(vcs),
                    _ => to % vcs,
                };
                rows.push([at, to, nearer[draws.below(nearer.len() as u32) as usize], vc]);
            }
        }
        let waits = waits(&pairs, &rows, routers);
        Self { pairs, rows, waits }
    }

    fn document(&self, allows: bool) -> Value {
        let edges: Vec<Value> = self.pairs.iter().map(|between| json!({ "between": between })).collect();
        json!({
            "topology": { "graph": { "edges": edges } },
            "routing": { "table": { "hops": self.rows } },
            "router": { "input_queued": {
                "vcs": { "allow_deadlock": allows }, "buffers": { "network": 8, "injection": 16 },
            } },
            "load": 1.0,
            "measure": { "warmup": 0, "cycles": 6_000, "watchdog": 300 },
        })
    }

    fn plan(&self, allows: bool) -> Result<Plan, String> {
        let experiment = serde_json::from_value(self.document(allows)).unwrap();
        Plan::new(&experiment).map_err(|error| error.to_string())
    }

    fn is_cyclic(&self) -> bool {
        let graph: DiGraphMap<Link, ()> = self.waits.iter().map(|&(held, next)| (held, next, ())).collect();
        is_cyclic_directed(&graph)
    }

    /// Whether links in the order of a circle are ones that packets may hold and ask for.
    fn has_circle(&self, circle: &[Link]) -> bool {
        let after = circle.iter().cycle().skip(1);
        circle.iter().zip(after).all(|(&held, &next)| self.waits.contains(&(held, next)))
    }
}

/// Follows the rows from every router to every other one.
fn waits(pairs: &[[u32; 2]], rows: &[[u32; 4]], routers: u32) -> BTreeSet<(Link, Link)> {
    let mut waits = BTreeSet::new();
    for (from, to) in (0..routers).flat_map(|from| (0..routers).map(move |to| (from, to))) {
        let (mut at, mut before) = (from, None);
        while at != to {
            let row = rows.iter().find(|row| (row[0], row[1]) == (at, to)).unwrap();
            let link = (at, row[2], row[3]);
            waits.extend(before.map(|before| (before, link)));
            before = Some(link);
            at = links(pairs, at).into_iter().find(|&(port, _)| port == row[2]).unwrap().1;
        }
    }
    waits
}

fn link(channel: &Channel) -> Link {
    (channel.router, channel.port as u32, channel.vc.into())
}

/// Holds the plans of some random tables against a second look at their rows. Returns the tables with a circle.
fn verdicts(numbers: std::ops::Range<u64>, most: u32) -> Vec<Drawn> {
    let mut wrong = Vec::new();
    for number in numbers {
        let drawn = Drawn::new(number, most);
        let (refused, plan) = (drawn.plan(false).err(), drawn.plan(true).unwrap());
        match prove(&plan) {
            Verdict::Proved(proof) => {
                assert!(!drawn.is_cyclic() && refused.is_none(), "{number}: {refused:?}");
                assert_eq!(proof.dependencies, drawn.waits.len(), "{number}");
            }
            Verdict::Circle(circle) => {
                let links: Vec<Link> = circle.channels.iter().map(link).collect();
                assert!(drawn.has_circle(&links), "{number}: {links:?}");
                let reason = refused.unwrap();
                assert!(reason.contains("packets can wait for each other in a circle"), "{number}: {reason}");
                wrong.push(drawn);
            }
            Verdict::Unproved => panic!("{number}"),
        }
    }
    wrong
}

/// How many of some networks stand still at full load, all of them in a circle that was foreseen.
fn deadlocks(wrong: &[Drawn]) -> usize {
    let mut deadlocks = 0;
    for drawn in wrong {
        let plan = drawn.plan(true).unwrap();
        match run(&plan, &Control::default()) {
            Ok(_) => {}
            Err(RunError::Deadlock(report)) => {
                let port = |name: &str| {
                    let mut ports = 0..plan.system.network.layout.ports();
                    ports.find(|&port| plan.system.network.port_name(port) == name).unwrap() as u32
                };
                let waiting = report.waiting.iter();
                let circle: Vec<Link> =
                    waiting.map(|head| (head.router, port(&head.output), head.output_vc.into())).collect();
                assert!(drawn.has_circle(&circle), "{report}");
                deadlocks += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    deadlocks
}

#[test]
fn a_table_is_refused_if_and_only_if_packets_could_wait_in_a_circle_and_they_do() {
    let wrong = verdicts(0..600, 12);
    assert!((150..450).contains(&wrong.len()), "{}", wrong.len());
    let standing = deadlocks(&wrong[..60]);
    assert!(standing >= 20, "{standing} of 60");
}

#[test]
fn tables_without_a_circle_never_stand_still() {
    let right: Vec<Drawn> =
        (0..120).map(|number| Drawn::new(number, 12)).filter(|drawn| !drawn.is_cyclic()).collect();
    assert!(right.len() > 30);
    assert_eq!(deadlocks(&right), 0);
}

#[test]
#[ignore = "minutes"]
fn of_ten_thousand_tables_all_verdicts_are_right() {
    let wrong = verdicts(1_000..11_000, 63);
    let standing = deadlocks(&wrong[..1_000]);
    println!(
        "{} of 10,000 tables have a circle; of 1,000 of them {standing} networks stand still at full load",
        wrong.len()
    );
}
