//! Queries by level, against an independent model.

use crate::numbers::seeded;
use hopsim_programs::graph500::volume::{Fit, bound};
use hopsim_programs::graph500::{Equations, Parameters, Search};
use proptest::prelude::*;

/// What the model of `verify/graph500_volume.py` gives, over so many runs each.
const ROWS: &str = include_str!("../data/graph500-volume.csv");

const SEEDS: u64 = 200;

/// Significant digits as a table has them.
fn three_digits(value: f64) -> String {
    format!("{value:.2e}")
}

#[test]
fn the_means_of_levels_are_those_of_the_tabulated_fits() {
    // Queries of a level over 2^(s+1) f, before they are cut, for f = 16.
    for (equations, scale, degree, expected) in [
        (Equations::Thesis, 17, 1.0, [0.0479, 0.284, 0.455, 0.157, 0.0192]),
        (Equations::Thesis, 26, 3.0, [0.0596, 0.678, 0.79, 0.06, 0.000_788]),
        (Equations::Fogsim, 17, 15.0, [0.009_39, 0.306, 4.15, 0.0681, 2.93e-05]),
        (Equations::Fogsim, 26, 3.0, [3.3e-05, 0.178, 454.0, 3.3, 4.84e-05]),
    ] {
        let fit = Fit { equations, scale, edgefactor: 16 };
        let edges = 16.0 * 2f64.powi(scale as i32 + 1);
        let found = [1, 2, 3, 4, 5].map(|level| three_digits(fit.mean(level, degree) / edges));
        assert_eq!(found, expected.map(three_digits), "{fit:?}");
    }
}

/// Mean and deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Within three standard errors of the difference of two means of so many runs.
fn agree(found: (f64, f64), expected: (f64, f64), what: &str) {
    let error = ((found.1 * found.1 + expected.1 * expected.1) / SEEDS as f64).sqrt();
    // The table has whole numbers.
    assert!((found.0 - expected.0).abs() <= 3.0 * error + 0.5, "{what}: {found:?}, expected {expected:?}");
    // The standard error of a deviation is about σ / √(2 N) for normal values; these have shorter tails, or are mixtures.
    let ratio = (found.1 + 1e-9) / (expected.1 + 1e-9);
    assert!((0.7..1.43).contains(&ratio), "{what}: {found:?}, expected {expected:?}");
}

fn of_row(fields: &[&str]) -> Vec<Search> {
    let number = |at: usize| fields[at].parse::<u32>().unwrap();
    let parameters = Parameters {
        edgefactor: number(1),
        root_degree: Some(number(3)),
        coalescing: number(4),
        equations: Some(if fields[5] == "thesis" { Equations::Thesis } else { Equations::Fogsim }),
        ..Parameters::new(number(2), number(0), None)
    };
    (0..SEEDS).map(|seed| Search::new(parameters, seeded(seed)).unwrap()).collect()
}

#[test]
fn levels_queries_and_messages_have_the_means_and_deviations_of_the_model() {
    for row in ROWS.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let searches = of_row(&fields);
        let of = |figure: &dyn Fn(&Search) -> f64| moments(&searches.iter().map(figure).collect::<Vec<_>>());
        let sum = |queries: &[u64]| queries.iter().sum::<u64>() as f64;
        let all = of(&|search| search.volume().queries.iter().map(|level| sum(level)).sum());
        // Most searches send what equation 2.1 says, and few a little less: of these the deviation says nothing.
        agree((all.0, number(9)), (number(8), number(9)), &format!("{row}: queries"));
        let messages = of(&|search| search.query_messages() as f64);
        agree(messages, (number(10), number(11)), &format!("{row}: messages"));
        let levels = of(&|search| search.levels().into());
        agree(levels, (number(7), levels.1), &format!("{row}: levels"));
        for (level, expected) in fields[12].split(' ').enumerate() {
            let found = of(&|search| search.volume().queries.get(level).map_or(0.0, |queries| sum(queries)));
            let expected: f64 = expected.parse().unwrap();
            let within = 3.0 * found.1 * (2.0 / SEEDS as f64).sqrt() + 0.5;
            assert!((found.0 - expected).abs() <= within, "{row}: level {level}: {found:?}");
        }
    }
}

#[test]
fn messages_of_fogsim_s_configuration_are_what_the_rule_says_and_not_what_it_sends() {
    // FOGSim sends 27,541 and 43,482 at scales 17 and 18, the rule of equations 2.3 and 2.4 so many, with these deviations.
    for (scale, expected, deviation) in [(17, 29_200.0, 2100.0), (18, 44_700.0, 2300.0)] {
        let parameters = Parameters {
            root_degree: Some(20),
            equations: Some(Equations::Fogsim),
            ..Parameters::new(72, scale, None)
        };
        let count = |seed| Search::new(parameters, seeded(seed)).unwrap().query_messages() as f64;
        let (mean, spread) = moments(&(0..SEEDS).map(count).collect::<Vec<_>>());
        println!("scale {scale}: {mean:.0} ± {spread:.0} messages");
        assert!((mean - expected).abs() < 0.3 * deviation, "{mean}");
        assert!((0.8..1.25).contains(&(spread / deviation)), "{spread}");
    }
}

#[test]
fn a_degree_that_is_drawn_is_lognormal() {
    // Scale 26: the logarithm has mean 26 · (ln 0.3604 + 1.0661704) = 1.187 and deviation 2.062; degrees are rounded up.
    let parameters = Parameters { max_levels: 1, ..Parameters::new(2, 26, None) };
    let degree = |seed| Search::new(parameters, seeded(seed)).unwrap().volume().degree;
    let mut degrees: Vec<u32> = (0..2000).map(degree).collect();
    degrees.sort_unstable();
    // Quantiles of e^(1.187 + 2.062 z): z = −1, 0, 1 give 0.417, 3.28 and 25.8.
    let share = |below: u32| degrees.partition_point(|&degree| degree <= below) as f64 / 2000.0;
    assert_eq!(degrees[0], 1);
    // P(degree ≤ k) = Φ((ln k − 1.187) / 2.062): k = 3: Φ(−0.043), k = 25: Φ(0.985).
    for (below, expected) in [(3, 0.483), (25, 0.838)] {
        assert!((share(below) - expected).abs() < 0.034, "{below}: {}", share(below));
    }
}

#[test]
fn the_root_alone_sends_in_level_0_and_every_rank_may_be_it() {
    let parameters = Parameters { root_degree: Some(20), max_levels: 1, ..Parameters::new(4, 17, None) };
    let mut roots = [0; 4];
    for seed in 0..400 {
        let search = Search::new(parameters, seeded(seed)).unwrap();
        let root = search.volume().root as usize;
        roots[root] += 1;
        // ⌈20 · 3 / 4⌉
        let mut expected = vec![0; 4];
        expected[root] = 15;
        assert_eq!(search.volume().queries, [expected]);
    }
    assert!(roots.iter().all(|&times| (60..140).contains(&times)), "{roots:?}");
}

proptest! {
    #[test]
    fn no_search_sends_more_than_every_edge_both_ways(
        ranks in 2u32..200, scale in 5u32..24, degree in 1u32..2_000_000, is_fogsim: bool, seed: u64,
    ) {
        let equations = Some(if is_fogsim { Equations::Fogsim } else { Equations::Thesis });
        let parameters = Parameters { root_degree: Some(degree), equations, ..Parameters::new(ranks, scale, None) };
        let search = Search::new(parameters, seeded(seed)).unwrap();
        let sent: u64 = search.volume().queries.iter().flatten().sum();
        // 2^(s+1) f (n − 1) / n
        let edges = 16u64 << scale;
        let most = 2 * edges * u64::from(ranks - 1) / u64::from(ranks);
        prop_assert_eq!(bound(&parameters), most);
        prop_assert!(sent <= most, "{} of {}", sent, most);
        // It ends when all is sent, or after nine levels, or after six with nine tenths.
        let levels = search.levels();
        prop_assert!(sent == most || levels == 9 || (levels > 5 && 10 * (most - sent) <= most));
    }
}
