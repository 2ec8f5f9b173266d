//! Which algorithm is taken.

use hopsim_programs::collectives::{Algorithm, Choices, Kind, MAX_MEMBERS, check, choose};

#[test]
fn auto_changes_at_the_limits() {
    use Algorithm::{
        Binomial, Bruck, Dissemination, Pairwise, Rabenseifner, RecursiveDoubling, RecursiveHalving, Ring,
        ScatterRing,
    };
    for (kind, members, bytes, algorithm) in [
        (Kind::Barrier, 100, 0, Dissemination),
        (Kind::Bcast, 8, 12_288, Binomial),
        (Kind::Bcast, 8, 12_289, ScatterRing),
        (Kind::Bcast, 7, 12_289, Binomial),
        (Kind::Reduce, 100, 1 << 30, Binomial),
        (Kind::Gather, 100, 1 << 30, Binomial),
        (Kind::Scatter, 100, 1 << 30, Binomial),
        (Kind::Allreduce, 100, 2048, RecursiveDoubling),
        (Kind::Allreduce, 2, 2049, Rabenseifner),
        (Kind::Allgather, 10, 8192, Bruck),
        (Kind::Allgather, 10, 8193, Ring),
        (Kind::Allgather, 10, 1 << 63, Ring),
        (Kind::ReduceScatter, 16, 32_768, RecursiveHalving),
        (Kind::ReduceScatter, 16, 32_769, Ring),
        (Kind::ReduceScatter, 15, 1, Ring),
        (Kind::Alltoall, 8, 256, Bruck),
        (Kind::Alltoall, 8, 257, Pairwise),
        (Kind::Alltoall, 7, 256, Pairwise),
        (Kind::Alltoallv, 100, 0, Pairwise),
        (Kind::Scan, 100, 1 << 30, RecursiveDoubling),
    ] {
        assert_eq!(choose(kind, members, bytes), algorithm, "{kind:?} {members} {bytes}");
    }
}

#[test]
fn auto_is_always_possible() {
    for kind in Kind::ALL {
        for members in (1..=17).chain([100, 1024]) {
            for bytes in [0, 300, 3000, 1 << 20] {
                assert_eq!(check(kind, choose(kind, members, bytes), members), Ok(()), "{kind:?} {members}");
            }
        }
    }
}

#[test]
fn names_are_unique_and_lead_back() {
    for &algorithm in Algorithm::ALL {
        assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
    }
    assert_eq!(Algorithm::from_name("auto"), None);
}

#[test]
fn choices_are_by_kind_and_the_rest_is_auto() {
    let choices = Choices::from_names([("allreduce", "ring"), ("bcast", "auto")]).unwrap();
    assert_eq!(choices.of(Kind::Allreduce), Some(Algorithm::Ring));
    assert_eq!(choices.algorithm(Kind::Allreduce, 4, 8), Algorithm::Ring);
    assert_eq!(choices.of(Kind::Bcast), None);
    assert_eq!(choices.algorithm(Kind::Bcast, 64, 1 << 20), Algorithm::ScatterRing);
    assert_eq!(choices.of(Kind::Scan), None);
}

#[test]
fn all_fsin_leaves_kinds_without_it_to_auto() {
    let mut choices = Choices::fsin();
    let fsin: Vec<&str> = Kind::ALL
        .into_iter()
        .filter(|&kind| choices.of(kind) == Some(Algorithm::Fsin))
        .map(Kind::name)
        .collect();
    assert_eq!(fsin, ["barrier", "bcast", "reduce", "allreduce", "alltoall"]);
    assert_eq!(choices.of(Kind::Allgather), None);
    choices.set("barrier", "auto").unwrap();
    assert_eq!(choices.algorithm(Kind::Barrier, 4, 0), Algorithm::Dissemination);
}

#[test]
fn wrong_choices_name_key_value_and_what_is_valid() {
    for (kind, algorithm, message) in [
        (
            "all_reduce",
            "ring",
            "collectives.all_reduce = \"ring\": there is no such collective operation; valid: barrier, bcast, \
             reduce, allreduce, allgather, gather, scatter, reduce_scatter, alltoall, alltoallv, scan",
        ),
        (
            "allgather",
            "rings",
            "collectives.allgather = \"rings\": there is no such algorithm; valid: auto, ring, bruck",
        ),
        (
            "alltoallv",
            "fsin",
            "collectives.alltoallv = \"fsin\": it is no algorithm for alltoallv; valid: auto, pairwise",
        ),
    ] {
        let error = Choices::from_names([(kind, algorithm)]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn impossible_combinations_say_what_is_valid() {
    let error = |kind, algorithm, members| check(kind, algorithm, members).unwrap_err();
    assert_eq!(
        error(Kind::Scan, Algorithm::Ring, 4),
        "ring is no algorithm for scan; valid: auto, recursive_doubling"
    );
    assert_eq!(
        error(Kind::ReduceScatter, Algorithm::RecursiveHalving, 12),
        "recursive_halving of reduce_scatter needs a number of members that is a power of two, and there are 12; \
         valid for any number: auto, ring"
    );
    assert_eq!(error(Kind::Scan, Algorithm::Ring, 0), "scan has 0 members; valid: 1 to 2147483648");
    assert!(check(Kind::Barrier, Algorithm::Dissemination, MAX_MEMBERS + 1).is_err());

    let choices = Choices::from_names([("reduce_scatter", "recursive_halving")]).unwrap();
    assert_eq!(choices.check(Kind::ReduceScatter, 16), Ok(()));
    assert!(choices.check(Kind::ReduceScatter, 17).is_err());
    assert_eq!(Choices::default().check(Kind::ReduceScatter, 17), Ok(()));
}
