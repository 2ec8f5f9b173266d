//! The graph of the benchmark, and searches of it: closed forms, another search, and how far the model is from it.

use crate::numbers::seeded;
use hopsim_programs::graph500::breadth_first::{Bundle, UNREACHED, bundles, distances, queries, root};
use hopsim_programs::graph500::kronecker::Kronecker;
use hopsim_programs::graph500::random::DrawPurpose;
use hopsim_programs::graph500::volume::bound;
use hopsim_programs::graph500::{Parameters, Search};
use petgraph::algo::dijkstra;
use petgraph::graph::{NodeIndex, UnGraph};
use proptest::prelude::*;

fn graph(scale: u32, edgefactor: u32, seed: u64) -> Kronecker {
    let sources = seeded(seed);
    Kronecker::draw(scale, edgefactor, &|| sources(DrawPurpose::Graph))
}

/// A search of a graph that is drawn.
fn searched(ranks: u32, scale: u32, root_degree: Option<u32>, seed: u64) -> Search {
    let parameters = Parameters { equations: None, root_degree, ..Parameters::new(ranks, scale, None) };
    Search::new(parameters, seeded(seed)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_edge_has_two_ends_and_distances_are_those_of_another_search(
        scale in 1u32..9, edgefactor in 1u32..6, seed: u64,
    ) {
        let graph = graph(scale, edgefactor, seed);
        prop_assert_eq!(graph.vertices(), 1 << scale);
        let degrees: u32 = (0..graph.vertices()).map(|vertex| graph.degree(vertex)).sum();
        prop_assert_eq!(degrees, (2 * edgefactor) << scale);
        let ends = (0..graph.vertices()).flat_map(|vertex| graph.neighbours(vertex).iter().map(move |&end| (vertex, end)));
        let mut there: Vec<(u32, u32)> = ends.clone().collect();
        let mut back: Vec<(u32, u32)> = ends.map(|(one, other)| (other, one)).collect();
        there.sort_unstable();
        back.sort_unstable();
        prop_assert_eq!(&there, &back);

        let root = root(&graph, None, &mut seeded(seed)(DrawPurpose::Search));
        let other = UnGraph::<(), ()>::from_edges(there);
        let expected = dijkstra(&other, root.into(), None, |_| 1u32);
        for (vertex, distance) in (0u32..).zip(distances(&graph, root)) {
            prop_assert_eq!(distance, expected.get(&NodeIndex::from(vertex)).copied().unwrap_or(UNREACHED));
        }
    }

    #[test]
    fn queries_are_the_edges_that_leave_their_rank(ranks in 1u32..20, scale in 1u32..9, seed: u64) {
        let graph = graph(scale, 4, seed);
        let root = root(&graph, None, &mut seeded(seed)(DrawPurpose::Search));
        let distances = distances(&graph, root);
        let queries = queries(&graph, &distances, ranks);
        for (level, queries) in (0..).zip(&queries) {
            for (rank, &queries) in (0..).zip(queries) {
                let vertices = (0..graph.vertices()).filter(|vertex| vertex % ranks == rank);
                let frontier = vertices.filter(|&vertex| distances[vertex as usize] == level);
                let ends: Vec<u32> = frontier.flat_map(|vertex| graph.neighbours(vertex).to_vec()).collect();
                let own = ends.iter().filter(|&end| end % ranks == rank).count();
                prop_assert_eq!(queries, (ends.len() - own) as u64);
            }
        }
        let last = distances.iter().filter(|&&distance| distance != UNREACHED).max().unwrap();
        prop_assert_eq!(queries.len() as u32, last + 1);
    }
}

/// The messages of a rank in a level, from the queries that it makes one after the other: a message is complete with the last of
/// every `most` queries to one rank, and those that are left are the last, by how far their ranks are behind the own one.
fn sent(
    graph: &Kronecker,
    distances: &[u32],
    ranks: u32,
    most: usize,
    (level, rank): (u32, u32),
) -> Vec<Bundle> {
    let vertices =
        (0..graph.vertices()).filter(|&vertex| vertex % ranks == rank && distances[vertex as usize] == level);
    let ends: Vec<u32> =
        vertices.flat_map(|vertex| graph.neighbours(vertex)).map(|end| end % ranks).collect();
    let mut sent = Vec::new();
    for to in (0..ranks).filter(|&to| to != rank) {
        let made: Vec<usize> = (0..ends.len()).filter(|&at| ends[at] == to).collect();
        for queries in made.chunks(most) {
            let behind = (to + ranks - rank) % ranks;
            let key = if queries.len() == most { queries[most - 1] } else { ends.len() + behind as usize };
            sent.push((key, Bundle { to, queries: queries.len() as u32 }));
        }
    }
    sent.sort_unstable_by_key(|&(key, _)| key);
    sent.into_iter().map(|(_, bundle)| bundle).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn queries_to_one_rank_are_a_message_as_soon_as_there_are_enough(
        ranks in 1u32..12, scale in 1u32..9, most in 1usize..40, seed: u64,
    ) {
        let graph = graph(scale, 4, seed);
        let root = root(&graph, None, &mut seeded(seed)(DrawPurpose::Search));
        let distances = distances(&graph, root);
        let bundles = bundles(&graph, &distances, ranks, most as u32);
        prop_assert_eq!(bundles.len(), queries(&graph, &distances, ranks).len());
        for (level, of_level) in (0..).zip(&bundles) {
            for (rank, found) in (0..).zip(of_level) {
                prop_assert_eq!(found, &sent(&graph, &distances, ranks, most, (level, rank)));
            }
        }
    }
}

#[test]
fn quarters_are_drawn_with_the_probabilities_of_the_benchmark() {
    // Of scale 1 an edge is one quarter: two vertices, loops at both, A = 0.57 and D = 0.05, and edges between them, B + C = 0.38.
    let graph = graph(1, 100_000, 3);
    let of =
        |vertex: u32, end: u32| graph.neighbours(vertex).iter().filter(|&&other| other == end).count() as f64;
    let mut loops = [of(0, 0), of(1, 1)].map(|ends| ends / 2.0 / 200_000.0);
    loops.sort_unstable_by(f64::total_cmp);
    for (share, expected) in [(loops[1], 0.57), (loops[0], 0.05), (of(0, 1) / 200_000.0, 0.38)] {
        assert!((share - expected).abs() < 0.005, "{share}, expected {expected}");
    }
    // Rows and columns alike: the degree of a vertex whose number had k ones is 2 f 2^s 0.76^(s − k) 0.24^k on average.
    let graph = self::graph(8, 500, 3);
    let mut degrees: Vec<u32> = (0..256).map(|vertex| graph.degree(vertex)).collect();
    degrees.sort_unstable();
    let expected = 2.0 * 500.0 * 256.0 * 0.76f64.powi(8);
    assert!((f64::from(degrees[255]) / expected - 1.0).abs() < 0.03, "{} for {expected}", degrees[255]);
}

#[test]
fn vertices_have_their_numbers_at_random() {
    // The vertex of the highest degree is as likely in one quarter of the numbers as in another.
    let mut found = [0; 4];
    for seed in 0..200 {
        let graph = graph(6, 16, seed);
        found[(0..64).max_by_key(|&vertex| graph.degree(vertex)).unwrap() as usize / 16] += 1;
    }
    assert!(found.iter().all(|&times| (30..70).contains(&times)), "{found:?}");
}

#[test]
fn the_root_has_the_nearest_degree_there_is() {
    let graph = graph(10, 16, 1);
    let mut degrees: Vec<u32> =
        (0..1024).map(|vertex| graph.degree(vertex)).filter(|&degree| degree > 0).collect();
    degrees.sort_unstable();
    let found = |degree, seed| graph.degree(root(&graph, degree, &mut seeded(seed)(DrawPurpose::Search)));
    assert_eq!(found(Some(u32::MAX), 1), degrees[degrees.len() - 1]);
    assert_eq!(found(Some(1), 1), degrees[0]);
    let gap = degrees.windows(2).find(|pair| pair[1] - pair[0] >= 2).unwrap();
    assert_eq!(found(Some(gap[0] + 1), 1), gap[0]);
    // Without one it is any vertex with edges: half of the roots have at most the median degree.
    let low = (0..400).filter(|&seed| found(None, seed) <= degrees[degrees.len() / 2]).count();
    assert!((160..260).contains(&low), "{low}");
}

#[test]
fn a_search_of_a_graph_sends_what_equation_2_1_says_but_for_what_cannot_be_reached() {
    for (ranks, scale) in [(4, 14), (16, 16)] {
        let search = searched(ranks, scale, Some(20), 2);
        let volume = search.volume();
        let sent: u64 = volume.queries.iter().flatten().sum();
        let share = sent as f64 / bound(search.parameters()) as f64;
        assert!((0.99..1.01).contains(&share), "{ranks} ranks, scale {scale}: {share}");
        assert_eq!(volume.degree, 20);
        let first = &volume.queries[0];
        assert!(first[volume.root as usize] <= 20);
        assert_eq!(first.iter().sum::<u64>(), first[volume.root as usize]);
        let bundles = volume.bundles.as_ref().unwrap().iter().flatten().flatten();
        assert_eq!(bundles.clone().map(|bundle| u64::from(bundle.queries)).sum::<u64>(), sent);
        assert_eq!(search.query_messages(), bundles.count() as u64);
    }
    assert_eq!(
        Search::new(Parameters { max_levels: 2, ..*searched(4, 10, None, 1).parameters() }, seeded(1))
            .unwrap()
            .levels(),
        2
    );
}
