//! A breadth-first search of a graph that ranks share: how many queries the model of [`super::volume`] stands for.
//!
//! Vertex v is at home on rank v mod n. In level l the vertices at distance l from the root are the frontier, and their ranks
//! follow all their edges: one to a vertex of another rank is a query, whether that has been visited before or not. Every edge that
//! can be reached from the root is so followed once from either end.

use super::kronecker::Kronecker;
use super::random::{self, DrawPurpose, Source};
use super::volume::Volume;
use super::{Parameters, kronecker};
use crate::record::Rank;

/// The distance of vertices that cannot be reached.
pub const UNREACHED: u32 = u32::MAX;

/// The distance of every vertex from the root.
pub fn distances(graph: &Kronecker, root: u32) -> Vec<u32> {
    let mut distances = vec![UNREACHED; graph.vertices() as usize];
    distances[root as usize] = 0;
    let mut frontier = vec![root];
    for distance in 1.. {
        let mut next = Vec::new();
        for &vertex in &frontier {
            for &neighbour in graph.neighbours(vertex) {
                let found = &mut distances[neighbour as usize];
                if *found == UNREACHED {
                    *found = distance;
                    next.push(neighbour);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    distances
}

/// Queries by level, by rank, of a search that found these distances.
pub fn queries(graph: &Kronecker, distances: &[u32], ranks: u32) -> Vec<Vec<u64>> {
    let mut queries: Vec<Vec<u64>> = Vec::new();
    for (vertex, &distance) in (0..).zip(distances).filter(|found| *found.1 != UNREACHED) {
        let (level, home) = (distance as usize, vertex % ranks);
        if queries.len() <= level {
            queries.resize(level + 1, vec![0; ranks as usize]);
        }
        let elsewhere = graph.neighbours(vertex).iter().filter(|&&other| other % ranks != home);
        queries[level][home as usize] += elsewhere.count() as u64;
    }
    queries
}

/// The root of a search: a vertex drawn among those with the degree that is nearest to the one given, the lower one of two that are
/// equally near; without one, among all that have edges.
pub fn root(graph: &Kronecker, degree: Option<u32>, source: &mut Source) -> u32 {
    let degrees =
        || (0..graph.vertices()).map(|vertex| (vertex, graph.degree(vertex))).filter(|found| found.1 > 0);
    let nearest = degree.and_then(|wanted| {
        degrees().map(|(_, degree)| degree).min_by_key(|degree| (degree.abs_diff(wanted), *degree))
    });
    let fitting: Vec<u32> = degrees()
        .filter(|&(_, degree)| nearest.is_none_or(|nearest| degree == nearest))
        .map(|(vertex, _)| vertex)
        .collect();
    fitting[random::below(source, fitting.len() as u32) as usize]
}

/// The queries of a search of a graph that is drawn.
pub(super) fn volume(parameters: &Parameters, source: &dyn Fn(DrawPurpose) -> Source) -> Volume {
    let Parameters { ranks, scale, edgefactor, root_degree, max_levels, .. } = *parameters;
    let graph = kronecker::Kronecker::draw(scale, edgefactor, &|| source(DrawPurpose::Graph));
    let vertex = root(&graph, root_degree, &mut source(DrawPurpose::Search));
    let mut queries = queries(&graph, &distances(&graph, vertex), ranks);
    queries.truncate(max_levels as usize);
    let root: Rank = vertex % ranks;
    Volume { root, degree: graph.degree(vertex), queries }
}
