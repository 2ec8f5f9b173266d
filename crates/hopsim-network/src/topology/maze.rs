//! What shortest paths are found in.

/// A link that a packet may take from a place.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Port by which the link leaves the router.
    pub port: u16,
    /// Number of the link in this direction, of those whose load is balanced.
    pub link: u32,
    /// Latency \[cycles\].
    pub latency: u32,
    /// Place at the other end.
    pub to: u32,
}

/// What there is to find paths in.
#[derive(Clone, Debug, Default)]
pub struct Maze {
    /// The steps from every place, ports ascending.
    pub steps: Vec<Vec<Step>>,
    /// The places that are at each destination. The first of them is where packets from there begin.
    pub ends: Vec<Vec<u32>>,
    /// Links in both directions.
    pub links: usize,
}

/// The place of a head that comes to a router over a link, in a network of so many routers of which the first `adapters` forward nothing: for these
/// it is one behind all routers, from which no step leads on. A packet of their own nodes begins in the place of the router itself.
pub fn arrival(router: u32, (routers, adapters): (u32, u32)) -> u32 {
    if router < adapters { routers + router } else { router }
}

/// Links from a router to each of `routers`, `u32::MAX` to those that it cannot reach.
pub fn distances<N: Iterator<Item = u32>>(
    routers: usize,
    from: u32,
    neighbours: impl Fn(u32) -> N,
) -> Vec<u32> {
    let mut distances = vec![u32::MAX; routers];
    distances[from as usize] = 0;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        for peer in neighbours(router) {
            if distances[peer as usize] == u32::MAX {
                distances[peer as usize] = distances[router as usize] + 1;
                reached.push(peer);
            }
        }
        next += 1;
    }
    distances
}
