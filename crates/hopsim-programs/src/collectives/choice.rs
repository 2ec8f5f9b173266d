//! Which algorithm a collective operation uses.

use super::{Algorithm, Kind, check};
use std::fmt;

/// bcast: up to so many bytes, or with fewer members than [`MANY`], the tree alone.
const SHORT_BCAST: u64 = 12_288;
/// allreduce: up to so many bytes of a vector whole vectors are exchanged.
const SHORT_ALLREDUCE: u64 = 2048;
/// allgather: up to so many bytes of all members together few messages are better.
const SHORT_ALLGATHER: u64 = 81_920;
/// `reduce_scatter`: up to so many bytes of all blocks together few messages are better.
const SHORT_REDUCE_SCATTER: u64 = 524_288;
/// alltoall: up to so many bytes of a pair, with at least [`MANY`] members, few messages are better.
const SHORT_ALLTOALL: u64 = 256;
/// The least number of members that counts as many.
const MANY: u32 = 8;

/// What "auto" stands for: an algorithm for n bytes, see [`super::Call`], and so many members. The limits are the defaults of
/// MPICH (Thakur, Rabenseifner & Gropp 2005).
pub fn choose(kind: Kind, members: u32, bytes: u64) -> Algorithm {
    let together = bytes.saturating_mul(members.into());
    match kind {
        Kind::Barrier => Algorithm::Dissemination,
        Kind::Bcast if bytes > SHORT_BCAST && members >= MANY => Algorithm::ScatterRing,
        Kind::Bcast | Kind::Reduce | Kind::Gather | Kind::Scatter => Algorithm::Binomial,
        Kind::Allreduce if bytes > SHORT_ALLREDUCE => Algorithm::Rabenseifner,
        Kind::Allreduce | Kind::Scan => Algorithm::RecursiveDoubling,
        Kind::Allgather if together > SHORT_ALLGATHER => Algorithm::Ring,
        Kind::Allgather => Algorithm::Bruck,
        Kind::ReduceScatter if together > SHORT_REDUCE_SCATTER || !members.is_power_of_two() => {
            Algorithm::Ring
        }
        Kind::ReduceScatter => Algorithm::RecursiveHalving,
        Kind::Alltoall if bytes <= SHORT_ALLTOALL && members >= MANY => Algorithm::Bruck,
        Kind::Alltoall | Kind::Alltoallv => Algorithm::Pairwise,
    }
}

/// The user's choice for every kind of collective operation: an algorithm, or auto, which is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices([Option<Algorithm>; Kind::ALL.len()]);

impl Choices {
    /// The choice of "fsin" for every kind that "fsin" serves, and of auto for the others.
    pub fn fsin() -> Self {
        Self(Kind::ALL.map(|kind| Algorithm::serving(kind).find(|&algorithm| algorithm == Algorithm::Fsin)))
    }

    /// The choices of names of kinds with names of algorithms or "auto"; kinds that are not named are auto.
    pub fn from_names<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, WrongChoice> {
        let mut choices = Self::default();
        names.into_iter().try_for_each(|(kind, algorithm)| choices.set(kind, algorithm))?;
        Ok(choices)
    }

    /// Sets the algorithm of one kind.
    pub fn set(&mut self, kind: &str, algorithm: &str) -> Result<(), WrongChoice> {
        let wrong =
            |reason, valid| WrongChoice { kind: kind.into(), algorithm: algorithm.into(), reason, valid };
        let Some(known) = Kind::from_name(kind) else {
            return Err(wrong(
                "there is no such collective operation".into(),
                Kind::ALL.map(Kind::name).join(", "),
            ));
        };
        let choice = Algorithm::from_name(algorithm);
        if choice.is_none() && algorithm != "auto" {
            return Err(wrong("there is no such algorithm".into(), valid_names(known)));
        }
        if choice.is_some_and(|choice| !choice.kinds().contains(&known)) {
            return Err(wrong(format!("it is no algorithm for {kind}"), valid_names(known)));
        }
        self.0[known as usize] = choice;
        Ok(())
    }

    /// What was chosen for a kind; none: auto.
    pub fn of(&self, kind: Kind) -> Option<Algorithm> {
        self.0[kind as usize]
    }

    /// The algorithm of a collective operation of n bytes (see [`super::Call`]).
    pub fn algorithm(&self, kind: Kind, members: u32, bytes: u64) -> Algorithm {
        self.of(kind).unwrap_or_else(|| choose(kind, members, bytes))
    }

    /// Says why the choice for this kind cannot serve so many members.
    pub fn check(&self, kind: Kind, members: u32) -> Result<(), String> {
        check(kind, self.algorithm(kind, members, 0), members)
    }
}

/// A choice that cannot be: the user's words, why not, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongChoice {
    /// The kind as written.
    pub kind: String,
    /// The algorithm as written.
    pub algorithm: String,
    /// Why the choice is refused.
    pub reason: String,
    /// What would be valid, for the kind if that is unknown, else for the algorithm.
    pub valid: String,
}

impl fmt::Display for WrongChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, algorithm, reason, valid } = self;
        write!(f, "collectives.{kind} = \"{algorithm}\": {reason}; valid: {valid}")
    }
}

impl std::error::Error for WrongChoice {}

/// The names of a kind's algorithms.
pub(super) fn valid_names(kind: Kind) -> String {
    let names: Vec<&str> =
        std::iter::once("auto").chain(Algorithm::serving(kind).map(Algorithm::name)).collect();
    names.join(", ")
}
