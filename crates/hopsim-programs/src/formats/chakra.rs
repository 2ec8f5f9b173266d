//! Chakra execution traces (Sridharan et al. 2023, schema of `MLCommons`, 1.0), one file for each rank: what a step of machine learning
//! computes and communicates, as a graph.
//!
//! A file is protobuf messages behind their lengths, first the metadata, then the nodes. Computations of the CPU are on stream 0 of
//! the rank, those of a GPU on a stream for each of its streams, and all communication on a further one. Dependencies, by control and by
//! data, wait until a node is done. What a node that communicates took when it was recorded is ignored.

mod schema;

use crate::collectives::Kind;
use crate::error::ProgramError;
use crate::graph::{Dependency, Graph, Operation, RankGraph};
use crate::record::{Bytes, Collective, Communicator, Rank};
use rustc_hash::FxHashMap;
use schema::{Node, kind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the files do not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Members of the process groups that collective operations name.
    pub groups: BTreeMap<String, Vec<Rank>>,
    /// Operations per second of a rank: computations without a duration take their `num_ops` divided by this.
    pub flops: Option<f64>,
}

/// Reads the files of all ranks, in order.
pub fn read(files: &[impl AsRef<[u8]>], setting: &Setting) -> Result<Graph, ProgramError> {
    if let Some(flops) = setting.flops.filter(|flops| !(flops.is_finite() && *flops > 0.0)) {
        return Err(ProgramError::new(format!("flops is {flops}; expected a number above 0")));
    }
    let ranks = files.len() as u32;
    let mut communicators: Vec<Arc<[Rank]>> = vec![(0..ranks).collect()];
    for (name, members) in &setting.groups {
        if let Some(outside) = members.iter().find(|&&member| member >= ranks) {
            return Err(ProgramError::new(format!(
                "process group {name:?} has rank {outside}; expected ranks from 0 to {}",
                i64::from(ranks) - 1
            )));
        }
        communicators.push(members.as_slice().into());
    }
    let numbers = setting.groups.keys().map(String::as_str).zip(1..).collect();
    let groups = Groups { numbers, communicators: &communicators };
    let graphs = files.iter().zip(0..).map(|(file, rank)| {
        let nodes = schema::nodes(file.as_ref())?;
        Lowering { nodes: &nodes, groups: &groups, flops: setting.flops, ranks }.graph(rank)
    });
    let located = |(graph, rank): (Result<_, ProgramError>, _)| graph.map_err(|error| error.rank(rank));
    let graphs = graphs.zip(0..).map(located).collect::<Result<_, _>>()?;
    Ok(Graph { communicators, ranks: graphs, ..Graph::default() })
}

/// Process groups, whose communicators follow that of all ranks in order of their names.
struct Groups<'a> {
    numbers: FxHashMap<&'a str, Communicator>,
    communicators: &'a [Arc<[Rank]>],
}

/// The nodes of a rank, while they become operations.
struct Lowering<'a> {
    nodes: &'a [Node],
    groups: &'a Groups<'a>,
    flops: Option<f64>,
    ranks: u32,
}

impl Lowering<'_> {
    fn graph(&self, rank: Rank) -> Result<RankGraph, ProgramError> {
        let streams = self.streams()?;
        let collectives = self.collectives(rank)?;
        let mut graph = RankGraph::default();
        for (node, number) in self.nodes.iter().zip(0..) {
            let operation = match collectives.get(&number) {
                Some(&(order, _)) => Operation::Collective(order),
                None => self.operation(node).map_err(|error| in_node(node, &error))?,
            };
            let stream = match node.kind {
                kind::COMM_SEND | kind::COMM_RECV | kind::COMM_COLL => streams.len() as u8,
                _ => place(node, &streams)?,
            };
            graph.push(operation, stream, None);
        }
        let mut calls: Vec<(u32, Collective)> = collectives.into_values().collect();
        calls.sort_by_key(|call| call.0);
        graph.collectives = calls.into_iter().map(|call| call.1).collect();
        graph.dependencies = self.dependencies()?;
        Ok(graph)
    }

    /// Numbers of streams of the GPU, behind the stream of the CPU. The place in this list is the stream of the rank.
    fn streams(&self) -> Result<Vec<Option<u64>>, ProgramError> {
        let mut streams = BTreeSet::from([None]);
        for node in self.nodes.iter().filter(|node| computes(node) && !node.is("is_cpu_op")) {
            streams.insert(Some(stream(node)?));
        }
        if streams.len() > usize::from(u8::MAX) {
            let count = streams.len() - 1;
            return Err(ProgramError::new(format!("the rank has {count} GPU streams; expected at most 254")));
        }
        Ok(streams.into_iter().collect())
    }

    fn operation(&self, node: &Node) -> Result<Operation, ProgramError> {
        let last = u64::from(self.ranks) - 1;
        let tag = || Ok(node.number("comm_tag", u64::from(u32::MAX) - 1)?.unwrap_or(0) as u32);
        Ok(match node.kind {
            kind::METADATA => Operation::Join,
            kind::COMP | kind::MEM_LOAD | kind::MEM_STORE => {
                Operation::Compute { time: self.duration(node)? }
            }
            kind::COMM_SEND => Operation::Send {
                peer: node.needed("comm_dst", last)? as Rank,
                tag: tag()?,
                bytes: node.needed("comm_size", u64::MAX)?,
            },
            kind::COMM_RECV => Operation::Receive {
                peer: Some(node.needed("comm_src", last)? as Rank),
                tag: Some(tag()?),
                bytes: node.needed("comm_size", u64::MAX)?,
            },
            other => {
                return Err(ProgramError::new(format!("expected a type from 1 to 7, got {other}")));
            }
        })
    }

    /// How long a computation takes \[ns\].
    fn duration(&self, node: &Node) -> Result<u64, ProgramError> {
        if node.duration_micros > 0 || node.kind != kind::COMP {
            let time = node.duration_micros.checked_mul(1_000);
            let long = || ProgramError::new(format!("{} µs are too long", node.duration_micros));
            return time.ok_or_else(long);
        }
        match (node.number("num_ops", u64::MAX)?, self.flops) {
            (Some(count), Some(flops)) => Ok((count as f64 / flops * 1e9).round() as u64),
            (Some(_), None) => Err(ProgramError::new(
                "has no duration; expected one, or `flops` beside the file, the operations per second",
            )),
            (None, _) => Err(ProgramError::new(
                "has no duration; expected one, or an attribute `num_ops` and `flops` beside the file",
            )),
        }
    }

    /// The collective operations, by place in the file, and which one of the rank each is: their ids say in which order they
    /// come.
    fn collectives(&self, rank: Rank) -> Result<FxHashMap<u32, (u32, Collective)>, ProgramError> {
        let mut all: Vec<(u64, u32)> = (0..)
            .zip(self.nodes)
            .filter(|(_, node)| node.kind == kind::COMM_COLL)
            .map(|(number, node)| (node.id, number))
            .collect();
        all.sort_unstable();
        let collective = |(order, (_, number)): (u32, (u64, u32))| {
            let node = &self.nodes[number as usize];
            let collective = self.collective(rank, node).map_err(|error| in_node(node, &error))?;
            Ok((number, (order, collective)))
        };
        (0..).zip(all).map(collective).collect()
    }

    fn collective(&self, rank: Rank, node: &Node) -> Result<Collective, ProgramError> {
        let communicator = self.communicator(node)?;
        let members = &self.groups.communicators[communicator as usize];
        if !members.contains(&rank) {
            return Err(ProgramError::new(
                "calls a collective operation of a process group that it is not in",
            ));
        }
        let kind = match node.needed("comm_type", 9)? {
            0 => Kind::Allreduce,
            1 => Kind::Reduce,
            2 => Kind::Allgather,
            3 => Kind::Gather,
            4 => Kind::Scatter,
            5 => Kind::Bcast,
            6 => Kind::Alltoall,
            7 | 8 => Kind::ReduceScatter,
            _ => Kind::Barrier,
        };
        let size = if kind == Kind::Barrier { 0 } else { node.needed("comm_size", u64::MAX)? };
        let bytes = match kind {
            Kind::Alltoall | Kind::ReduceScatter | Kind::Scatter => size / members.len() as u64,
            _ => size,
        };
        let root =
            node.number("root_rank", u64::from(self.ranks) - 1)?.map_or(members[0], |root| root as Rank);
        let root = kind.is_rooted().then_some(root);
        Ok(Collective { kind, communicator, root, bytes: Bytes::Same(bytes) })
    }

    /// The communicator of the process group that a node names.
    fn communicator(&self, node: &Node) -> Result<Communicator, ProgramError> {
        let Some(name) = node.text("pg_name") else { return Ok(0) };
        let known = || self.groups.numbers.keys().map(|name| format!("{name:?}")).collect::<BTreeSet<_>>();
        self.groups.numbers.get(name).copied().ok_or_else(|| {
            let known = known().into_iter().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "no `groups` beside the file".into() } else { known };
            ProgramError::new(format!(
                "expected the name of a known process group, got {name:?}; known: {known}"
            ))
        })
    }

    fn dependencies(&self) -> Result<Vec<Dependency>, ProgramError> {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        for (node, number) in self.nodes.iter().zip(0..) {
            if numbers.insert(node.id, number).is_some() {
                return Err(in_node(node, &ProgramError::new("expected an id that no other node has")));
            }
        }
        let mut dependencies = Vec::new();
        for (node, operation) in self.nodes.iter().zip(0..) {
            for id in node.ctrl_deps.iter().chain(&node.data_deps) {
                let unknown = || ProgramError::new(format!("waits for node {id}, which is not in the file"));
                let on = *numbers.get(id).ok_or_else(|| in_node(node, &unknown()))?;
                dependencies.push(Dependency { operation, on, started: false });
            }
        }
        Ok(dependencies)
    }
}

fn computes(node: &Node) -> bool {
    matches!(node.kind, kind::COMP | kind::MEM_LOAD | kind::MEM_STORE)
}

/// The stream of the GPU that a node is on.
fn stream(node: &Node) -> Result<u64, ProgramError> {
    let number = node.number("stream", u64::MAX).map_err(|error| in_node(node, &error))?;
    Ok(number.unwrap_or(0))
}

/// The stream of the rank that a node is on which does not communicate.
fn place(node: &Node, streams: &[Option<u64>]) -> Result<u8, ProgramError> {
    if !computes(node) || node.is("is_cpu_op") {
        return Ok(0);
    }
    let stream = stream(node)?;
    Ok(streams.partition_point(|&other| other < Some(stream)) as u8)
}

fn in_node(node: &Node, error: &ProgramError) -> ProgramError {
    ProgramError::new(format!("node {} ({}): {}", node.id, node.name, error.reason))
}

#[cfg(test)]
mod tests;
