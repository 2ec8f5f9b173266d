//! On which nodes jobs run.

use super::{plan_of, shuffle};
use hopsim_experiment::plan::Plan;
use hopsim_random::{Purpose, Stream};
use hopsim_traffic::placement::Placement;
use serde_json::{Value, json};

/// The nodes of a job, of those not in `taken`, in the order in which ranks take them.
fn place(plan: &Plan, job: usize, taken: &[u32]) -> Vec<u32> {
    let topology = &plan.system.topology;
    let per_group = topology.routers() / topology.groups() * topology.nodes_per_router();
    let group = |number: u32| (0..topology.nodes()).filter(move |node| node / per_group == number);
    let seed = plan.experiment.measure.seed;
    let mut stream = Stream::new(seed, Purpose::Placement, (job as u64) * (1 << 32));
    let mut draw = |mut all: Vec<u32>, count: u32| {
        shuffle(&mut all, &mut stream);
        all[..count as usize].to_vec()
    };
    match &plan.experiment.jobs[job].placement {
        Placement::All(_) => (0..topology.nodes()).collect(),
        Placement::Groups(range) => (range.first..range.first + range.count).flat_map(group).collect(),
        Placement::Nodes(range) => (range.first..range.first + range.count).collect(),
        Placement::List(list) => list.clone(),
        Placement::File(_) => unreachable!("a plan has the list that is in the file"),
        Placement::RandomNodes(drawn) => {
            draw((0..topology.nodes()).filter(|node| !taken.contains(node)).collect(), drawn.count)
        }
        Placement::RandomGroups(drawn) => {
            let free = |&number: &u32| group(number).all(|node| !taken.contains(&node));
            let groups = draw((0..topology.groups()).filter(free).collect(), drawn.count);
            groups.into_iter().flat_map(group).collect()
        }
    }
}

/// Jobs that draw packets, or jobs that run a program.
fn jobs(placements: &[Value], run_programs: bool) -> Value {
    let work = |placement: &Value| {
        if run_programs {
            return json!({ "placement": placement, "program": { "collective": { "kind": "barrier" } } });
        }
        json!({ "placement": placement, "traffic": { "process": { "bernoulli": { "load": 0.1 } } } })
    };
    placements.iter().map(work).collect()
}

#[test]
fn jobs_run_where_their_placement_says() {
    let dragonfly = json!({ "dragonfly": { "p": 2, "a": 4, "h": 2 } });
    let tree = json!({ "fat_tree": { "k": 3, "levels": 3 } });
    let cases = [
        (&dragonfly, vec![json!({ "all": {} })]),
        (
            &dragonfly,
            vec![json!({ "groups": { "count": 2 } }), json!({ "groups": { "first": 7, "count": 2 } })],
        ),
        (
            &dragonfly,
            vec![json!({ "random_groups": { "count": 3 } }), json!({ "random_groups": { "count": 4 } })],
        ),
        (
            &dragonfly,
            vec![json!({ "random_nodes": { "count": 20 } }), json!({ "nodes": { "first": 9, "count": 30 } })],
        ),
        (
            &dragonfly,
            vec![json!({ "random_nodes": { "count": 9 } }), json!({ "random_nodes": { "count": 50 } })],
        ),
        (&tree, vec![json!({ "list": [26, 3, 4, 0] }), json!({ "random_nodes": { "count": 23 } })]),
        (&tree, vec![json!({ "groups": { "count": 1 } })]),
        (&dragonfly, vec![json!({ "random_nodes": { "count": 72 } })]),
        (&dragonfly, vec![json!({ "random_groups": { "count": 9 } })]),
    ];
    for ((topology, placements), run_programs) in cases.iter().flat_map(|case| [(case, false), (case, true)])
    {
        let plan = plan_of(topology, &jobs(placements, run_programs)).unwrap();
        let is_random = |&job: &usize| plan.experiment.jobs[job].placement.is_random();
        let numbers = 0..placements.len();
        // Jobs that are drawn come last.
        let (drawn, fixed): (Vec<usize>, Vec<usize>) = numbers.partition(is_random);
        let mut taken = Vec::new();
        for job in fixed.into_iter().chain(drawn) {
            let mut nodes = place(&plan, job, &taken);
            if !run_programs {
                nodes.sort_unstable();
            }
            assert_eq!(plan.system.jobs[job].nodes(), nodes, "{placements:?}");
            assert!(nodes.iter().all(|&node| usize::from(plan.system.job_of[node as usize]) == job));
            taken.extend(nodes);
        }
        // All others are idle.
        let busy =
            (0..plan.system.network.nodes).filter(|&node| plan.system.job_of[node as usize] != u8::MAX);
        assert_eq!(busy.count(), taken.len());
    }
}
