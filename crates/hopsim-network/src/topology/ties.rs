//! Which of several equally short paths is taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of several equally short paths is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// One over links that few paths lead over, or the first one where that spreads them better still: if the most crowded
    /// link carries no more of them.
    #[default]
    Spread,
    /// The one that goes on by the lowest port, in every router. In a mesh whose links are listed dimension by dimension
    /// that is dimension-order routing; where paths follow such an order few VCs keep them free of deadlock.
    First,
    /// The one that a hash of the two routers says, in every router: of n equally short ones by the port that is number h(r, d) mod n of
    /// theirs, from 0 on, where r is the router and d the destination's. h(r, d) is 65,536 · r + d with its bits mixed as `MurmurHash3`
    /// does in the end: x ← x ⊕ ⌊x / 2^16⌋, x ← 2,246,822,507 · x, x ← x ⊕ ⌊x / 2^13⌋, x ← 3,266,489,909 · x, x ← x ⊕ ⌊x / 2^16⌋, all
    /// modulo 2^32. It spreads paths about as well as chance does, and is found fast in large networks.
    Hash,
}

impl Ties {
    /// The name in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::First => "first",
            Self::Hash => "hash",
        }
    }
}

/// Which of so many equally short first links of the path from a place to a destination the hash says: see [`Ties::Hash`].
#[inline]
pub fn place_of_hash(place: u32, destination: u32, several: u32) -> u32 {
    let mut x = (place << 16).wrapping_add(destination);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    (x ^ x >> 16) % several
}
