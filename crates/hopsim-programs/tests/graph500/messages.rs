//! Queries as messages.

use hopsim_programs::graph500::aggregation::LevelMessages;
use proptest::prelude::*;

fn split(queries: u64, ranks: u32, coalescing: u32) -> Vec<u64> {
    LevelMessages::new(queries, ranks, coalescing).collect()
}

#[test]
fn messages_are_filled_as_long_as_one_query_is_left_for_each_behind() {
    // 72 ranks, 20 queries: n' = ⌊72 (1 − (71/72)^20)⌋ = ⌊17.57⌋ messages, of which the first takes what the others can spare.
    let mut expected = vec![1; 17];
    expected[0] = 4;
    assert_eq!(split(20, 72, 4), expected);
    // Below that the rest is shared out: 4 are more than 20 − 17 + 1 allows if messages have 8.
    let shared = split(20, 72, 8);
    assert_eq!(shared[..4], [2, 2, 2, 1]);
    // Two ranks, 10 queries, up to 4: n' = ⌊2 (1 − 2^−10)⌋ = 1, m = ⌈10 / 4⌉.
    assert_eq!(split(10, 2, 4), [4, 4, 2]);
    assert_eq!(split(1, 72, 256), [1]);
    assert_eq!(split(0, 72, 256), [0; 0]);
}

proptest! {
    #[test]
    fn every_query_is_in_one_message_and_no_message_is_empty_or_too_full(
        queries in 0u64..100_000, ranks in 2u32..300, coalescing in 1u32..300,
    ) {
        let messages = LevelMessages::new(queries, ranks, coalescing);
        let left = messages.left();
        let all: Vec<u64> = messages.collect();
        prop_assert_eq!(all.len() as u64, left);
        prop_assert_eq!(all.iter().sum::<u64>(), queries);
        prop_assert!(all.iter().all(|&taken| (1..=u64::from(coalescing)).contains(&taken)));
    }
}
