//! A program in one of its forms.

use crate::graph::{Clock, Graph};
use crate::graph500::Search;
use crate::host::Host;
use crate::host::rules::Rules;
use crate::record::{Rank, Script};
use std::fmt;
use std::sync::Arc;

/// What the ranks of a job do.
#[derive(Clone)]
pub enum Program {
    /// Each rank calls one record after the other.
    Script(Arc<dyn Script>),
    /// Each rank has a graph of operations.
    Graph(Arc<Graph>),
    /// All ranks take part in a search of Graph500.
    Search(Arc<Search>),
    /// No rank does anything by itself: another simulator says what so many ranks send.
    External(u32),
}

impl Program {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match self {
            Self::Script(script) => script.ranks(),
            Self::Graph(graph) => graph.ranks.len() as u32,
            Self::Search(search) => search.parameters().ranks,
            Self::External(ranks) => *ranks,
        }
    }

    /// What the computations of the program are counted in.
    pub fn clock(&self) -> Clock {
        match self {
            Self::Graph(graph) => graph.clock,
            Self::Script(_) | Self::Search(_) | Self::External(_) => Clock::Nanoseconds,
        }
    }

    /// A rank of the program, before it begins.
    pub fn host(&self, rank: Rank, rules: &Arc<Rules>) -> Host {
        match self {
            Self::Script(script) => Host::of_script(rank, script, rules),
            Self::Graph(graph) => Host::of_graph(rank, graph, rules),
            Self::Search(search) => Host::of_search(rank, search, rules),
            Self::External(_) => Host::external(rank, rules),
        }
    }

    /// The line of the file that a record or operation of a rank, from 0, is in; none if it is from no file.
    pub fn line(&self, rank: Rank, record: u32) -> Option<u64> {
        match self {
            Self::Script(script) => script.line(rank, record.into()),
            Self::Graph(graph) => {
                graph.ranks[rank as usize].lines.get(record as usize).map(|&line| line.into())
            }
            Self::Search(_) | Self::External(_) => None,
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({} ranks)", self.ranks())
    }
}
