//! Which ways there are not in fabrics whose links fail, and when: computed again, instant by instant and way by way.

use hopsim_experiment::cut_ways::{CutWays, cuts, sentences};
use hopsim_experiment::document;
use hopsim_experiment::plan::programs::no_files;
use hopsim_experiment::plan::{AnyPlan, FabricPlan};
use hopsim_infiniband::faults::What;
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;

fn plan(text: &str) -> Result<FabricPlan, ConfigError> {
    let experiment =
        document::points(text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0).experiment;
    let AnyPlan::Fabric(plan) = AnyPlan::new(&experiment, &no_files)? else {
        panic!("the router is that of a fabric")
    };
    Ok(*plan)
}

/// Why packets do not get from one node to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    There,
    Out,
    Circle,
}

/// Where packets from a node get to at a time, hop by hop, with all that has changed until then.
fn way(plan: &FabricPlan, at: Ticks, [source, node]: [u32; 2]) -> End {
    let fabric = &plan.fabric;
    let done = || fabric.faults.changes.iter().filter(|change| change.at <= at).map(|change| change.what);
    let tables_of = |switch: u32| {
        let written = done().rev().find_map(|what| match what {
            What::Table { switch: other, tables } if other == switch => Some(tables),
            _ => None,
        });
        plan.tables().nth(written.unwrap_or(0) as usize).unwrap()
    };
    let is_out = |port: u32| {
        let ends = [port, fabric.ports[port as usize].peer];
        let told = done().rev().find_map(|what| match what {
            What::Fails { port, .. } if ends.contains(&port) => Some(true),
            What::Repaired { port } if ends.contains(&port) => Some(false),
            _ => None,
        });
        told.unwrap_or(false)
    };
    let mut here = fabric.ports[source as usize].peer;
    for _ in 0..=fabric.first_port.len() {
        let switch = fabric.first_port.iter().filter(|&&first| first <= here).count() as u32 - 1;
        let entry = (switch * fabric.hosts + node) as usize;
        let port = fabric.first_port[switch as usize] + tables_of(switch).output(entry);
        if is_out(port) {
            return End::Out;
        }
        here = fabric.ports[port as usize].peer;
        if here < fabric.hosts {
            return if here == node { End::There } else { End::Out };
        }
    }
    End::Circle
}

/// From when to when there are ways that there are not, and how many at most; whether any goes round in a circle.
fn again(plan: &FabricPlan) -> (Vec<(Ticks, Option<Ticks>, u64)>, bool) {
    let mut times: Vec<Ticks> = plan.fabric.faults.changes.iter().map(|change| change.at).collect();
    times.retain(|&at| at < plan.span.end);
    times.dedup();
    let hosts = plan.fabric.hosts;
    let (mut found, mut circles): (Vec<(Ticks, Option<Ticks>, u64)>, bool) = (Vec::new(), false);
    let mut was_cut = false;
    for at in times {
        let pairs = (0..hosts).flat_map(|source| (0..hosts).map(move |node| [source, node]));
        let ends: Vec<End> =
            pairs.filter(|[source, node]| source != node).map(|ends| way(plan, at, ends)).collect();
        let cut = ends.iter().filter(|&&end| end != End::There).count() as u64;
        circles |= ends.contains(&End::Circle);
        match found.last_mut() {
            Some((_, _, most)) if was_cut && cut > 0 => *most = cut.max(*most),
            Some((_, until, _)) if was_cut => *until = Some(at),
            _ if cut > 0 => found.push((at, None, cut)),
            _ => {}
        }
        was_cut = cut > 0;
    }
    (found, circles)
}

#[test]
fn ways_that_there_are_not_are_those_that_packets_cannot_go() {
    let (mut cut, mut circles, mut several) = (0, 0, 0);
    for seed in 0..60 {
        let how = ["minimal", "min_hop", "up_down"][seed % 3];
        let fault = |seed: usize, at: usize, length: usize| {
            format!(
                "{{ links = {{ fraction = 0.1, seed = {seed} }}, time = {{ at = \"{at} us\", until = \"{} us\", detection = \"{} us\", \
                 reroute = \"3 us\", table_write = \"{} us\" }} }}",
                at + length,
                seed % 3,
                seed % 4
            )
        };
        let faults = [fault(seed, seed % 7, 10 + seed), fault(seed + 100, 9 + seed % 11, 15)].join(", ");
        let text = format!(
            "faults = [{faults}]\ntopology.jellyfish = {{ routers = 8, degree = 4, seed = {seed}, nodes_per_router = {} }}\n\
             router.infiniband = {{ forwarding = \"{how}\", lanes.allow_deadlock = true }}\n\
             measure.time.window = \"80 us\"\njobs = [{{ messages.rate = \"1 Gb/s\" }}]\n",
            1 + seed % 2
        );
        // Some fall apart.
        let Ok(plan) = plan(&text) else { continue };
        let found = cuts(&plan);
        let (expected, has_circle) = again(&plan);
        let told: Vec<_> = found.iter().map(|cut| (cut.from, cut.until, cut.most)).collect();
        assert_eq!(told, expected, "{text}");
        assert_eq!(sentences(&plan).len(), found.len());
        for CutWays { from, among, .. } in &found {
            assert!(!among.is_empty() && way(&plan, *from, among[0]) != End::There, "{text}");
        }
        (cut, circles, several) =
            (cut + found.len(), circles + usize::from(has_circle), several + usize::from(found.len() > 1));
    }
    println!("{cut} times, {several} runs with several, {circles} with a circle");
    assert!(cut >= 40 && several >= 10 && circles >= 5, "{cut} {several} {circles}");
}

/// Three switches that are all joined, with two nodes each, of which one link fails.
fn triangle(times: &str) -> Vec<String> {
    let text = format!(
        "faults = [{{ links.between = [[0, 1]], time = {{ {times} }} }}]\n\
         topology.graph = {{ edges = [{{ between = [0, 1] }}, {{ between = [1, 2] }}, {{ between = [2, 0] }}], nodes_per_router = 2 }}\n\
         router.infiniband = {{ lanes.allow_deadlock = true }}\nmeasure.time.window = \"1 ms\"\njobs = [{{ messages.rate = \"1 Gb/s\" }}]\n"
    );
    sentences(&plan(&text).unwrap())
}

#[test]
fn nodes_have_no_way_from_the_failure_to_the_last_table() {
    // Switch 0 has its table at 150.5 us, and switch 1 at 151 us.
    let slow = "at = \"100.5 us\", detection = \"20 us\", reroute = \"30 us\", table_write = \"500 ns\"";
    assert_eq!(
        triangle(slow),
        [
            "cut off from 100.5 us to 151 us: up to 8 of 30 ways between nodes at once, first 0 to 2, 0 to 3, 2 to 0, 2 to 1"
        ]
    );
    // The link is back before.
    let short = "at = \"2 us\", until = \"2.0005 us\", detection = \"20 us\"";
    assert_eq!(
        triangle(short),
        [
            "cut off from 2 us to 2.0005 us: up to 8 of 30 ways between nodes at once, first 0 to 2, 0 to 3, 2 to 0, 2 to 1"
        ]
    );
    let late = "at = \"0.9 ms\", detection = \"1 ms\"";
    assert!(
        triangle(late)[0].starts_with("cut off from 900 us on: up to 8 of 30 ways"),
        "{:?}",
        triangle(late)
    );
}
