//! Programs that nodes run, and the hosts they run on, as written in the document.

use super::limits::{NIC_QUEUES, PACKET_LENGTHS, PROCESSOR_TIMES, SERVICE_LEVELS};
use hopsim_traffic::placement::Range;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a cycle and a phit are: what programs, which have seconds and bytes, need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsConfig {
    /// Length of a cycle: a decimal number and `ps`, `ns`, `us`, `ms` or `s`, as `"1.6 ns"`.
    #[schemars(example = "1.6 ns")]
    pub cycle: String,
    /// Size of a phit: a decimal number and `B`, `kB`, `KiB`, as `"4 B"`; or what a link carries in a cycle.
    #[schemars(example = "4 B")]
    pub phit: String,
}

/// A program: what each rank of a job computes, sends and receives. Rank i runs on the i-th node of the placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramConfig {
    /// A recorded MPI program, replayed with its dependencies: every message and every computation, in the order of the program. The
    /// file is in format mpt 1, or as Dimemas or Paraver (`.prv`, written by Extrae) have it.
    Trace(FileConfig),
    /// A graph of operations in the Group Operation Assembly Language (Hoefler, Siebert & Lumsdaine, ICPP 2009), as text or
    /// binary.
    Goal(FileConfig),
    /// Explicit traffic: a table of comma-separated values, with a row for each message. Its first line names the columns in any
    /// order: `time_cycles`, or `time_ns` with up to three decimals; `source` and `destination`, ranks; `bytes`. A message is sent in
    /// the cycle that its time falls in, counted from the job's `start`, whatever else happens and whatever `cpu_speed`: its send
    /// then waits for the processor and the node's queue only. Rows may be in any order; those of a source with the same time are
    /// sent in that of the file. The number of ranks is the highest that is named, and one more.
    Table(FileConfig),
    /// Execution traces in Chakra, schema 1.0 of `MLCommons`: what training or serving a neural network computes and communicates,
    /// a file for each rank (Sridharan et al. 2023). Computations wait for the stream of the CPU or that of their GPU stream,
    /// communication for a stream of its own; collective operations use the algorithms of `host.collectives`.
    Chakra(ChakraConfig),
    /// Operations written here, as text in format mpt 1: for examples and tests of a few lines.
    List(ListConfig),
    /// One collective operation again and again, by the algorithm that `host.collectives` names.
    Collective(CollectiveConfig),
    /// Ranks on a grid exchange their faces in every iteration.
    Stencil(StencilConfig),
    /// Steps of the training of a neural network, with data, tensor and pipeline parallelism.
    Training(TrainingConfig),
    /// A breadth-first search of the Graph500 benchmark (Fuentes 2017, chapter 2).
    Graph500(Graph500Config),
    /// Another simulator, of processors or of a whole system, drives the nodes: it injects messages of so many phits and is told of
    /// those that are there (`hs.Simulation` in Python, `hopsim.h` in C). All nodes of the placement take part, and are named by
    /// their numbers in the network. Messages are cut into packets by `host.packet_length`, `header_length`, `last_packet` and
    /// `gap`; what processors add is the other simulator's. `units` is not needed. `hopsim run` refuses such documents.
    External(ExternalConfig),
}

impl ProgramConfig {
    /// The kind, the file and the digest of the contents of a program that is in a file.
    pub fn file(&mut self) -> Option<(&'static str, &str, &mut Option<String>)> {
        let (kind, FileConfig { file, sha256 }) = match self {
            Self::Trace(config) => ("trace", config),
            Self::Goal(config) => ("goal", config),
            Self::Table(config) => ("table", config),
            Self::Chakra(ChakraConfig { file, sha256, .. }) => return Some(("chakra", file, sha256)),
            _ => return None,
        };
        Some((kind, file, sha256))
    }
}

/// A stencil: every iteration posts all receives, starts all sends, computes, and waits for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StencilConfig {
    /// Ranks along each dimension, their product is the number of ranks.
    pub sides: Vec<u32>,
    /// Whether opposite edges are neighbours.
    #[serde(default)]
    pub periodic: bool,
    /// Payload for each neighbour \[bytes\].
    pub bytes: u64,
    /// Computation in every iteration \[ns\].
    #[serde(default)]
    pub compute: u64,
    /// Number of iterations.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Who is a neighbour.
    #[serde(default)]
    pub neighbours: Neighbours,
    /// Whether computation and messages go on beside each other.
    #[serde(default = "yes")]
    pub overlap: bool,
}

/// The neighbours of a rank in a stencil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// Two neighbours in every dimension.
    #[default]
    Faces,
    /// Neighbours across edges and corners too.
    All,
}

/// A step of training with the 1F1B schedule (Narayanan et al., SC 2021); the product of the degrees is the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Data parallelism: the slowest part of a rank's number.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub data: u32,
    /// Tensor parallelism: the fastest part of a rank's number.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub tensor: u32,
    /// Pipeline stages.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub pipeline: u32,
    /// Layers, a multiple of the pipeline stages.
    #[schemars(range(min = 1))]
    pub layers: u32,
    /// What goes from stage to stage and is reduced in the tensor group for every layer \[bytes\].
    pub activation: u64,
    /// Gradient of a layer, reduced in the data group \[bytes\].
    pub gradient: u64,
    /// Computation forward, per layer and micro-batch \[ns\].
    pub forward: u64,
    /// Computation backward, per layer and micro-batch \[ns\].
    pub backward: u64,
    /// Micro-batches of the step.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub micro_batches: u32,
    /// Whether gradients are reduced beside what is left of backward.
    #[serde(default)]
    pub overlap: bool,
}

/// A search of the Graph500 benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph500Config {
    /// Number of ranks; default: one on every node of the placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub ranks: Option<u32>,
    /// Binary logarithm of the number of vertices \[1 … 40\].
    #[schemars(range(min = 1, max = 40))]
    pub scale: u32,
    /// Edges per vertex.
    #[serde(default = "edges")]
    #[schemars(range(min = 1, max = 1024))]
    pub edgefactor: u32,
    /// Most queries of a message.
    #[serde(default = "coalescing")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub coalescing: u32,
    /// Size of a query \[bytes\].
    #[serde(default = "query_bytes")]
    #[schemars(range(min = 1, max = 65_536))]
    pub query_bytes: u32,
    /// Computation for a query \[ns\]; 0: none.
    pub query_time: f64,
    /// Ranks that take another time for a query, as in a system with several kinds of nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_times: Vec<QueryTimeConfig>,
    /// Edges of the vertex that the search begins with; default: drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub root_degree: Option<u32>,
    /// Which form of the fit of queries by level.
    #[serde(default)]
    pub equations: Equations,
    /// What queries cost their sender.
    #[serde(default)]
    pub generation: Generation,
    /// How long messages without queries are.
    #[serde(default)]
    pub signals: Signals,
    /// The search ends after so many levels.
    #[serde(default = "levels")]
    #[schemars(range(min = 1, max = 64))]
    pub max_levels: u32,
}

/// The time that some ranks of a search take for a query. FOGSim names such nodes too (`GraphNodesCapMod`), with one factor for all of
/// them (`GraphCapModFactor`); its public source reads both and does nothing with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryTimeConfig {
    /// The ranks. None of them may be in another entry.
    pub ranks: Ranks,
    /// Computation of each of them for a query, received or sent \[ns\]; 0: none.
    pub query_time: f64,
}

/// Some ranks of a program. Rank i runs on the i-th node of the placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ranks {
    /// Consecutive ranks.
    Consecutive(Range),
    /// The ranks named, by number from 0.
    List(Vec<u32>),
}

impl Ranks {
    /// The numbers of the ranks.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let (consecutive, listed) = match self {
            Self::Consecutive(Range { first, count }) => (*first..first.saturating_add(*count), &[][..]),
            Self::List(ranks) => (0..0, &ranks[..]),
        };
        consecutive.chain(listed.iter().copied())
    }
}

/// See [`Graph500Config`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Equations {
    /// The equations as printed in the thesis (2.8).
    #[default]
    Thesis,
    /// The equations as in the public source of FOGSim.
    Fogsim,
    /// None: a graph as the benchmark's (Kronecker, A = 0.57, B = C = 0.19, D = 0.05), of up to 2²⁶ edges, is drawn and searched before
    /// the run, and every rank sends the queries that its vertices have to the ranks of their neighbours: a message as soon as
    /// there are `coalescing` of them for a rank. The root has the degree that is nearest to `root_degree`, or is any vertex with
    /// edges. It takes some seconds for 2²⁴ edges, and 8 B for each edge and message.
    Kronecker,
}

/// See [`Graph500Config`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Generation {
    /// The time of a query for each, before the message is sent (equation 2.20).
    #[default]
    Compute,
    /// Nothing: the link alone limits the sender, as in FOGSim. With `semantics.injection_link` = `unlimited` the processor keeps
    /// messages of queries as far apart as they are long, and computes nothing while it waits for that.
    Link,
}

/// See [`Graph500Config`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Signals {
    /// Messages of 0 bytes.
    #[default]
    Empty,
    /// Messages as long as one full of queries, as in FOGSim.
    Full,
}

fn yes() -> bool {
    true
}

fn edges() -> u32 {
    16
}

fn coalescing() -> u32 {
    256
}

fn query_bytes() -> u32 {
    16
}

fn levels() -> u32 {
    9
}

/// Nodes that another simulator drives: there is nothing to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalConfig {}

/// A program in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// The file, relative to the directory of the experiment; it may be compressed (`.xz`, `.gz`).
    pub file: String,
    /// SHA-256 of its contents, in hexadecimal: filled in when it is read, and compared if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Chakra execution traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChakraConfig {
    /// Where the files are, relative to the directory of the experiment: the file of rank 0 is this with `.0.et` behind it, and so
    /// on. They may be compressed by gzip.
    pub file: String,
    /// File with the ranks of the process groups that collective operations name in `pg_name`: a JSON object, name → list of ranks.
    /// Without a name all ranks take part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// Operations per second of a rank \[1/s, above 0\]: computations that have no duration take their `num_ops` divided by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// SHA-256 of the contents of all files, in hexadecimal: filled in when they are read, and compared if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A program written in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListConfig {
    /// The program in format mpt 1.
    pub mpt: String,
}

/// A collective operation that all ranks take part in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectiveConfig {
    /// Number of ranks; default: one on every node of the placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ranks: Option<u32>,
    /// `barrier`, `bcast`, `reduce`, `allreduce`, `allgather`, `gather`, `scatter`, `reduce_scatter`, `alltoall` or `scan`.
    pub kind: String,
    /// Payload \[bytes\]: of a vector (bcast, reduce, allreduce, scan), of what each rank brings (allgather, gather, scatter), of
    /// a block (`reduce_scatter`), of a pair (alltoall).
    #[serde(default)]
    pub bytes: u64,
    /// The rank that is the root, where there is one.
    #[serde(default)]
    pub root: u32,
    /// How often the operation is run.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub repeat: u32,
    /// Computation before each operation \[ns\].
    #[serde(default)]
    pub compute: u64,
}

fn once() -> u32 {
    1
}

/// How often a program is run: a number, or `"forever"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Repeat {
    /// A number of times, at least once.
    Times(#[schemars(range(min = 1))] u32),
    /// Until the programs of all other jobs are done.
    Named(Forever),
}

/// See [`Repeat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forever {
    /// Until the programs of all other jobs are done.
    Forever,
}

/// Speed of processors: a number, or `"infinite"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CpuSpeed {
    /// So many times the speed of the machine where the program was recorded.
    Times(f64),
    /// Computations take no time.
    Named(Infinite),
}

/// See [`CpuSpeed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Infinite {
    /// Computations take no time.
    Infinite,
}

/// Size up to which messages are sent eagerly: bytes, or `"none"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EagerLimit {
    /// Size above which messages use rendezvous \[bytes\].
    Bytes(u64),
    /// All messages are sent eagerly.
    Named(NoLimit),
}

/// See [`EagerLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoLimit {
    /// There is no limit: all messages are sent eagerly.
    None,
}

/// When an eager send is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendCompletes {
    /// At once: the payload of the message has been copied.
    Buffered,
    /// When the last phit of the message has left the node.
    Injected,
}

/// Length of the last packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LastPacket {
    /// The last packet is as long as it needs to be.
    Short,
    /// The last packet is as long as the others.
    Full,
}

/// What receives from any source take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnySource {
    /// The message that the recorded source sends.
    Recorded,
    /// The first message that fits.
    First,
}

/// A preset of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostCompat {
    /// Close to FSIN and FOGSim: `send_completes` = `injected`, `last_packet` = `full`, `fsin` for every collective that has it.
    Fsin,
}

/// The hosts that a program runs on, in the terms of `LogGOPS` (Hoefler, Schneider & Lumsdaine, HPDC 2010): L and G are the
/// network's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Preset of `send_completes`, `last_packet` and `collectives`; keys given win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<HostCompat>,
    /// Computations take 1/speed of the time recorded; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_speed: Option<CpuSpeed>,
    /// o of `LogGOPS` at the sender: processor time for a message \[cycles\].
    #[serde(default)]
    #[schemars(range(min = *PROCESSOR_TIMES.start(), max = *PROCESSOR_TIMES.end()))]
    pub send_overhead: u32,
    /// o of `LogGOPS` at the receiver: processor time for a message \[cycles\].
    #[serde(default)]
    #[schemars(range(min = *PROCESSOR_TIMES.start(), max = *PROCESSOR_TIMES.end()))]
    pub receive_overhead: u32,
    /// g of `LogGOPS`: least time between the beginnings of two messages of a node \[cycles\].
    #[serde(default)]
    #[schemars(range(min = *PROCESSOR_TIMES.start(), max = *PROCESSOR_TIMES.end()))]
    pub gap: u32,
    /// Packets of messages that the network interface of a node holds \[packets\]; default: any number. A packet is generated when it enters
    /// the network interface, where it finds room when an earlier one is admitted: that is its time stamp for age arbitration, and where its
    /// latency begins. By default all packets of a message are generated when the node sends it (`gen_q_x` and `gen_q_∞` of Izu &
    /// Vallejo 2019, §4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *NIC_QUEUES.start(), max = *NIC_QUEUES.end()))]
    pub nic_queue: Option<u32>,
    /// Larger messages use rendezvous \[bytes\]; default `none`: all are sent eagerly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager_limit: Option<EagerLimit>,
    /// When an eager send is done; default `buffered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_completes: Option<SendCompletes>,
    /// Longest packet, its header included \[phits\]; default 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *PACKET_LENGTHS.start(), max = *PACKET_LENGTHS.end()))]
    pub packet_length: Option<u32>,
    /// Header of every packet, shorter than the packet \[phits\].
    #[serde(default)]
    pub header_length: u32,
    /// Whether the last packet of a message is as long as the others; default `short`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_packet: Option<LastPacket>,
    /// Algorithm of collective operations, by kind; default: one chosen by size and number of ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub collectives: BTreeMap<String, String>,
    /// What receives from any source take; default `recorded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any_source: Option<AnySource>,
    /// Service level of the messages in a fabric; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SERVICE_LEVELS.start(), max = *SERVICE_LEVELS.end()))]
    pub service_level: Option<u8>,
}
