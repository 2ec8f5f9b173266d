//! The model of the Graph500 benchmark of Fuentes (2017), "Balanced and efficient interconnects for Exascale supercomputers", thesis,
//! University of Cantabria, chapter 2: a breadth-first search of a random graph, level by level.
//!
//! In every level each rank sends aggregated queries to random others, then tells all of them how many messages they get, and
//! an all-reduce ends the level. How many queries there are is drawn before the run: see [`volume`]; or a graph is drawn and searched
//! before the run: see [`kronecker`], [`breadth_first`]. What a rank does with them
//! is executed by [`crate::host::Host::of_search`].

pub mod aggregation;
pub mod breadth_first;
pub mod kronecker;
pub mod random;
pub mod volume;

use crate::error::Refusal;
use crate::record::Rank;
use crate::units::Fraction;
use aggregation::LevelMessages;
use breadth_first::Bundle;
use random::{DrawPurpose, Source};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use volume::Volume;

/// Which of two forms of the fit of queries by level, equation 2.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Equations {
    /// The form printed in the thesis.
    #[default]
    Thesis,
    /// The form in the public source of `FOGSim`, which drew presumably figures 2.13 to 2.24. It puts nearly all queries into
    /// levels 2 and 3.
    Fogsim,
}

/// What the processor does for queries that it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// The processor takes the time of a query for each before the message is sent, as in equation 2.20.
    #[default]
    Compute,
    /// The processor does nothing: the link alone limits how fast queries are sent, as in `FOGSim`.
    Link,
}

/// The length of messages that carry no queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signals {
    /// A length of 0 B.
    #[default]
    Empty,
    /// The length of a message full of queries, as in `FOGSim`.
    Full,
}

/// A search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Number of ranks n, `[2 … 65,536]`. Memory is 4 B for each pair of ranks.
    pub ranks: u32,
    /// Binary logarithm of the number of vertices s, `[1 … 40]`.
    pub scale: u32,
    /// Edges per vertex f, `[1 … 1,024]`.
    pub edgefactor: u32,
    /// Most queries of a message c, `[1 … 2²⁰]`.
    pub coalescing: u32,
    /// The length of a query `[bytes, 1 … 65,536]`.
    pub query_bytes: u32,
    /// Computation for a query `[ns; numerator and denominator up to 2³²]`. None: it takes no time.
    pub query_time: Option<Fraction>,
    /// Edges of the vertex that the search begins with d, `[1 … 2³² − 1]`. None: it is drawn, equations 2.18 and 2.19.
    pub root_degree: Option<u32>,
    /// How many queries there are by level. None: as many as a search of a Kronecker graph has, which is then drawn.
    pub equations: Option<Equations>,
    /// What queries cost their sender.
    pub generation: Generation,
    /// How long messages without queries are.
    pub signals: Signals,
    /// The number of levels after which the search ends at the latest, `[1 … 64]`.
    pub max_levels: u32,
}

/// Most edges of a graph that is searched: it takes 8 B for each, and 8 B for each message.
const MAX_EDGES: u64 = 1 << 26;

/// Most messages that a rank may send in a search: hosts number them in 32 bits.
const MAX_MESSAGES: u64 = 1 << 31;

impl Parameters {
    /// The thesis' model with 16 edges per vertex, messages of 256 queries of 16 B, a root degree that is drawn, and up to 9
    /// levels.
    pub fn new(ranks: u32, scale: u32, query_time: Option<Fraction>) -> Self {
        Self {
            ranks,
            scale,
            edgefactor: 16,
            coalescing: 256,
            query_bytes: 16,
            query_time,
            root_degree: None,
            equations: Some(Equations::default()),
            generation: Generation::default(),
            signals: Signals::default(),
            max_levels: 9,
        }
    }

    /// Refuses what is out of its range.
    fn check(&self) -> Result<(), Refusal> {
        for (key, value, least, most) in [
            ("ranks", self.ranks, 2, 65_536),
            ("scale", self.scale, 1, 40),
            ("edgefactor", self.edgefactor, 1, 1024),
            ("coalescing", self.coalescing, 1, 1 << 20),
            ("query_bytes", self.query_bytes, 1, 65_536),
            ("root_degree", self.root_degree.unwrap_or(1), 1, u64::from(u32::MAX)),
            ("max_levels", self.max_levels, 1, 64),
        ] {
            Refusal::unless_within(key, value, least..=most)?;
        }
        let edges = u64::from(self.edgefactor) << self.scale;
        if self.equations.is_none() && edges > MAX_EDGES {
            let reason = format!("a graph of {edges} edges would be searched");
            return Err(Refusal::new("scale", self.scale, reason, format!("up to {MAX_EDGES} edges")));
        }
        check_time(self.query_time)
    }

    /// The queries of a rank in a level as messages.
    pub fn messages(&self, queries: u64) -> LevelMessages {
        LevelMessages::new(queries, self.ranks, self.coalescing)
    }

    /// Payload of a message without queries \[bytes\].
    pub fn signal_bytes(&self) -> u64 {
        match self.signals {
            Signals::Empty => 0,
            Signals::Full => u64::from(self.coalescing) * u64::from(self.query_bytes),
        }
    }
}

/// Refuses a time of a query that has too many digits.
fn check_time(time: Option<Fraction>) -> Result<(), Refusal> {
    let most = 1 << 32;
    let is_long = |time: &Fraction| time.numerator > most || time.denominator > most;
    time.filter(is_long).map_or(Ok(()), |time| {
        let valid = format!("a fraction with a numerator and a denominator of up to {most}");
        Err(Refusal::new("query_time", time, "it has too many digits", valid))
    })
}

/// A search with its queries: the program.
pub struct Search {
    parameters: Parameters,
    /// Computation for a query on the ranks that take another time than the parameters say.
    query_times: FxHashMap<Rank, Option<Fraction>>,
    /// Drawn when it is first asked for: graphs take their time, and of a sweep not all points are run by who plans it.
    volume: OnceLock<Volume>,
    sources: Box<dyn Sources>,
}

/// Gives every purpose the random numbers of its own, from the first, whenever it is asked.
pub trait Sources: Fn(DrawPurpose) -> Source + Send + Sync + 'static {}

impl<T: Fn(DrawPurpose) -> Source + Send + Sync + 'static> Sources for T {}

impl Search {
    /// Refuses parameters out of their ranges, and searches with more than 2³¹ messages of a rank.
    pub fn new(parameters: Parameters, sources: impl Sources) -> Result<Self, Refusal> {
        parameters.check()?;
        let query_times = FxHashMap::default();
        let search = Self { parameters, query_times, volume: OnceLock::new(), sources: Box::new(sources) };
        if parameters.equations.is_none() {
            // A rank has at most one message for each end of an edge, far below 2³¹.
            return Ok(search);
        }
        let most = (0..parameters.ranks).map(|rank| search.sends(rank)).max().unwrap_or(0);
        if most > MAX_MESSAGES {
            let reason = format!("a rank would send {most} messages, and it may send {MAX_MESSAGES}");
            return Err(Refusal::new("scale", parameters.scale, reason, "a smaller one, or more ranks"));
        }
        Ok(search)
    }

    /// The search in which some ranks take another time for a query \[ns; as in the parameters\]. Refuses ranks that there are not,
    /// and those of which it has been said before.
    pub fn with_query_time(
        mut self,
        ranks: impl IntoIterator<Item = Rank>,
        time: Option<Fraction>,
    ) -> Result<Self, Refusal> {
        check_time(time)?;
        for rank in ranks {
            Refusal::unless_within("ranks", rank, 0..=u64::from(self.parameters.ranks) - 1)?;
            if self.query_times.insert(rank, time).is_some() {
                return Err(Refusal::new("ranks", rank, "its time is said already", "every rank once"));
            }
        }
        Ok(self)
    }

    /// Computation of a rank for a query \[ns\]; none: it takes no time.
    pub fn query_time(&self, rank: Rank) -> Option<Fraction> {
        self.query_times.get(&rank).copied().unwrap_or(self.parameters.query_time)
    }

    /// Edges of the graph: what the benchmark divides by the time of a search.
    pub fn edges(&self) -> u64 {
        u64::from(self.parameters.edgefactor) << self.parameters.scale
    }

    /// The parameters that the search was made of.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Random numbers for the destinations of a rank's messages.
    pub(crate) fn destinations(&self, rank: Rank) -> Source {
        (self.sources)(DrawPurpose::Destinations(rank))
    }

    /// What is drawn of the search: its root and its queries.
    pub fn volume(&self) -> &Volume {
        self.volume.get_or_init(|| Volume::draw(&self.parameters, &self.sources))
    }

    /// Number of levels.
    pub fn levels(&self) -> u32 {
        self.volume().queries.len() as u32
    }

    /// Messages with queries that a rank sends in a level, to ranks that are drawn.
    pub fn messages(&self, level: u32, rank: Rank) -> LevelMessages {
        self.parameters.messages(self.volume().queries[level as usize][rank as usize])
    }

    /// Messages with queries that a rank sends in a level of the search of a graph, which knows their destinations.
    pub fn bundles(&self, level: u32, rank: Rank) -> Option<&[Bundle]> {
        self.volume().bundles.as_ref().map(|all| &*all[level as usize][rank as usize])
    }

    /// The number of messages with queries that a rank sends in a level.
    pub fn message_count(&self, level: u32, rank: Rank) -> u64 {
        self.bundles(level, rank).map_or_else(|| self.messages(level, rank).left(), |all| all.len() as u64)
    }

    /// Messages with queries of all ranks in all levels.
    pub fn query_messages(&self) -> u64 {
        let of_rank = |rank| (0..self.levels()).map(|level| self.message_count(level, rank)).sum::<u64>();
        (0..self.parameters.ranks).map(of_rank).sum()
    }

    /// All messages that a rank sends: with queries, signals, and those of the all-reduces.
    pub fn sends(&self, rank: Rank) -> u64 {
        let (levels, others) = (u64::from(self.levels()), u64::from(self.parameters.ranks) - 1);
        let queries: u64 = (0..self.levels()).map(|level| self.message_count(level, rank)).sum();
        let is_root = rank == self.volume().root;
        let signals = others * if is_root { levels } else { levels - 1 };
        queries.saturating_add(signals + levels * if is_root { others } else { 1 })
    }
}
