//! Parameters that cannot be: the whole message.

use crate::numbers::seeded;
use hopsim_programs::graph500::{Equations, Parameters, Search};
use hopsim_programs::units::Fraction;

#[test]
fn searches_say_what_is_wrong() {
    let plain = Parameters { root_degree: Some(1), ..Parameters::new(8, 17, None) };
    let refused = |parameters| Search::new(parameters, seeded(1)).err().unwrap().to_string();
    for (parameters, message) in [
        (Parameters { ranks: 1, ..plain }, "ranks = 1: it is too small; valid: 2 to 65536"),
        (Parameters { scale: 41, ..plain }, "scale = 41: it is too large; valid: 1 to 40"),
        (Parameters { edgefactor: 0, ..plain }, "edgefactor = 0: it is too small; valid: 1 to 1024"),
        (
            Parameters { coalescing: 2_000_000, ..plain },
            "coalescing = 2000000: it is too large; valid: 1 to 1048576",
        ),
        (Parameters { query_bytes: 0, ..plain }, "query_bytes = 0: it is too small; valid: 1 to 65536"),
        (
            Parameters { root_degree: Some(0), ..plain },
            "root_degree = 0: it is too small; valid: 1 to 4294967295",
        ),
        (Parameters { max_levels: 65, ..plain }, "max_levels = 65: it is too large; valid: 1 to 64"),
        (
            Parameters { query_time: Fraction::new(1, (1 << 32) + 1), ..plain },
            "query_time = 0.00000000023283064359965952: it has too many digits; valid: a fraction with a numerator and a \
             denominator of up to 4294967296",
        ),
        (
            Parameters { equations: None, scale: 23, ..plain },
            "scale = 23: a graph of 134217728 edges would be searched; valid: up to 67108864 edges",
        ),
    ] {
        assert_eq!(refused(parameters), message);
    }
    let time_of = |ranks: &[u32], time| {
        let search = Search::new(plain, seeded(1)).and_then(|search| search.with_query_time([6], None));
        let refused = search.unwrap().with_query_time(ranks.iter().copied(), time);
        refused.err().unwrap().to_string()
    };
    for (ranks, time, message) in [
        (&[7, 8][..], None, "ranks = 8: it is too large; valid: 0 to 7"),
        (&[5, 6], None, "ranks = 6: its time is said already; valid: every rank once"),
        (&[5, 5], None, "ranks = 5: its time is said already; valid: every rank once"),
        (
            &[5],
            Fraction::new((1 << 32) + 1, 1),
            "query_time = 4294967297: it has too many digits; valid: a fraction with a numerator and a denominator of up to \
             4294967296",
        ),
    ] {
        assert_eq!(time_of(ranks, time), message);
    }
    let large = Parameters { scale: 40, coalescing: 1, equations: Some(Equations::Fogsim), ..plain };
    let message = refused(large);
    assert!(message.starts_with("scale = 40: a rank would send "), "{message}");
    assert!(message.ends_with(", and it may send 2147483648; valid: a smaller one, or more ranks"));
}
