//! Random virtual lanes.

use hopsim_infiniband::lanes::{LaneEntry, Lanes, NO_LIMIT};
use proptest::array::uniform16;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// One to three VLs; each is in a table, some are in both or more than once.
pub fn lanes() -> impl Strategy<Value = Lanes> {
    select(vec![1, 2, 2, 3]).prop_flat_map(|count| {
        let weight = prop_oneof![3 => 1..=16u8, 1 => Just(255)];
        let table = || vec((0..count, weight.clone()), 0..=4);
        let needed = vec((any::<bool>(), 0..5usize, weight.clone()), usize::from(count));
        let limit = select(vec![0, 1, 1, NO_LIMIT]);
        (uniform16(0..count), table(), table(), needed, limit).prop_map(
            move |(of_service_level, high, low, needed, high_limit)| {
                let entries = |table: Vec<(u8, u8)>| {
                    table.into_iter().map(|(lane, weight)| LaneEntry { lane, weight }).collect::<Vec<_>>()
                };
                let mut tables = [entries(low), entries(high)];
                for (lane, (is_high, place, weight)) in (0..count).zip(needed) {
                    let table = &mut tables[usize::from(is_high)];
                    table.insert(place.min(table.len()), LaneEntry { lane, weight });
                }
                let [low, high] = tables;
                Lanes { count, of_service_level, high, low, high_limit }
            },
        )
    })
}
