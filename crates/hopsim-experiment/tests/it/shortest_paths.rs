//! Topologies whose shortest paths need no order of VCs, and detours whose two shortest paths take a VC each: packets arrive
//! within the bounds, and what they wait for has no cycle (Dally & Seitz 1987), apart from rings, which bubbles keep moving.

use crate::conformance::{AnyState, Numbers};
use hopsim_experiment::config::Experiment;
use hopsim_experiment::plan::Plan;
use hopsim_experiment::proof::{Channel as Named, Ground, Proof, Verdict, dependencies, prove};
use hopsim_network::topology::{Topology, TopologyConfig};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::{Head, Request, Route, RouteState, Way};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use serde_json::{Map, Value, json};

/// A channel is (router, output port, VC).
type Channel = (u32, usize, u8);

fn meshes() -> Vec<Value> {
    let sides = [json!([5]), json!([4, 3]), json!([2, 3, 2])];
    sides.iter().map(|sides| json!({ "mesh": { "sides": sides, "nodes_per_router": 2 } })).collect()
}

fn hyperxes() -> Vec<Value> {
    let sides = [json!([5]), json!([4, 3]), json!([2, 3, 2])];
    sides.iter().map(|sides| json!({ "hyperx": { "sides": sides, "nodes_per_router": 2 } })).collect()
}

fn tori() -> Vec<Value> {
    let mut all = Vec::new();
    for tie in ["random", "plus"] {
        for sides in [json!([4, 3]), json!([2, 2]), json!([4, 4]), json!([3, 2, 4])] {
            all.push(json!({ "torus": { "sides": sides, "tie": tie } }));
        }
        all.extend([2, 5, 6].map(|routers| json!({ "ring": { "routers": routers, "tie": tie } })));
    }
    all
}

fn trees() -> Vec<Value> {
    [(2, 1), (2, 3), (3, 3), (4, 2)]
        .map(|(k, levels)| json!({ "fat_tree": { "k": k, "levels": levels } }))
        .into()
}

/// Families of graphs whose shortest paths go up and down.
fn families() -> Vec<Value> {
    let plus = |leaves: u32, spines: u32, global: u32, groups: u32| {
        json!({ "dragonfly_plus": {
            "leaves": leaves, "spines": spines, "global_links": global, "groups": groups, "nodes_per_leaf": 1,
        } })
    };
    vec![
        json!({ "xgft": { "children": [2, 4], "parents": [1, 3] } }),
        json!({ "xgft": { "children": [1, 3, 2], "parents": [1, 2, 2] } }),
        json!({ "xgft": { "children": [2, 2, 3], "parents": [1, 1, 3] } }),
        plus(2, 2, 1, 3),
        plus(2, 1, 3, 4),
        plus(3, 2, 2, 3),
        plus(1, 4, 1, 5),
    ]
}

fn detours() -> Vec<Value> {
    vec![json!({ "valiant": {} }), json!({ "valiant": { "recompute": true } }), json!({ "ugal": {} })]
}

fn ways_up() -> Vec<Value> {
    ["source", "destination", "random"].map(|up| json!({ "minimal": { "up": up } })).into()
}

/// The plans of all topologies with all routings and several numbers of VCs, at least so many.
fn plans(topologies: &[Value], routings: &[Value], least: u32) -> Vec<Plan> {
    let mut all = Vec::new();
    for (topology, routing) in topologies.iter().flat_map(|t| routings.iter().map(move |r| (t, r))) {
        for vcs in [least, 2, 5] {
            let document = json!({
                "topology": topology, "routing": routing, "load": 0.1,
                "router": { "input_queued": { "vcs": of_each_class(topology, vcs) } },
            });
            let experiment: Experiment = serde_json::from_value(document).unwrap();
            all.push(Plan::new(&experiment).unwrap_or_else(|e| panic!("{routing} on {topology}: {e}")));
        }
    }
    all
}

/// So many VCs of each class of links that a topology has.
fn of_each_class(topology: &Value, vcs: u32) -> Value {
    let config: TopologyConfig = serde_json::from_value(topology.clone()).unwrap();
    let topology = config.build().unwrap();
    topology.link_classes().iter().map(|&class| (class.to_owned(), json!(vcs))).collect::<Map<_, _>>().into()
}

/// A head on its way.
struct Step {
    head: Head,
    /// The channel that its packet holds; none at injection.
    held: Option<Channel>,
    route: Route,
    state: RouteState,
    /// What it draws in this router.
    draw: Stream,
}

/// All channels that a head may ever ask for.
fn options(plan: &Plan, head: &Head, route: Route) -> Vec<Channel> {
    let ports = match route {
        Route::Arrived => Vec::new(),
        Route::Fixed(hop) => vec![hop.port as usize],
        Route::Undecided(prospect) => {
            let mut ports = Vec::new();
            prospect.each_productive(|port, _| ports.push(port));
            ports
        }
    };
    let vcs = plan.system.network.classes.links[0].vcs;
    ports.into_iter().flat_map(|port| (0..vcs).map(move |vc| (head.router, port, vc))).collect()
}

/// Follows a packet through routers in any state, asks `visit` to look at each of its heads, and returns its links.
fn follow(plan: &Plan, (from, to, serial): (u32, u32, u64), mut visit: impl FnMut(&Step)) -> u32 {
    let (per_router, vcs) =
        (plan.system.topology.nodes_per_router(), plan.system.network.classes.links[0].vcs);
    let (mut head, mut state) = (head(plan, from, to), RouteState::NEW);
    let (mut occupied, mut links) = (None, 0);
    loop {
        let draw = Stream::new(serial, Purpose::Routing, u64::from(from)).at(u64::from(head.router));
        let route = plan.system.routing.route(&head, &mut state, || draw.clone());
        visit(&Step { head, held: occupied, route, state, draw: draw.clone() });
        let settled = plan.system.routing.settle(&head, &mut state, || draw.clone());
        let request = settled.unwrap_or_else(|| {
            let mut numbers = Numbers { head: draw.clone(), attempt: draw.at(1) };
            let decision = plan.system.routing.decide(
                &mut state,
                &AnyState(draw.at(2), head, &plan.system.network),
                &mut numbers,
            );
            state = decision.after;
            decision.request.unwrap_or_else(|| lowest_option(plan, &head, route))
        });
        let Some((next, port)) = plan.system.network.link(head.router, request.port).peer else {
            assert_eq!(head.router, to / per_router, "ejected at the wrong router");
            return links;
        };
        let vc = request.vc % vcs;
        let class = plan.system.network.layout.class[request.port] - 1;
        occupied = Some((head.router, request.port, vc));
        head = Head {
            router: next,
            input: port as u16,
            code: plan.system.routing.vcs().sequence.code(class, vc),
            ..head
        };
        links += 1;
        assert!(links < 100, "a packet from {from} to {to} does not arrive");
    }
}

/// The packet of a node as the head of an injection VC.
fn head(plan: &Plan, source: u32, destination: u32) -> Head {
    let per_router = plan.system.topology.nodes_per_router();
    Head {
        router: source / per_router,
        input: (source % per_router) as u16,
        code: 0,
        source,
        destination: destination / per_router,
        terminal: (destination % per_router) as u16,
        ejection_vc: 0,
        reply: false,
    }
}

/// What a head takes in the end that found nothing open.
fn lowest_option(plan: &Plan, head: &Head, route: Route) -> Request {
    let (_, port, vc) = options(plan, head, route)[0];
    Request { port, vc }
}

/// Follows packets between all nodes, several from each to each. They make no more hops than announced, and none too many
/// but for detours, of which there are some.
fn explore(plan: &Plan, mut visit: impl FnMut(&Step)) {
    let per_router = plan.system.topology.nodes_per_router();
    let most = plan.experiment.routing.paths(&plan.system.topology).unwrap().hops;
    let mut longer = 0;
    for (from, to) in (0..plan.system.network.nodes)
        .flat_map(|from| (0..plan.system.network.nodes).map(move |to| (from, to)))
    {
        let least = distance(plan, from / per_router, to / per_router);
        for serial in 0..6 {
            let links = follow(plan, (from, to, serial), &mut visit);
            assert!((least..=most).contains(&links), "{links} links in {}", name(plan));
            longer += u32::from(links > least);
        }
    }
    // With two routers there is none in between.
    if plan.system.network.routers > 2 {
        assert_eq!(longer > 0, has_phases(plan), "{}", name(plan));
    }
}

/// Links of the shortest path between two routers.
fn distance(plan: &Plan, from: u32, to: u32) -> u32 {
    plan.system.topology.minimal_hops(from, to).into_iter().map(u32::from).sum()
}

/// Whether packets may go to an intermediate router, in VC 0, and on from there, in VC 1.
fn has_phases(plan: &Plan) -> bool {
    ["valiant", "ugal"].contains(&plan.experiment.routing.name())
}

/// The longest path that the mechanism announces exists.
fn assert_longest(plan: &Plan) {
    let per_router = plan.system.topology.nodes_per_router();
    let leaves = plan.system.network.nodes / per_router;
    let pairs = (0..leaves).flat_map(|from| (0..leaves).map(move |to| (from, to)));
    let longest = pairs.map(|(from, to)| distance(plan, from, to)).max();
    let paths = plan.experiment.routing.paths(&plan.system.topology).unwrap();
    assert_eq!(longest, Some(paths.hops));
}

fn name(plan: &Plan) -> String {
    serde_json::to_string(&(&plan.experiment.topology, &plan.experiment.routing)).unwrap()
}

/// Checks that the product proves a plan to have no deadlock, and has foreseen what heads were seen to wait for.
fn proved(plan: &Plan, seen: &DiGraphMap<Channel, ()>) -> Proof {
    let Verdict::Proved(proof) = prove(plan) else { panic!("{}", name(plan)) };
    let foreseen = dependencies(plan, proof.ground == Ground::Escape).unwrap();
    let named = |(router, port, vc): Channel| Named { router, port, vc };
    for (held, wanted, ()) in seen.all_edges() {
        assert!(foreseen.binary_search(&(named(held), named(wanted))).is_ok(), "{held:?}, {}", name(plan));
    }
    proof
}

#[test]
fn in_order_of_dimensions_and_up_before_down_no_channels_wait_for_each_other_in_a_cycle() {
    let minimal = [json!({ "minimal": {} })];
    let up = [ways_up(), vec![json!({ "adaptive": {} })]].concat();
    let grids = [meshes(), hyperxes()].concat();
    let of_families = plans(&families(), &minimal, 1);
    for plan in [plans(&grids, &minimal, 1), plans(&trees(), &up, 1), of_families].concat() {
        // Routers without nodes may be farther from some that have nodes than those are from each other.
        if !matches!(&*plan.system.topology, Topology::Graph(_)) {
            assert_longest(&plan);
        }
        let mut graph = DiGraphMap::<Channel, ()>::new();
        explore(&plan, |step| {
            for channel in options(&plan, &step.head, step.route) {
                graph.add_node(channel);
                if let Some(held) = step.held {
                    graph.add_edge(held, channel, ());
                }
            }
        });
        let proof = proved(&plan, &graph);
        assert_eq!((proof.ground, proof.rings), (Ground::Acyclic, 0), "{}", name(&plan));
    }
}

#[test]
fn a_head_that_finds_nothing_open_asks_for_the_escape_vc() {
    for plan in plans(&[meshes(), tori(), hyperxes()].concat(), &[json!({ "adaptive": {} })], 2) {
        assert_longest(&plan);
        let (vcs, per_router) =
            (plan.system.network.classes.links[0].vcs, plan.system.topology.nodes_per_router());
        let mut heads = 0;
        explore(&plan, |step| {
            let Route::Undecided(_) = step.route else { return };
            let (mut state, head) = (step.state, step.head);
            let mut numbers = Numbers { head: step.draw.clone(), attempt: step.draw.at(1) };
            let decision = plan.system.routing.decide(&mut state, &Shut(head), &mut numbers);
            let (port, _) =
                plan.system.topology.minimal_port(head.router, head.destination, step.state.trunk);
            let Request { port: asked, vc } = decision.request.expect("a last resort");
            assert_eq!((asked, vc % vcs), (port, 0), "{}", name(&plan));
            assert!(asked >= per_router as usize);
            heads += 1;
        });
        assert!(heads > 0);
    }
}

/// What a head waits for if nothing else is open: the output VC, which may be an entry; none that could be named before.
fn last_resort(plan: &Plan, step: &Step) -> Option<Way> {
    match step.route {
        Route::Arrived => None,
        Route::Fixed(hop) => Some(plan.system.routing.base().way(&step.head, hop)),
        // At injection, where it holds nothing, and draws anew in every attempt.
        Route::Undecided(prospect) if prospect.draws_anew() => None,
        Route::Undecided(prospect) => Some(prospect.minimal),
    }
}

#[test]
fn the_escape_vcs_of_a_grid_and_the_phases_of_a_mesh_wait_for_each_other_in_no_cycle() {
    let adaptive = vec![json!({ "adaptive": {} })];
    let of_meshes = plans(&meshes(), &[detours(), adaptive.clone()].concat(), 2);
    let of_families = plans(&families(), &detours(), 2);
    for plan in [of_meshes, plans(&hyperxes(), &adaptive, 2), of_families].concat() {
        let mut graph = DiGraphMap::<Channel, ()>::new();
        explore(&plan, |step| {
            let Some(way) = last_resort(&plan, step) else { return };
            assert!(way.vc == 0 || has_phases(&plan) && way.vc == 1);
            if let Some(held) = step.held {
                graph.add_edge(held, (step.head.router, way.port as usize, way.vc), ());
            }
        });
        let most = plan.experiment.routing.paths(&plan.system.topology).unwrap().hops;
        assert_eq!(graph.edge_count() > 0, most > 1, "{}", name(&plan));
        let proof = proved(&plan, &graph);
        assert_eq!(proof.rings, 0, "{}", name(&plan));
        assert!(proof.ground == Ground::Acyclic || !has_phases(&plan), "{}", name(&plan));
    }
}

/// A ring of links in one direction: dimension, direction, the router where it begins, and the VC if each is a ring of its own.
type Ring = (usize, bool, u32, Option<u8>);

/// The ring that a channel is part of. With an escape VC only that is one.
fn ring(plan: &Plan, (router, port, vc): Channel) -> Option<Ring> {
    let Topology::Cube(cube) = &*plan.system.topology else { panic!("a torus") };
    let (dimension, plus) = cube.direction(port);
    let stride: u32 = cube.sides()[..dimension].iter().product();
    let first = router - cube.coordinate(router, dimension) * stride;
    let is_ring = plan.experiment.routing.name() != "adaptive" || vc == 0;
    is_ring.then(|| (dimension, plus, first, Some(vc).filter(|_| has_phases(plan))))
}

/// Checks what one head asks for of the rings, and notes which ring waits for which other one.
fn check_entry(plan: &Plan, step: &Step, graph: &mut DiGraphMap<Ring, ()>) {
    let vcs = plan.system.network.classes.links[0].vcs;
    let Some(way) = last_resort(plan, step) else { return };
    let from = step.held.and_then(|held| ring(plan, held));
    let to = ring(plan, (step.head.router, way.port as usize, way.vc % vcs));
    assert_eq!(way.vc >= vcs, from != to, "{:?} in {}", step.head, name(plan));
    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from != to) {
        graph.add_edge(from, to, ());
    }
}

/// How many rings packets could fill: those in which some go over two links at least.
fn rings_that_fill(plan: &Plan) -> usize {
    let Topology::Cube(cube) = &*plan.system.topology else { panic!("a torus") };
    let ties = plan.system.topology.has_trunks();
    let of_dimension = |&side: &u32| {
        let longest = [side / 2, if ties || side % 2 == 1 { side / 2 } else { side / 2 - 1 }];
        let directions = longest.into_iter().filter(|&links| links >= 2).count();
        directions * (plan.system.network.routers / side) as usize
    };
    let phases = if has_phases(plan) { 2 } else { 1 };
    phases * cube.sides().iter().map(of_dimension).sum::<usize>()
}

#[test]
fn the_rings_of_a_torus_are_only_entered_by_entries_and_wait_for_each_other_in_no_cycle() {
    let minimal = plans(&tori(), &[json!({ "minimal": {} })], 1);
    let others = plans(&tori(), &[detours(), vec![json!({ "adaptive": {} })]].concat(), 2);
    for plan in [minimal, others].concat() {
        let mut graph = DiGraphMap::new();
        explore(&plan, |step| check_entry(&plan, step, &mut graph));
        let Topology::Cube(cube) = &*plan.system.topology else { panic!("a torus") };
        // With many adaptive VCs hardly anybody escapes.
        if plan.system.network.classes.links[0].vcs <= 2 && plan.system.network.routers > 2 {
            assert_eq!(graph.edge_count() > 0, cube.sides().len() > 1 || has_phases(&plan));
        }
        assert!(!is_cyclic_directed(&graph), "{}", name(&plan));
        let proof = proved(&plan, &DiGraphMap::new());
        assert_eq!(proof.rings, rings_that_fill(&plan), "{}", name(&plan));
    }
}

/// A router without any room.
struct Shut(Head);

impl hopsim_routing::view::View for Shut {
    fn open(&self, _: Request) -> bool {
        false
    }
    fn credits(&self, _: Request) -> u32 {
        0
    }
    fn occupancy(&self, _: Request) -> u32 {
        self.capacity(0)
    }
    fn minimal_occupancy(&self, _: Request) -> u32 {
        self.capacity(0)
    }
    fn capacity(&self, _: u8) -> u32 {
        64
    }
    fn contention(&self, _: usize) -> u32 {
        0
    }
    fn filtered_contention(&self, _: usize) -> f64 {
        0.0
    }
    fn combined_contention(&self, _: u32) -> u32 {
        0
    }
    fn saturated(&self, _: Option<u32>, _: Request) -> bool {
        false
    }
    fn outstanding(&self, _: u32, _: usize) -> u32 {
        self.capacity(0)
    }
    fn length(&self) -> u32 {
        8
    }
    fn head(&self) -> Head {
        self.0
    }
}
