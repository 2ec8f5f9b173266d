//! The links of families of topologies, written from what `hopsim explain` says of them.

use super::tables::destinations;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::dragonfly::Arrangement;
use hopsim_network::topology::{Topology, TopologyConfig, dragonfly_plus, planes, product, xgft};
use hopsim_random::{Purpose, Stream};

/// The routers at the other ends of the links of every router, in the order of their ports; `None` where nothing is plugged in.
type Peers = Vec<Vec<Option<usize>>>;

/// A link, the router of the lower number first.
type Pair = (usize, usize);

/// Whether shortest paths go up a tree and down again, so that each of the two of a detour needs one VC only: where all links are in order.
pub fn goes_up_and_down(plan: &Plan) -> bool {
    let is_tree = match &plan.experiment.topology {
        TopologyConfig::DragonflyPlus(_) | TopologyConfig::Oft(_) | TopologyConfig::Xgft(_) => true,
        TopologyConfig::Planes(config) => {
            matches!(*config.of, TopologyConfig::Oft(_) | TopologyConfig::Xgft(_))
        }
        TopologyConfig::Graph(_)
        | TopologyConfig::SlimFly(_)
        | TopologyConfig::Polarfly(_)
        | TopologyConfig::Jellyfish(_)
        | TopologyConfig::Xpander(_) => false,
        // What a family says of itself that has not been written a second time; it is proved, in the VCs that there are then.
        _ => matches!(&*plan.system.topology, Topology::Graph(graph) if graph.goes_up_and_down()),
    };
    is_tree && plan.experiment.faults.is_empty()
}

/// How many routers, the first ones, forward nothing.
pub fn adapters(plan: &Plan) -> usize {
    match &plan.experiment.topology {
        TopologyConfig::Planes(_) => destinations(&plan.system.topology),
        _ => 0,
    }
}

/// Panics if the links of a network of a family are others than its definition says.
pub fn check(config: &TopologyConfig, topology: &Topology) {
    let Some(expected) = peers(config) else { return };
    let first = topology.nodes_per_router() as usize;
    assert_eq!(expected.len(), topology.routers() as usize, "{config:?}");
    for (router, peers) in expected.iter().enumerate() {
        let of = |port| topology.neighbour(router as u32, port).map(|(peer, _)| peer as usize);
        let mut found: Vec<_> = (first..topology.ports().len()).map(of).collect();
        found.truncate(found.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        assert_eq!(&found, peers, "links of router {router}, {config:?}");
    }
}

fn peers(config: &TopologyConfig) -> Option<Peers> {
    let of = |routers: usize, pairs: Vec<Pair>| Some(in_order(routers, &pairs));
    match config {
        TopologyConfig::SlimFly(config) => {
            of(2 * (config.q * config.q) as usize, slim_fly(config.q as usize))
        }
        TopologyConfig::Polarfly(config) => {
            let pairs = polarfly(config.q as usize);
            of((config.q * config.q + config.q + 1) as usize, pairs)
        }
        TopologyConfig::Jellyfish(config) => {
            let (routers, degree) = (config.routers as usize, config.degree as usize);
            of(routers, jellyfish(routers, degree, config.seed))
        }
        TopologyConfig::Xpander(config) => {
            let (routers, degree) = (config.routers as usize, config.degree as usize);
            of(routers, xpander(routers, degree, config.seed))
        }
        TopologyConfig::Xgft(config) => {
            let (routers, pairs) = fat_tree(config);
            of(routers, pairs)
        }
        TopologyConfig::Oft(config) => {
            let points = (config.q * config.q + config.q + 1) as usize;
            of(3 * points, columns_and_spines(config.q as usize, points))
        }
        TopologyConfig::DragonflyPlus(config) => Some(leaves_and_spines(config)),
        TopologyConfig::Product(config) => Some(networks_of_networks(config)),
        TopologyConfig::Planes(config) => Some(adapters_and_planes(config)),
        _ => None,
    }
}

/// Links in the order of the routers at their ends.
fn in_order(routers: usize, pairs: &[Pair]) -> Peers {
    let mut peers = vec![Vec::new(); routers];
    for &(one, other) in pairs {
        peers[one].push(Some(other));
        peers[other].push(Some(one));
    }
    for peers in &mut peers {
        peers.sort_unstable();
    }
    peers
}

/// A finite field, its elements as coefficients, that of x^0 first.
struct Field {
    p: usize,
    n: usize,
    /// Coefficients of the polynomial modulo which products are taken.
    modulus: Vec<usize>,
}

impl Field {
    fn new(q: usize) -> Self {
        let p = (2..=q).find(|p| q.is_multiple_of(*p)).expect("q is more than 1");
        let n = (1..=16).find(|&n| p.pow(n) == q).expect("q is a power of a prime") as usize;
        let digits = |number: usize, count: usize| {
            (0..count).map(|place| number / p.pow(place as u32) % p).collect::<Vec<usize>>()
        };
        let monic =
            |degree: usize| (0..p.pow(degree as u32)).map(move |low| [digits(low, degree), vec![1]].concat());
        let products: Vec<Vec<usize>> = (1..n)
            .flat_map(|degree| {
                monic(degree)
                    .flat_map(move |one| monic(n - degree).map(move |other| multiplied(&one, &other, p)))
            })
            .collect();
        let modulus = monic(n).find(|polynomial| !products.contains(polynomial)).expect("there is one");
        Self { p, n, modulus }
    }

    fn element(&self, number: usize) -> Vec<usize> {
        (0..self.n).map(|place| number / self.p.pow(place as u32) % self.p).collect()
    }

    fn number(&self, element: &[usize]) -> usize {
        element.iter().rev().fold(0, |number, digit| number * self.p + digit)
    }

    fn sum(&self, one: usize, other: usize) -> usize {
        let (one, other) = (self.element(one), self.element(other));
        self.number(&one.iter().zip(&other).map(|(a, b)| (a + b) % self.p).collect::<Vec<_>>())
    }

    fn product(&self, one: usize, other: usize) -> usize {
        let mut product = multiplied(&self.element(one), &self.element(other), self.p);
        // From the highest power on, multiples of the modulus are taken away.
        for power in (self.n..product.len()).rev() {
            let times = product[power];
            for (place, digit) in self.modulus.iter().enumerate() {
                let at = &mut product[power - self.n + place];
                *at = (*at + self.p * self.p - times * digit) % self.p;
            }
        }
        self.number(&product[..self.n.min(product.len())])
    }

    fn power(&self, element: usize, exponent: usize) -> usize {
        (0..exponent).fold(1, |power, _| self.product(power, element))
    }

    fn primitive(&self, q: usize) -> usize {
        let is_primitive = |&element: &usize| (1..q - 1).all(|exponent| self.power(element, exponent) != 1);
        (1..q).find(is_primitive).expect("there is one")
    }
}

/// The product of two polynomials whose coefficients are integers modulo p.
fn multiplied(one: &[usize], other: &[usize], p: usize) -> Vec<usize> {
    let mut product = vec![0; one.len() + other.len() - 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            product[i + j] = (product[i + j] + a * b) % p;
        }
    }
    product
}

fn slim_fly(q: usize) -> Vec<Pair> {
    let field = Field::new(q);
    let xi = field.primitive(q);
    let steps = |first: usize, last: usize| (first..=last).step_by(2).collect::<Vec<usize>>();
    let [exponents, others] = match q % 4 {
        1 => [steps(0, q - 3), steps(1, q - 2)],
        3 => {
            let w = (q + 1) / 4;
            [
                [steps(0, 2 * w - 2), steps(2 * w - 1, 4 * w - 3)].concat(),
                [steps(1, 2 * w - 1), steps(2 * w, 4 * w - 2)].concat(),
            ]
        }
        _ => [steps(0, q - 2), steps(1, q - 1)],
    };
    let of = |exponents: Vec<usize>| {
        exponents.into_iter().map(|exponent| field.power(xi, exponent)).collect::<Vec<usize>>()
    };
    let (first, second) = (of(exponents), of(others));
    let linked = |(set, x, y): (usize, usize, usize), (other, m, c): (usize, usize, usize)| match (set, other)
    {
        (0, 0) => x == m && first.iter().any(|&difference| field.sum(c, difference) == y),
        (1, 1) => x == m && second.iter().any(|&difference| field.sum(c, difference) == y),
        _ => y == field.sum(field.product(m, x), c),
    };
    let place = |router: usize| (router / (q * q), router / q % q, router % q);
    pairs(2 * q * q, |one, other| linked(place(one), place(other)))
}

/// All pairs of routers that are linked.
fn pairs(routers: usize, linked: impl Fn(usize, usize) -> bool) -> Vec<Pair> {
    let all = (0..routers).flat_map(|one| (one + 1..routers).map(move |other| (one, other)));
    all.filter(|&(one, other)| linked(one, other)).collect()
}

fn polarfly(q: usize) -> Vec<Pair> {
    let field = Field::new(q);
    pairs(q * q + q + 1, |one, other| are_orthogonal(&field, q, (one, other)))
}

fn are_orthogonal(field: &Field, q: usize, (one, other): (usize, usize)) -> bool {
    let point = |number: usize| {
        if number < q * q {
            [1, number / q, number % q]
        } else if number < q * q + q {
            [0, 1, number - q * q]
        } else {
            [0, 0, 1]
        }
    };
    let products = point(one).into_iter().zip(point(other)).map(|(a, b)| field.product(a, b));
    products.fold(0, |sum, product| field.sum(sum, product)) == 0
}

/// The links of an orthogonal fat tree, which has so many points.
fn columns_and_spines(q: usize, points: usize) -> Vec<Pair> {
    let field = Field::new(q);
    let all = (0..points).flat_map(|point| (0..points).map(move |line| (point, line)));
    let on = all.filter(|&pair| are_orthogonal(&field, q, pair));
    on.flat_map(|(point, line)| [(point, 2 * points + line), (points + point, 2 * points + line)]).collect()
}

/// Whether links lead from router 0 to all others.
fn joins_all(routers: usize, links: &[Pair]) -> bool {
    let mut reached = vec![false; routers];
    reached[0] = true;
    for _ in 0..routers {
        for &(one, other) in links {
            let either = reached[one] || reached[other];
            (reached[one], reached[other]) = (either, either);
        }
    }
    !reached.contains(&false)
}

fn jellyfish(routers: usize, degree: usize, seed: u64) -> Vec<Pair> {
    let others = routers - 1 - degree;
    for attempt in 0..1000 {
        let mut stream = Stream::new(seed, Purpose::RandomGraph, attempt);
        let Some(pairing) = paired(routers, degree.min(others), &mut stream) else { continue };
        let is_linked = |pair: Pair| pairing.contains(&pair);
        let links =
            if degree <= others { pairing } else { pairs(routers, |one, other| !is_linked((one, other))) };
        if joins_all(routers, &links) {
            return links;
        }
    }
    unreachable!("the topology has been built")
}

/// Stubs paired at random, and what is wrong with it repaired.
fn paired(routers: usize, degree: usize, stream: &mut Stream) -> Option<Vec<Pair>> {
    let ordered = |one: usize, other: usize| (one.min(other), one.max(other));
    let mut stubs = Vec::new();
    for router in 0..routers {
        stubs.extend(vec![router; degree]);
    }
    stream.shuffle(&mut stubs);
    let mut links: Vec<Pair> = (0..stubs.len() / 2).map(|i| (stubs[2 * i], stubs[2 * i + 1])).collect();
    let mut is_wrong: Vec<bool> = Vec::new();
    for (number, &(one, other)) in links.iter().enumerate() {
        let repeated = links[..number].iter().any(|&(a, b)| ordered(a, b) == ordered(one, other));
        is_wrong.push(one == other || repeated);
    }
    while let Some(wrong) = is_wrong.iter().position(|&is_wrong| is_wrong) {
        let (a, b) = links[wrong];
        let mut draws = 0;
        let partner = loop {
            if draws == 1000 {
                return None;
            }
            draws += 1;
            let other = stream.below(links.len() as u32) as usize;
            let (c, d) = links[other];
            let right =
                || links.iter().zip(&is_wrong).filter(|&(_, &is_wrong)| !is_wrong).map(|(link, _)| *link);
            let free = |one: usize, other: usize| {
                one != other && !right().any(|(x, y)| ordered(x, y) == ordered(one, other))
            };
            if !is_wrong[other] && free(a, c) && free(b, d) && ordered(a, c) != ordered(b, d) {
                break other;
            }
        };
        let (c, d) = links[partner];
        (links[wrong], links[partner], is_wrong[wrong]) = ((a, c), (b, d), false);
    }
    Some(links.into_iter().map(|(one, other)| ordered(one, other)).collect())
}

fn xpander(routers: usize, degree: usize, seed: u64) -> Vec<Pair> {
    let size = routers / (degree + 1);
    for attempt in 0..1000 {
        let mut stream = Stream::new(seed, Purpose::RandomGraph, attempt);
        let mut links = Vec::new();
        for one in 0..=degree {
            for other in one + 1..=degree {
                let mut numbers: Vec<usize> = (0..size).collect();
                stream.shuffle(&mut numbers);
                links.extend((0..size).map(|j| (one * size + j, other * size + numbers[j])));
            }
        }
        if joins_all(routers, &links) {
            return links;
        }
    }
    unreachable!("the topology has been built")
}

/// Number of switches, and links, of a fat tree.
fn fat_tree(config: &xgft::Config) -> (usize, Vec<Pair>) {
    let h = config.children.len();
    // From level 1 on.
    let m = |level: usize| config.children[level - 1] as usize;
    let w = |level: usize| config.parents[level - 1] as usize;
    // The words of a level: digits a of the levels above it from the highest one, then digits b of its own and of those below.
    let words = |level: usize| {
        let radices = (level + 1..=h).rev().map(m).chain((1..=level).rev().map(w));
        radices.fold(vec![Vec::new()], |words: Vec<Vec<usize>>, radix| {
            words
                .iter()
                .flat_map(|word| (0..radix).map(move |digit| [word.clone(), vec![digit]].concat()))
                .collect()
        })
    };
    let (mut first, mut links) = (0, Vec::new());
    for level in 1..=h {
        let (here, above) = (words(level), if level < h { words(level + 1) } else { Vec::new() });
        for (low, one) in here.iter().enumerate() {
            for (high, other) in above.iter().enumerate() {
                // Digit number level + 1 of both is a of the lower one and b of the higher one.
                let place = h - (level + 1);
                let rest = |word: &[usize]| [&word[..place], &word[place + 1..]].concat();
                if rest(one) == rest(other) {
                    let parallel = config.parallel.get(level).map_or(1, |&links| links as usize);
                    links.extend(vec![(first + low, first + here.len() + high); parallel]);
                }
            }
        }
        first += here.len();
    }
    (first, links)
}

fn leaves_and_spines(config: &dragonfly_plus::Config) -> Peers {
    let leaves = config.leaves as usize;
    let number = |given: Option<u32>, default: usize| given.map_or(default, |number| number as usize);
    let (spines, global) = (number(config.spines, leaves), number(config.global_links, leaves));
    let groups = number(config.groups, spines * global + 1);
    let spine = |group: usize, spine: usize| groups * leaves + group * spines + spine;
    let mut peers: Peers = Vec::new();
    for group in 0..groups {
        peers.extend(vec![(0..spines).map(|number| Some(spine(group, number))).collect(); leaves]);
    }
    for (group, number) in (0..groups).flat_map(|group| (0..spines).map(move |number| (group, number))) {
        let mut links: Vec<_> = (0..leaves).map(|leaf| Some(group * leaves + leaf)).collect();
        // Those of a leaf may be more.
        links.resize(leaves.max(spines), None);
        let slots = number * global..(number + 1) * global;
        let shared =
            slots.filter_map(|slot| slot_peer(config.arrangement, (groups, spines * global), (group, slot)));
        let mut out: Vec<usize> = shared.map(|(peer, slot)| spine(peer, slot / global)).collect();
        out.sort_unstable();
        links.extend(out.into_iter().map(Some));
        links.truncate(links.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        peers.push(links);
    }
    peers
}

/// Routers are pairs of an outer and an inner one, those with nodes first; the local links of a router are followed by its global ones.
fn networks_of_networks(config: &product::Config) -> Peers {
    let [inner, outer] = [&config.inner, &config.outer].map(|part| part.build().expect("a part"));
    let with_nodes = inner.routers_with_nodes();
    let all = (0..outer.routers()).flat_map(|x| (0..inner.routers()).map(move |i| (i >= with_nodes, x, i)));
    let mut numbered: Vec<(bool, u32, u32)> = all.collect();
    numbered.sort_unstable();
    let number = |x: u32, i: u32| numbered.binary_search(&(i >= with_nodes, x, i)).expect("a router");
    let peers = |topology: &Topology, router: u32| {
        let ports = 0..topology.ports().len();
        ports.filter_map(|port| topology.neighbour(router, port)).map(|(peer, _)| peer).collect::<Vec<_>>()
    };
    let is_gateway = |i: u32| config.gateways.is_empty() || config.gateways.contains(&i);
    let sorted = |mut routers: Vec<usize>| {
        routers.sort_unstable();
        routers.into_iter().map(Some)
    };
    let most = (0..inner.routers()).map(|i| peers(&inner, i).len()).max().unwrap_or(0);
    let of = |&(_, x, i): &(bool, u32, u32)| {
        let local = peers(&inner, i).into_iter().map(|peer| number(x, peer)).collect();
        let mut links: Vec<Option<usize>> = sorted(local).collect();
        if is_gateway(i) {
            links.resize(most, None);
            let global = peers(&outer, x).into_iter().map(|peer| number(peer, i)).collect();
            links.extend(sorted(global));
        }
        links
    };
    numbered.iter().map(of).collect()
}

/// Adapters, then planes: a router has its links in the plane, and behind room for as many as any has, those to adapters; an adapter has those
/// to its router in every plane alone.
fn adapters_and_planes(config: &planes::Config) -> Peers {
    let (plane, count) = (config.of.build().expect("a part"), config.count as usize);
    let (routers, adapters) = (plane.routers() as usize, plane.nodes() as usize);
    let inside = |router: usize| {
        let ports = 0..plane.ports().len();
        let peer = |port| Some(plane.neighbour(router as u32, port)?.0 as usize);
        ports.filter_map(peer).collect::<Vec<usize>>()
    };
    let most = (0..routers).map(|router| inside(router).len()).max().unwrap_or(0);
    let router_of = |node: usize| plane.router_of(node as u32) as usize;
    let behind = |links: Vec<usize>, rails: Vec<usize>| {
        let mut links: Vec<Option<usize>> = links.into_iter().map(Some).collect();
        links.resize(if rails.is_empty() { links.len() } else { most }, None);
        links.extend(rails.into_iter().map(Some));
        links
    };
    let mut peers: Peers = (0..adapters)
        .map(|node| behind(vec![], (0..count).map(|p| adapters + p * routers + router_of(node)).collect()))
        .collect();
    for p in 0..count {
        for router in 0..routers {
            let mut links: Vec<usize> =
                inside(router).into_iter().map(|peer| adapters + p * routers + peer).collect();
            links.sort_unstable();
            peers.push(behind(links, (0..adapters).filter(|&node| router_of(node) == router).collect()));
        }
    }
    peers
}

/// The group and slot to which a slot of a group leads: of a dragonfly with groups of that many global ports.
fn slot_peer(
    arrangement: Arrangement,
    (groups, slots): (usize, usize),
    (group, slot): (usize, usize),
) -> Option<(usize, usize)> {
    // As many of each of the other groups as all can have, one after the other.
    let dealt = slots / (groups - 1) * (groups - 1);
    let plain = |group: usize, slot: usize| {
        if slot >= dealt {
            return spare_peer((groups, slots, dealt), (group, slot));
        }
        if arrangement == Arrangement::Palmtree {
            let before = slot % (groups - 1) + 1;
            return Some(((group + groups - before) % groups, dealt - 1 - slot));
        }
        let (round, rank) = (slot / (groups - 1), slot % (groups - 1));
        let peer = if rank < group { rank } else { rank + 1 };
        Some((peer, round * (groups - 1) + if group < peer { group } else { group - 1 }))
    };
    let Arrangement::Random(random) = arrangement else { return plain(group, slot) };
    let order = |group: usize| {
        let mut order: Vec<usize> = (0..slots).collect();
        Stream::new(random.instance, Purpose::Arrangement, group as u64).shuffle(&mut order);
        order
    };
    let (peer, back) = plain(group, order(group)[slot])?;
    Some((peer, order(peer).iter().position(|&link| link == back)?))
}

/// The group and slot to which a slot leads that is left: to the nearest groups before and behind, as many of each, and to the one opposite if one is left
/// of an even number of groups.
fn spare_peer(
    (groups, slots, dealt): (usize, usize, usize),
    (group, slot): (usize, usize),
) -> Option<(usize, usize)> {
    let (left, rank) = (slots - dealt, slot - dealt);
    let half = left / 2;
    let has_opposite = left % 2 == 1 && groups.is_multiple_of(2);
    let used = 2 * half + usize::from(has_opposite);
    let before = match rank {
        _ if rank < half => rank + 1,
        _ if has_opposite && rank == half => groups / 2,
        _ if rank < used => groups - (used - rank),
        _ => return None,
    };
    Some(((group + groups - before) % groups, dealt + used - 1 - rank))
}
