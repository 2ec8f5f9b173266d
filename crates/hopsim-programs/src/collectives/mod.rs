//! Collective operations as the messages that an algorithm makes of them.
//!
//! A member asks for one step after the other: nothing is unrolled before it is needed, and no step depends on what came
//! before, so an all-to-all of ten thousand ranks takes no memory. A new algorithm is one file here and one row of the table.
//!
//! In the text r is the member's own place, p the number of members, n the bytes of the collective and v = (r − root) mod p the
//! place counted from the root. Block b of n bytes in p blocks has ⌊(b + 1)·n / p⌋ − ⌊b·n / p⌋ bytes. Sizes that 64 bits do not
//! hold become the largest number that they hold.

use serde::{Deserialize, Serialize};

mod binomial;
mod bruck;
mod choice;
mod dissemination;
mod fold;
mod fsin;
mod pairwise;
mod rabenseifner;
mod recursive_doubling;
mod recursive_halving;
mod ring;
mod scatter_ring;

pub use choice::{Choices, WrongChoice, choose};

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Nobody goes on before all have come.
    Barrier,
    /// The root's vector goes to all.
    Bcast,
    /// The sum of all vectors goes to the root.
    Reduce,
    /// The sum of all vectors goes to all.
    Allreduce,
    /// What every member brings goes to all.
    Allgather,
    /// What every member brings goes to the root.
    Gather,
    /// The root has something for each member.
    Scatter,
    /// Every member gets a block of the sum of all vectors.
    ReduceScatter,
    /// Every member has something of the same size for each other.
    Alltoall,
    /// Every member has something for each other.
    Alltoallv,
    /// Every member gets the sum of the vectors up to its own.
    Scan,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Barrier,
        Self::Bcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Allgather,
        Self::Gather,
        Self::Scatter,
        Self::ReduceScatter,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Scan,
    ];

    /// What users call the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Scan => "scan",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether one member is the root.
    pub fn is_rooted(self) -> bool {
        matches!(self, Self::Bcast | Self::Reduce | Self::Gather | Self::Scatter)
    }
}

/// The largest number of members of a collective operation: 2³¹.
pub const MAX_MEMBERS: u32 = 1 << 31;

/// One member's part of a collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The kind of the operation.
    pub kind: Kind,
    /// Number of members, 1 … [`MAX_MEMBERS`].
    pub members: u32,
    /// The member's own place in the communicator.
    pub place: u32,
    /// The root's place; 0 where there is none.
    pub root: u32,
    /// n of the collective \[bytes\]; 0 for alltoallv. See [`crate::record::Bytes`].
    pub bytes: u64,
    /// alltoallv: what the member sends to each member and receives from each, by their places \[bytes\]; without it there is
    /// nothing.
    pub each: Option<(&'a [u64], &'a [u64])>,
}

/// A message of a step: the other member's place, and the payload \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The place of the other member in the communicator.
    pub member: u32,
    /// The payload \[bytes\].
    pub bytes: u64,
}

/// What a member does at once: it posts the receive, starts the send and waits for both. Without receive and send it is no step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What the member receives.
    pub receive: Option<Part>,
    /// What the member sends.
    pub send: Option<Part>,
    /// Whether what the member receives is added to what it has.
    pub reduces: bool,
}

/// One row for each algorithm: its description, its name here and for users, its file, and the kinds that it serves.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $name:ident($key:literal, $module:ident) serves [$($kind:ident),*];)*) => {
        /// How a collective operation becomes messages.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Algorithm {
            $($(#[$doc])* $name,)*
        }

        impl Algorithm {
            /// All algorithms.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// What users call the algorithm.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }

            /// The kinds that the algorithm serves.
            pub fn kinds(self) -> &'static [Kind] {
                match self {
                    $(Self::$name => &[$(Kind::$kind),*],)*
                }
            }

            /// What a member does in this round, which may be nothing; none after the last round.
            fn round(self, call: &Call, round: u32) -> Option<Step> {
                match self {
                    $(Self::$name => $module::round(call, round),)*
                }
            }
        }
    };
}

algorithms! {
    /// Everyone tells members ever farther away. Hensgen, Finkel & Manber 1988, "Two algorithms for barrier
    /// synchronization", International Journal of Parallel Programming 17:1.
    Dissemination("dissemination", dissemination) serves [Barrier];
    /// A binomial tree. Thakur, Rabenseifner & Gropp 2005, "Optimization of collective communication operations in MPICH",
    /// International Journal of High Performance Computing Applications 19:1.
    Binomial("binomial", binomial) serves [Bcast, Reduce, Gather, Scatter];
    /// The vector is scattered along a binomial tree, and its blocks go around a ring. Barnett, Shuler, van de Geijn, Gupta,
    /// Payne & Watts 1994, "Interprocessor collective communication library"; Thakur, Rabenseifner & Gropp 2005.
    ScatterRing("scatter_ring", scatter_ring) serves [Bcast];
    /// Partners at distances 1, 2, 4 … exchange what they have. Thakur, Rabenseifner & Gropp 2005; for scan Hillis & Steele
    /// 1986, "Data parallel algorithms", Communications of the ACM 29:12.
    RecursiveDoubling("recursive_doubling", recursive_doubling) serves [Allreduce, Scan];
    /// Partners halve what they are responsible for, and then gather it again. Rabenseifner 2004, "Optimization of collective
    /// reduction operations", ICCS; Thakur, Rabenseifner & Gropp 2005.
    Rabenseifner("rabenseifner", rabenseifner) serves [Allreduce];
    /// Blocks go around a ring. Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
    /// Journal of Parallel and Distributed Computing 69:2; Thakur, Rabenseifner & Gropp 2005.
    Ring("ring", ring) serves [Allreduce, Allgather, ReduceScatter];
    /// Few messages with many blocks each. Bruck, Ho, Kipnis, Upfal & Weathersby 1997, "Efficient algorithms for all-to-all
    /// communications in multiport message-passing systems", IEEE Transactions on Parallel and Distributed Systems 8:11.
    Bruck("bruck", bruck) serves [Allgather, Alltoall];
    /// Partners halve what they are responsible for; the number of members must be a power of two. Thakur, Rabenseifner &
    /// Gropp 2005.
    RecursiveHalving("recursive_halving", recursive_halving) serves [ReduceScatter];
    /// Every pair exchanges what it has for each other, one pair after the other. Thakur, Rabenseifner & Gropp 2005.
    Pairwise("pairwise", pairwise) serves [Alltoall, Alltoallv];
    /// What the simulator FSIN makes of collectives: everyone exchanges the full size with everyone else, one after the other,
    /// and roots serve the members in order. Its sends block, so that exchanges by rendezvous end in a deadlock, as there.
    /// Source: the public source of INSEE.
    Fsin("fsin", fsin) serves [Barrier, Allreduce, Alltoall, Bcast, Reduce];
}

impl Algorithm {
    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithms that serve a kind.
    pub fn serving(kind: Kind) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |algorithm| algorithm.kinds().contains(&kind))
    }

    /// The member's next step; none when its part is over. `round` says where it is: it is 0 at first, and is moved on. There
    /// are no steps for a kind that the algorithm does not serve, see [`check`].
    pub fn step(self, call: &Call, round: &mut u32) -> Option<Step> {
        loop {
            let step = self.round(call, *round)?;
            *round += 1;
            if step != Step::default() {
                return Some(step);
            }
        }
    }

    /// All steps of the member.
    pub fn steps<'a>(self, call: &'a Call) -> impl Iterator<Item = Step> + 'a {
        let mut round = 0;
        std::iter::from_fn(move || self.step(call, &mut round))
    }
}

/// Says why an algorithm cannot do this kind of collective for so many members, and what would be valid.
pub fn check(kind: Kind, algorithm: Algorithm, members: u32) -> Result<(), String> {
    let (kind_name, name) = (kind.name(), algorithm.name());
    if members == 0 || members > MAX_MEMBERS {
        return Err(format!("{kind_name} has {members} members; valid: 1 to {MAX_MEMBERS}"));
    }
    if !algorithm.kinds().contains(&kind) {
        let valid = choice::valid_names(kind);
        return Err(format!("{name} is no algorithm for {kind_name}; valid: {valid}"));
    }
    if algorithm == Algorithm::RecursiveHalving && !members.is_power_of_two() {
        return Err(format!(
            "{name} of {kind_name} needs a number of members that is a power of two, and there are {members}; \
             valid for any number: auto, ring"
        ));
    }
    Ok(())
}

impl Call<'_> {
    /// v, the own place counted from the root.
    fn relative(&self) -> u32 {
        back(self.place, self.root, self.members)
    }

    /// The member whose place counted from the root is `v`.
    fn at(&self, v: u32) -> u32 {
        ahead(self.root, v, self.members)
    }

    /// The member that is so far ahead.
    fn after(&self, distance: u32) -> u32 {
        ahead(self.place, distance, self.members)
    }

    /// The member that is so far behind.
    fn before(&self, distance: u32) -> u32 {
        back(self.place, distance, self.members)
    }
}

impl Step {
    fn send(member: u32, bytes: u64) -> Self {
        Self { send: Some(Part { member, bytes }), ..Self::default() }
    }

    fn receive(member: u32, bytes: u64) -> Self {
        Self { receive: Some(Part { member, bytes }), ..Self::default() }
    }

    /// A step that sends to one member and receives from another, or the same.
    fn both(to: (u32, u64), from: (u32, u64)) -> Self {
        Self { send: Self::send(to.0, to.1).send, ..Self::receive(from.0, from.1) }
    }

    /// The step, with what the member receives, if anything, as an operand.
    fn reducing(self) -> Self {
        Self { reduces: self.receive.is_some(), ..self }
    }
}

/// (place + distance) mod p, for a place below p.
fn ahead(place: u32, distance: u32, members: u32) -> u32 {
    (place + distance % members) % members
}

/// (place − distance) mod p, for a place below p.
fn back(place: u32, distance: u32, members: u32) -> u32 {
    (place + (members - distance % members)) % members
}

/// ⌈log₂ p⌉: the number of powers of two below p.
fn levels(members: u32) -> u32 {
    u32::BITS - (members - 1).leading_zeros()
}

/// Bytes of the blocks from `first` up to, and without, `end` of a vector in so many blocks.
fn span(bytes: u64, blocks: u32, first: u32, end: u32) -> u64 {
    let before = |block: u32| u128::from(block) * u128::from(bytes) / u128::from(blocks);
    (before(end) - before(first)) as u64
}

/// Bytes of one block.
fn block(bytes: u64, blocks: u32, number: u32) -> u64 {
    span(bytes, blocks, number, number + 1)
}

/// Bytes of so many parts of `bytes` each.
fn times(bytes: u64, parts: u32) -> u64 {
    bytes.saturating_mul(parts.into())
}
