//! Warm-up, measurement window, seed and what to record, as written in the document.

use super::limits::{CYCLES, MAX_CYCLES};
use super::stop::{EndConfig, StopConfig, Warmup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Warm-up, measurement window, seed and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureConfig {
    /// Warm-up before the window, not measured \[cycles, 0 … 3000000000\]; `"auto"`: what pilots need.
    pub warmup: Warmup,
    /// Length of the measurement window \[cycles\]; with `stop` or `end` of the first one, with `warmup` = `"auto"` of the
    /// first pilot as well.
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub cycles: u32,
    /// Where a run of programs, which otherwise ends when they are done, is given up \[cycles\]; default
    /// 3000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub max_cycles: Option<u32>,
    /// When the window is long enough; without it the window has `cycles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopConfig>,
    /// After how many packets the window ends; without it the window has `cycles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<EndConfig>,
    /// Beside `router.infiniband` alone: warm-up, window and interval in seconds; it stands for `warmup`, `cycles` and `interval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeConfig>,
    /// Seed of all random numbers; the same seed gives the same result to the last bit.
    pub seed: u64,
    /// Equal parts of the window whose spread gives the 95 % confidence intervals \[1 … 10000\]; 1 gives none.
    #[schemars(range(min = 1, max = 10000))]
    pub batches: u32,
    /// Interval of the time series \[cycles\]; 0: no time series. It starts at cycle 0, warm-up included.
    pub interval: u32,
    /// Record streams to keep besides the summary.
    pub streams: Vec<RecordStream>,
    /// Which packets the streams `packet_hops` and `flit_hops` record; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketsConfig>,
    /// How often to look for packets that wait for each other \[cycles\]; less often after 64 such times.
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub watchdog: u32,
}

impl Default for MeasureConfig {
    fn default() -> Self {
        Self {
            warmup: Warmup::Cycles(10_000),
            cycles: 10_000,
            max_cycles: None,
            stop: None,
            end: None,
            time: None,
            seed: 1,
            batches: 10,
            interval: 0,
            streams: Vec::new(),
            packets: None,
            watchdog: 10_000,
        }
    }
}

impl MeasureConfig {
    /// Whether the run finds out by itself how long it must be.
    pub fn is_adaptive(&self) -> bool {
        self.stop.is_some() || self.end.is_some() || self.warmup.is_auto()
    }
}

/// The packets to record with all routers that they pass: a packet must fit every key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketsConfig {
    /// Every so many-th packet of each node: those whose serial number is a multiple of it. A node numbers the
    /// packets that it generates from 0.
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub every: u32,
    /// The node that sends the packets; default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u32>,
    /// The node that the packets are for; default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<u32>,
    /// First cycle in which the packets may be generated \[cycles\], warm-up included.
    #[schemars(range(max = MAX_CYCLES))]
    pub from: u32,
    /// Cycle before which the packets must be generated \[cycles\]; default the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub to: Option<u32>,
}

impl Default for PacketsConfig {
    fn default() -> Self {
        Self { every: 1, source: None, destination: None, from: 0, to: None }
    }
}

/// How long a fabric is simulated and measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeConfig {
    /// Time before the window, not measured.
    #[schemars(example = "1 ms")]
    pub warmup: String,
    /// Length of the measurement window.
    #[schemars(example = "10 ms")]
    pub window: String,
    /// Interval of the streams `flow_series`, `queue_series` and `link_series`, which need it; it begins at 0, warm-up included, and
    /// what is left of the run behind the last whole one has no row.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100 us")]
    pub interval: Option<String>,
}

impl Default for TimeConfig {
    fn default() -> Self {
        Self { warmup: "0 s".into(), window: "10 ms".into(), interval: None }
    }
}

impl RecordStream {
    /// Streams that routers with VCs have in every interval, so that `interval` must be set.
    pub const OF_INTERVALS: [Self; 3] = [Self::Generation, Self::LinkSeries, Self::CongestionTrees];

    /// Streams that fabrics alone have.
    pub const OF_FABRICS: [Self; 5] =
        [Self::Flows, Self::FlowSizes, Self::FlowSeries, Self::QueueSeries, Self::Victims];

    /// Streams of programs and their ranks, not of packets.
    pub const OF_PROGRAMS: [Self; 4] = [Self::Ranks, Self::Messages, Self::Operations, Self::MessageSizes];

    /// Streams of what packets do in routers, which a snapshot does not hold.
    pub const UNSAVED: [Self; 4] = [Self::CongestionTrees, Self::Waits, Self::PacketHops, Self::FlitHops];

    /// Streams of packets one by one, of which `measure.packets` chooses some.
    pub const OF_PACKETS: [Self; 2] = [Self::PacketHops, Self::FlitHops];

    /// The name of the stream in the document.
    pub fn name(self) -> String {
        let name = serde_json::to_string(&self).unwrap_or_else(|_| unreachable!("a name is a string"));
        name.trim_matches('"').to_owned()
    }
}

/// A record stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordStream {
    /// Per node: packets generated, injected, delivered to it, and of those it sent delivered packets and mean latency.
    Nodes,
    /// Per router: what the stream `nodes` counts, over all its nodes, and the injected load.
    Routers,
    /// Per output port and VC: phits, utilisation, mean occupancy of the buffer at the other end. Of a fabric per link
    /// and VL that a flow uses, over the window: bytes, throughput, utilisation, credit stalls.
    Links,
    /// Per interval of `interval` cycles (which it needs), by the cycle in which packets were generated, over the whole
    /// run: packets delivered by its end, their mean latency, the share of them that left the minimal path.
    Generation,
    /// Per class of ports and VC: mean occupancy of a buffer, utilisation of the links.
    Occupancy,
    /// Per output port of routers that have output queues: mean and greatest occupancy of the queue.
    OutputQueues,
    /// Per node: cycles that the heads of its injection VCs waited, by what they waited for.
    InjectionWaits,
    /// Per router: requests that the inputs of its crossbar made of the switch allocator, and how many of them were granted.
    Allocation,
    /// Per output VC, and per job and groups of source and destination (routers in a network without groups): cycles that packets
    /// waited in routers before they were granted an output, by what they waited for.
    Waits,
    /// Per packet and router that it has passed: when it arrived, was granted an output and departed, and what it waited for. Of
    /// all packets, or of those that `measure.packets` chooses.
    PacketHops,
    /// Per flit and virtual-channel router that it has passed: when it arrived, when the stages of the router ended, and when it
    /// departed. Of all packets, or of those that `measure.packets` chooses.
    FlitHops,
    /// Per rank of a program: when it ended, what it computed and waited, what it sent and received.
    Ranks,
    /// Per message of a program: from whom to whom, its key and size, and the cycles in which it joined the queue, left, arrived,
    /// was announced and was matched.
    Messages,
    /// Per interval of a rank of a program: what its stream did, or what it waited for, from which cycle to which.
    Operations,
    /// Per job that runs a program and class of message sizes: how many messages, and their latency.
    MessageSizes,
    /// Per job: histogram of packet latency, bins at most 0.1 % wide.
    LatencyHistogram,
    /// Per flow of a fabric: throughput, packets, marks, notifications and latency over the window.
    Flows,
    /// Per job of a fabric and class of sizes: how many flows and messages were completed in the window, their completion times and
    /// slowdowns.
    FlowSizes,
    /// Per interval (`measure.time.interval`, which it needs) and flow of a fabric: throughput, marks, notifications,
    /// and the CCTI at its end.
    FlowSeries,
    /// Per interval (`measure.time.interval`, which it needs) and output port and VL of an InfiniBand switch that a flow uses: what
    /// waits in its virtual output queues at its end, whether it is congested, and throughput.
    QueueSeries,
    /// Per interval of `interval` cycles (which it needs) and output port and VC: phits, utilisation, mean occupancy of the buffer
    /// at the other end, and for how long that had no room. Of a fabric per interval (`measure.time.interval`) and link
    /// and VL that a flow uses: bytes, throughput, utilisation, and how long the link was idle for want of credits.
    LinkSeries,
    /// At the end of every interval of `interval` cycles (which it needs): the congestion trees, from the link at which each
    /// begins; the packets that stand in them, those of other links' flows (victims) apart; and what else stands still.
    CongestionTrees,
    /// Per flow of a fabric and output port at which congestion that holds it up begins: for how long, and whether the
    /// flow contributes to that congestion or is a victim.
    Victims,
}
