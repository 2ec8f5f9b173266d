//! Programs that nodes run, and the hosts they run on, as written in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a cycle and a phit are: what programs, which have seconds and bytes, need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsConfig {
    /// Length of a cycle: a decimal number and `ps`, `ns`, `us`, `ms` or `s`, as `"1.6 ns"`.
    pub cycle: String,
    /// Size of a phit: a decimal number and `B`, `kB`, `KiB`, as `"4 B"`; or what a link carries in a cycle.
    pub phit: String,
}

/// A program: what each rank of a job computes, sends and receives. Rank i runs on the i-th node of the placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramConfig {
    /// A recorded MPI program, replayed with its dependencies.
    Trace(FileConfig),
    /// A graph of operations in the Group Operation Assembly Language (Hoefler, Siebert & Lumsdaine, ICPP 2009), as text or
    /// binary.
    Goal(FileConfig),
    /// Operations written here, as text in format mpt 1.
    List(ListConfig),
    /// One collective operation again and again.
    Collective(CollectiveConfig),
}

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
    /// How often.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub repeat: u32,
    /// Computation before each \[ns\].
    #[serde(default)]
    pub compute: u64,
}

fn once() -> u32 {
    1
}

/// Speed of processors: a number, or `"infinite"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CpuSpeed {
    /// So many times that of the machine where the program was recorded.
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
    /// Larger ones use rendezvous \[bytes\].
    Bytes(u64),
    /// All are.
    Named(NoLimit),
}

/// See [`EagerLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoLimit {
    /// There is no limit.
    None,
}

/// When an eager send is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendCompletes {
    /// At once: its payload has been copied.
    Buffered,
    /// When its last phit has left the node.
    Injected,
}

/// Length of the last packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LastPacket {
    /// As long as it needs to be.
    Short,
    /// As long as the others.
    Full,
}

/// What receives from any source take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnySource {
    /// The message that the recorded source sends.
    Recorded,
    /// The first one that fits.
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
    /// o of `LogGOPS` at the sender: processor time for a message \[cycles, 0 … 1000000\].
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub send_overhead: u32,
    /// The same at the receiver.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub receive_overhead: u32,
    /// g of `LogGOPS`: least time between the beginnings of two messages of a node \[cycles, 0 … 1000000\].
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub gap: u32,
    /// Larger messages use rendezvous \[bytes\]; default `none`: all are sent eagerly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager_limit: Option<EagerLimit>,
    /// When an eager send is done; default `buffered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_completes: Option<SendCompletes>,
    /// Longest packet, its header included \[phits, 1 … 4096\]; default 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub packet_length: Option<u32>,
    /// Header of every packet \[phits\], shorter than the packet.
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
}
