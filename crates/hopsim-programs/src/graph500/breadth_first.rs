//! A breadth-first search of a graph that ranks share: the queries and messages that the models of [`super::volume`] and
//! [`super::aggregation`] stand for.
//!
//! Vertex v is at home on rank v mod n. In level l the vertices at distance l from the root are the frontier, and their ranks
//! follow all their edges: one to a vertex of another rank is a query to that rank, whether the vertex has been visited before or
//! not. Every edge that can be reached from the root is so followed once from either end. A rank gathers queries by destination,
//! and those to one of them are a message as soon as there are enough (thesis, §2.1: aggregation).

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

/// A message with queries of a search of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The rank that the message goes to.
    pub to: Rank,
    /// Number of queries, from 1 on.
    pub queries: u32,
}

/// Messages by level, by rank, in the order in which they are sent, of a search that found these distances.
///
/// A rank goes through its vertices of the frontier in ascending order, and through the edges of each in the order of the graph. As
/// soon as there are `coalescing` queries for another rank, they are a message. In the end what is left goes to the ranks behind
/// the own one, in order, and then to those from 0 on.
pub fn bundles(graph: &Kronecker, distances: &[u32], ranks: u32, coalescing: u32) -> Vec<Vec<Vec<Bundle>>> {
    let reached = distances.iter().filter(|&&distance| distance != UNREACHED);
    let levels = reached.max().map_or(0, |&last| last as usize + 1);
    let mut bundles = vec![vec![Vec::new(); ranks as usize]; levels];
    let mut gathered = vec![vec![0; ranks as usize]; levels];
    for rank in 0..ranks {
        for vertex in (rank..graph.vertices()).step_by(ranks as usize) {
            let level = distances[vertex as usize] as usize;
            let Some(gathered) = gathered.get_mut(level) else { continue };
            for to in graph.neighbours(vertex).iter().map(|other| other % ranks).filter(|&to| to != rank) {
                let queries: &mut u32 = &mut gathered[to as usize];
                *queries += 1;
                if *queries == coalescing {
                    bundles[level][rank as usize].push(Bundle { to, queries: std::mem::take(queries) });
                }
            }
        }
        for (of_level, gathered) in bundles.iter_mut().zip(&mut gathered) {
            let others = (rank + 1..ranks).chain(0..rank);
            let left = others.map(|to| Bundle { to, queries: std::mem::take(&mut gathered[to as usize]) });
            of_level[rank as usize].extend(left.filter(|bundle| bundle.queries > 0));
        }
    }
    bundles
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

/// The queries and messages of a search of a graph that is drawn.
pub(super) fn volume(parameters: &Parameters, source: &dyn Fn(DrawPurpose) -> Source) -> Volume {
    let Parameters { ranks, scale, edgefactor, coalescing, root_degree, max_levels, .. } = *parameters;
    let graph = kronecker::Kronecker::draw(scale, edgefactor, &|| source(DrawPurpose::Graph));
    let vertex = root(&graph, root_degree, &mut source(DrawPurpose::Search));
    let distances = distances(&graph, vertex);
    let mut queries = queries(&graph, &distances, ranks);
    let mut bundles = bundles(&graph, &distances, ranks, coalescing);
    queries.truncate(max_levels as usize);
    bundles.truncate(max_levels as usize);
    let root: Rank = vertex % ranks;
    Volume { root, degree: graph.degree(vertex), queries, bundles: Some(bundles) }
}
