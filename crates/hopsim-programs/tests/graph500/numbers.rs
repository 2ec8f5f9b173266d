//! Random numbers for the tests.

use hopsim_programs::graph500::random::{DrawPurpose, Source};

/// Sources of a seed: `SplitMix64`, begun at a place of its own for every purpose.
pub fn seeded(seed: u64) -> impl Fn(DrawPurpose) -> Source + Send + Sync + 'static {
    move |purpose| {
        let (kind, rank) = match purpose {
            DrawPurpose::Search => (0, 0),
            DrawPurpose::Graph => (3, 0),
            DrawPurpose::Volume(rank) => (1, rank),
            DrawPurpose::Destinations(rank) => (2, rank),
        };
        let mut state = mix(seed ^ mix(kind ^ mix(rank.into())));
        Box::new(move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        })
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
