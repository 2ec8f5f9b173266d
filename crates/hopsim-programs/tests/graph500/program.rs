//! What ranks do with a search, on the ideal network.

use crate::numbers::seeded;
use hopsim_programs::graph500::{Equations, Generation, Parameters, Search, Signals};
use hopsim_programs::host::rules::Rules;
use hopsim_programs::host::{Figures, Host, Letter};
use hopsim_programs::ideal::{Ejection, Ideal, Latency, Network};
use hopsim_programs::program::Program;
use hopsim_programs::units::Fraction;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A message that is there: level, kind, source, destination, tag, bytes, cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct There {
    level: u32,
    kind: u32,
    source: u32,
    destination: u32,
    tag: u32,
    bytes: u64,
    joined: u32,
    at: u32,
}

impl There {
    fn new(letter: &Letter, at: u32) -> Self {
        let Letter { source, destination, tag, communicator, bytes, joined, .. } = *letter;
        let (level, kind) = (communicator / 4, communicator % 4);
        Self { level, kind, source, destination, tag, bytes, joined, at }
    }
}

const QUERIES: u32 = 0;
const SIGNAL: u32 = 1;
const REPORT: u32 = 2;
const RELEASE: u32 = 3;

/// Messages in the order in which they are there, and what the hosts have counted.
fn run(search: &Arc<Search>, rules: Rules) -> (Vec<There>, Vec<Figures>) {
    let (rules, program) = (Arc::new(rules), Program::Search(Arc::clone(search)));
    let hosts: Vec<Host> = (0..program.ranks()).map(|rank| program.host(rank, &rules)).collect();
    for host in &hosts {
        assert_eq!(host.left(), search.sends(host.rank()));
    }
    let network =
        Network { latency: Latency::Constant(100), cycles_per_phit: 1, ejection: Ejection::Unlimited };
    let mut ideal = Ideal::new(network, hosts, 0);
    let mut all = Vec::new();
    assert!(!ideal.advance(u32::MAX, |letter, at| all.push(There::new(letter, at))));
    assert_eq!(ideal.verdict(), Ok(()));
    assert!(ideal.hosts().iter().all(|host| host.left() == 0));
    (all, ideal.hosts().iter().map(Host::figures).collect())
}

fn searches() -> impl Strategy<Value = (Parameters, u64)> {
    let equations = prop::sample::select(vec![Some(Equations::Thesis), Some(Equations::Fogsim), None]);
    let flags = (equations, any::<bool>(), any::<bool>());
    (2u32..9, 6u32..13, 1u32..40, 1u32..64, flags, 0u64..3, any::<u64>()).prop_map(
        |(ranks, scale, degree, coalescing, (equations, link, full), time, seed)| {
            let parameters = Parameters {
                coalescing,
                root_degree: Some(degree),
                equations,
                generation: if link { Generation::Link } else { Generation::Compute },
                signals: if full { Signals::Full } else { Signals::Empty },
                ..Parameters::new(ranks, scale, Fraction::new(time, 2))
            };
            (parameters, seed)
        },
    )
}

/// Phits of 8 B, packets of 512 phits.
fn rules() -> Rules {
    Rules { phit: Fraction::new(8, 1).unwrap(), packet_length: 512, ..Rules::default() }
}

/// Every message and every query of a level goes where it must, and nothing of a level is sent before its turn.
fn check_order(search: &Search, all: &[There]) {
    let (n, root) = (search.parameters().ranks, search.volume().root);
    let mut queries: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
    let mut counts: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
    for there in all.iter().filter(|there| there.kind == QUERIES) {
        assert_ne!(there.source, there.destination);
        queries.entry((there.level, there.source)).or_default().push(there.bytes / 16);
        *counts.entry((there.level, there.source, there.destination)).or_default() += 1;
    }
    check_destinations(search, all);
    for (level, rank) in (0..search.levels()).flat_map(|level| (0..n).map(move |rank| (level, rank))) {
        let mut expected: Vec<u64> = match search.bundles(level, rank) {
            Some(bundles) => bundles.iter().map(|bundle| bundle.queries.into()).collect(),
            None => search.messages(level, rank).collect(),
        };
        let mut found = queries.remove(&(level, rank)).unwrap_or_default();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "level {level}, rank {rank}");
        let of = |kind: u32| {
            let mine = move |there: &&There| (there.level, there.kind, there.source) == (level, kind, rank);
            all.iter().filter(mine).copied().collect::<Vec<There>>()
        };
        let mut signals = of(SIGNAL);
        signals.sort_by_key(|there| there.joined);
        let others = (0..n).filter(|&other| other != rank);
        let told: Vec<(u32, u32)> = signals.iter().map(|there| (there.destination, there.tag)).collect();
        let sent = |other| counts.get(&(level, rank, other)).copied().unwrap_or(0);
        let tells = level > 0 || rank == root;
        let expected: Vec<(u32, u32)> = others.filter(|_| tells).map(|other| (other, sent(other))).collect();
        assert_eq!(told, expected);
        let ends = if rank == root { (0, n as usize - 1) } else { (1, 0) };
        assert_eq!((of(REPORT).len(), of(RELEASE).len()), ends);
    }
    assert!(queries.is_empty());
}

/// In a search of a graph messages go where their queries are for, in order.
fn check_destinations(search: &Search, all: &[There]) {
    for (level, rank) in
        (0..search.levels()).flat_map(|level| (0..search.parameters().ranks).map(move |rank| (level, rank)))
    {
        let Some(bundles) = search.bundles(level, rank) else { continue };
        let mine = |there: &&There| (there.level, there.kind, there.source) == (level, QUERIES, rank);
        let mut sent: Vec<There> = all.iter().filter(mine).copied().collect();
        sent.sort_by_key(|there| there.joined);
        let sent: Vec<(u32, u64)> = sent.iter().map(|there| (there.destination, there.bytes / 16)).collect();
        let expected: Vec<(u32, u64)> =
            bundles.iter().map(|bundle| (bundle.to, bundle.queries.into())).collect();
        assert_eq!(sent, expected, "level {level}, rank {rank}");
    }
}

/// In every level: queries, signals, reports, releases; and the next level of a rank not before its release.
fn check_times(search: &Search, all: &[There]) {
    let root = search.volume().root;
    let mut first: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
    for there in all {
        let earliest = first.entry((there.level, there.kind, there.source)).or_insert(u32::MAX);
        *earliest = there.joined.min(*earliest);
    }
    for ((level, kind, rank), joined) in first {
        let before = match kind {
            // All its own queries have left.
            SIGNAL => last(all, |m| (m.level, m.kind, m.source) == (level, QUERIES, rank), |m| m.joined),
            // All that came to it was there.
            REPORT => last(all, |m| m.level == level && m.kind <= SIGNAL && m.destination == rank, |m| m.at),
            RELEASE => last(all, |m| m.level == level && m.kind <= REPORT && m.destination == root, |m| m.at),
            _ if rank == root => last(all, |m| m.level + 1 == level && m.kind == REPORT, |m| m.at),
            _ => last(all, |m| (m.level + 1, m.kind, m.destination) == (level, RELEASE, rank), |m| m.at),
        };
        assert!(joined >= before, "level {level}, kind {kind}, rank {rank}: {joined} before {before}");
    }
}

fn last(all: &[There], which: impl Fn(&There) -> bool, when: impl Fn(&There) -> u32) -> u32 {
    all.iter().filter(|there| which(there)).map(when).max().unwrap_or(0)
}

/// Time that a rank computes: for queries that it receives, and that it sends if that costs time.
fn expected_compute(search: &Search, all: &[There], rank: u32) -> u64 {
    let (query_time, generation) = (search.query_time(rank), search.parameters().generation);
    let mine = |there: &&There| {
        let generated = generation == Generation::Compute && there.source == rank;
        there.kind == QUERIES && (generated || there.destination == rank)
    };
    let queries: u64 = all.iter().filter(mine).map(|there| there.bytes / 16).sum();
    query_time.map_or(0, |time| queries * time.numerator / time.denominator)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn every_query_is_received_and_computed_in_its_level((parameters, seed) in searches()) {
        let search = Arc::new(Search::new(parameters, seeded(seed)).unwrap());
        let overheads = Rules { send_overhead: 3, receive_overhead: 2, ..rules() };
        let rendezvous = Rules { eager_limit: Some(0), ..overheads.clone() };
        let (eager, _) = run(&search, rules());
        for rules in [rules(), overheads, rendezvous] {
            let is_eager = rules.eager_limit.is_none();
            let (all, figures) = run(&search, rules);
            prop_assert_eq!(all.len(), eager.len());
            // What comes by rendezvous does not say what it is for, but is the same.
            if is_eager {
                check_order(&search, &all);
                check_times(&search, &all);
            }
            for (rank, figures) in (0..).zip(figures) {
                prop_assert_eq!(figures.compute, expected_compute(&search, &eager, rank));
                prop_assert_eq!(figures.messages_sent, search.sends(rank));
            }
        }
        let full = u64::from(parameters.coalescing) * 16;
        let expected = if parameters.signals == Signals::Full { full } else { 0 };
        prop_assert!(eager.iter().all(|there| there.kind == QUERIES || there.bytes == expected));
    }
}

/// Level 0 alone: the root of `ranks` sends ⌈d (n − 1) / n⌉ queries in messages of up to 4, and all others report to it.
fn level_0(ranks: u32, degree: u32, generation: Generation) -> (u32, Vec<There>, Vec<Figures>) {
    let parameters = Parameters {
        coalescing: 4,
        root_degree: Some(degree),
        max_levels: 1,
        generation,
        ..Parameters::new(ranks, 10, Fraction::new(10, 1))
    };
    let search = Arc::new(Search::new(parameters, seeded(5)).unwrap());
    let (all, figures) = run(&search, rules());
    (search.volume().root, all, figures)
}

#[test]
fn two_ranks_finish_in_the_cycles_counted_by_hand() {
    // 20 · 1 / 2 = 10 queries of 10 cycles in messages of 4, 4 and 2: 8, 8 and 4 phits; latency 100.
    let (root, all, figures) = level_0(2, 20, Generation::Link);
    // The messages leave at 8, 16 and 20, then the signal of one phit at 21. The other rank has the first one at 108 and
    // computes until 148, the second until 188, the third until 208; its report is there at 208 + 101. The release leaves the
    // root at 310 and is there at 410.
    assert_eq!(all.iter().map(|there| there.at).collect::<Vec<_>>(), [108, 116, 120, 121, 309, 410]);
    assert_eq!(figures[root as usize].finish, 310);
    assert_eq!(figures[1 - root as usize].finish, 410);
    // With computation the messages begin at 40, 48 + 40 and 96 + 20 and leave at 48, 96 and 120, the signal at 121. They are
    // there at 148, 196 and 220, and computed at 188, 236 and 256.
    let (root, all, figures) = level_0(2, 20, Generation::Compute);
    assert_eq!(all.iter().map(|there| there.at).collect::<Vec<_>>(), [148, 196, 220, 221, 357, 458]);
    assert_eq!(figures[root as usize].finish, 358);
    assert_eq!(figures[1 - root as usize].finish, 458);
}

#[test]
fn three_ranks_finish_in_the_cycles_counted_by_hand() {
    // 3 · 2 / 3 = 2 queries: n' = ⌊3 (1 − (2/3)²)⌋ = 1 message of 2, 4 phits. It leaves at 4, the signals at 5 and 6.
    let (root, all, figures) = level_0(3, 3, Generation::Link);
    let others: Vec<u32> = (0..3).filter(|&rank| rank != root).collect();
    let to = all[0].destination;
    assert_eq!((all[0].at, all[0].bytes), (104, 32));
    // It computes until 124, and reports when it has been told: at 124. The other one reports when it is told that it has
    // nothing to wait for, at 105 or 106. The root has all at 225 and releases them one after the other.
    let idle = if to == others[0] { 106 } else { 105 };
    let mut reports: Vec<(u32, u32)> =
        all.iter().filter(|there| there.kind == REPORT).map(|there| (there.source, there.at)).collect();
    reports.sort_unstable_by_key(|report| report.1);
    let other = others.iter().copied().find(|&rank| rank != to).unwrap();
    assert_eq!(reports, [(other, idle + 101), (to, 225)]);
    assert_eq!(figures[root as usize].finish, 227);
    assert_eq!(figures[others[0] as usize].finish, 326);
    assert_eq!(figures[others[1] as usize].finish, 327);
}

#[test]
fn what_comes_in_is_computed_before_the_next_message_is_made() {
    // Two ranks exchange messages of 1 query, 1,000 cycles and 2 phits. The root begins level 1 at cycle t; its first message is
    // there at t + 1,102. The other rank was released at t + 100, and its first message leaves at that very cycle t + 1,102: it
    // computes the query before it makes its second. The root makes its second from t + 1,002 on, before a query is there.
    // From then on each makes one and computes one.
    let parameters = Parameters {
        coalescing: 1,
        root_degree: Some(1),
        max_levels: 2,
        ..Parameters::new(2, 6, Fraction::new(1000, 1))
    };
    let search = Arc::new(Search::new(parameters, seeded(3)).unwrap());
    let (all, _) = run(&search, rules());
    let joined = |rank| -> Vec<u32> {
        all.iter()
            .filter(|there| (there.level, there.kind, there.source) == (1, QUERIES, rank))
            .map(|there| there.joined)
            .collect()
    };
    let root = search.volume().root;
    let (of_root, of_other) = (joined(root), joined(1 - root));
    let count = of_root.len().min(of_other.len());
    assert!(count > 10);
    assert_eq!([of_root[1] - of_root[0], of_other[1] - of_other[0]], [1002, 2002]);
    for times in [&of_root[1..count], &of_other[1..count]] {
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 2000), "{times:?}");
    }
}

#[test]
fn over_an_unlimited_wire_the_processor_keeps_messages_of_queries_as_far_apart_as_they_are_long() {
    let link = Parameters { generation: Generation::Link, ..Parameters::new(5, 14, Fraction::new(2, 1)) };
    let search = Arc::new(Search::new(link, seeded(4)).unwrap());
    let (all, figures) = run(&search, Rules { has_unlimited_wire: true, ..rules() });
    let phits = |bytes: u64| u32::try_from(bytes.div_ceil(8)).unwrap();
    let mut pairs = 0;
    for (level, source) in (0..search.levels()).flat_map(|level| (0..5).map(move |rank| (level, rank))) {
        let mut sent: Vec<&There> = all
            .iter()
            .filter(|there| (there.level, there.kind, there.source) == (level, QUERIES, source))
            .collect();
        sent.sort_by_key(|there| there.joined);
        for pair in sent.windows(2) {
            // It leaves over the wire of the ideal network, and then the processor waits as long again.
            assert!(pair[1].joined - pair[0].joined >= 2 * phits(pair[0].bytes), "{pair:?}");
            pairs += 1;
        }
    }
    assert!(pairs > 100, "{pairs}");
    assert!(figures.iter().all(|rank| rank.overhead > 0));
    let (_, with_wire) = run(&search, rules());
    assert!(with_wire.iter().all(|rank| rank.overhead == 0));
}
