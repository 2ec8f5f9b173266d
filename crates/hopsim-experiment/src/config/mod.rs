//! The experiment document: exactly what a user may write, nothing resolved. [`crate::plan::Plan`] checks and
//! resolves it; the engine only sees the plan.

pub mod ethernet;
pub mod infiniband;
pub mod limits;
pub mod measure;
pub mod names;
pub mod program;
pub mod router;
pub mod saturate;
pub mod stop;
pub mod virtual_channel;

use hopsim_cycles::choices::{
    Ejection, HopCount, InjectionCount, InjectionLatency, InjectionLink, InjectionVc, InputPointer,
    OutputHold, PortOrder, SelfTraffic, StageFlow, WhenFull,
};
use hopsim_cycles::injection::ControlConfig;
use hopsim_network::error::ConfigError;
use hopsim_network::topology::faults::{self, Fault, Timed};
use hopsim_network::topology::{LATENCIES, Topology, TopologyConfig};
use hopsim_routing::{RoutingConfig, minimal};
use hopsim_traffic::placement::Placement;
use hopsim_traffic::process::LOADS;
use hopsim_traffic::rank_order::RankOrder;
use indexmap::IndexMap;
use infiniband::flows::FlowsConfig;
use infiniband::messages::MessagesConfig;
use limits::{CYCLES, INJECTION_PORTS, PRIORITIES};
use measure::MeasureConfig;
use program::{HostConfig, ProgramConfig, Repeat, UnitsConfig};
use router::RouterConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One experiment: a network, a workload, what to measure and perhaps a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Preset of the choices in `semantics` and `nic` where simulators differ; keys given there win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
    /// Shorthand: the offered load of every job \[phits/(node·cycle)\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LOADS.start(), max = *LOADS.end()))]
    pub load: Option<f64>,
    /// What a cycle and a phit are, which programs need to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<UnitsConfig>,
    /// How the routers are linked.
    pub topology: TopologyConfig,
    /// `none`: every packet of a program takes the time that it would need alone, over its minimal path; default: packets meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contention: Option<Contention>,
    /// Link latencies.
    #[serde(default)]
    pub links: LinksConfig,
    /// Links that are out of order, or fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What a router is made of.
    #[serde(default)]
    pub router: RouterConfig,
    /// How packets find their way.
    #[serde(default = "minimal_routing")]
    pub routing: RoutingConfig,
    /// Queues and policies of the nodes' network interfaces.
    #[serde(default)]
    pub nic: NicConfig,
    /// Named choices where simulators differ; the defaults are what hardware or the textbook does.
    #[serde(default)]
    pub semantics: SemanticsConfig,
    /// The jobs that run at once; default: one on all nodes, uniform traffic.
    #[serde(default = "one_job")]
    pub jobs: Vec<JobConfig>,
    /// Names of the jobs that run; default all. The nodes of the other jobs stay idle, and all else is as if they ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Warm-up, measurement window, seed and what to record.
    #[serde(default)]
    pub measure: MeasureConfig,
    /// Values to vary: every combination is one point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepConfig>,
}

impl Experiment {
    /// Whether some job runs a program.
    pub fn has_programs(&self) -> bool {
        self.jobs.iter().any(|job| job.program.is_some())
    }

    /// Whether some job runs a program of its own, which no other simulator drives.
    pub fn has_ranks(&self) -> bool {
        self.jobs.iter().any(|job| !matches!(job.program, None | Some(ProgramConfig::External(_))))
    }

    /// The jobs that run, each with its number among all.
    pub fn running(&self) -> impl Iterator<Item = (usize, &JobConfig)> {
        let runs = |job: &JobConfig| {
            let names = self.only.as_deref();
            names.is_none_or(|names| names.iter().any(|name| Some(name) == job.name.as_ref()))
        };
        self.jobs.iter().enumerate().filter(move |(_, job)| runs(job))
    }

    /// The topology, without the links that are out of order from the beginning to the end, and what else is not the same in all of the
    /// run.
    pub fn build_topology(&self) -> Result<(Topology, Timed), ConfigError> {
        let whole = self.topology.build().map_err(|error| error.within("topology"))?;
        if self.faults.is_empty() {
            return Ok((whole, Timed::default()));
        }
        let graph = self.topology.as_graph(whole).map_err(|error| error.within("topology"))?;
        faults::without(&graph, &self.faults).map_err(|error| error.within("faults"))
    }

    /// Whether the network is a fabric, of InfiniBand or of Ethernet.
    pub fn is_fabric(&self) -> bool {
        matches!(self.router, RouterConfig::Infiniband(_) | RouterConfig::Ethernet(_))
    }

    /// Whether packets meet: in an ideal network, or where contention is left out, they do not.
    pub fn has_contention(&self) -> bool {
        !self.topology.is_ideal() && self.contention.is_none()
    }

    /// Hands the shorthand `load` to the jobs that state none.
    pub fn spread_load(&mut self) {
        let Some(load) = self.load.take() else { return };
        for job in self.jobs.iter_mut().filter(|job| job.program.is_none()) {
            if let Some(own) = job.traffic.get_or_insert_default().process.load_mut() {
                own.get_or_insert(load);
            }
        }
    }
}

fn minimal_routing() -> RoutingConfig {
    RoutingConfig::Minimal(minimal::Config::default())
}

fn one_job() -> Vec<JobConfig> {
    vec![JobConfig::default()]
}

/// A preset of the named choices, for results that compare with another simulator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// The rules of FOGSim (public version 5): agrees with it within the noise of the random numbers.
    ///
    /// Sets `nic.source_queue` = `{ packets = 0 }`, `nic.injection_vc` = `destination`, and in `semantics` `ejection` =
    /// `idle_node`, `output_hold` = `speedup`, `input_pointer` = `request`, `injection_link` = `unlimited`,
    /// `injection_count` = `buffer`, `injection_latency` = `departure`. Keys given in the document win.
    ///
    /// Worth: with 1,056 nodes under uniform traffic 2.6 % less accepted load at saturation and 1.1 cycles less latency at
    /// load 0.5, where injection latency looks 2.8 cycles longer because it ends later. Above saturation its sources
    /// drop packets instead of queueing them, so latencies do not compare.
    Fogsim,
    /// What BookSim 2 sends and counts, so that metrics of the same name are the same thing.
    ///
    /// Sets `links.ejection` as `links.injection`, `nic.injection_vc` = `round_robin`, and in `semantics` `self_traffic` = `router`,
    /// `hop_count` = `routers`, `injection_latency` = `admission`, and in virtual-channel routers `port_order` = `booksim` and
    /// `stages` = `batched`. Keys given in the
    /// document win. `hopsim convert booksim` writes documents with it.
    ///
    /// Worth: with 64 nodes in an 8 × 8 mesh under uniform traffic a 64th of the packets go to their own node, which takes 1.6 %
    /// of the load off the links, and the mean hops grow by 0.9.
    Booksim,
}

/// Whether packets meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contention {
    /// No packet keeps another one from anything but the wire of its node.
    None,
}

/// Link latencies by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksConfig {
    /// Links from a node into its injection buffer; default 1 cycle.
    #[serde(default = "injection_link")]
    pub injection: LinkConfig,
    /// Links from a router to its nodes; default 1 cycle, with `compat = "booksim"` that of `injection`. With more than a cycle a
    /// packet is at its node so much later, and has so much more latency; nothing else changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ejection: Option<LinkConfig>,
    /// Links between routers of a group (dragonfly); default 10 cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LinkConfig>,
    /// Links between groups (dragonfly); default 100 cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<LinkConfig>,
    /// Links between routers, in topologies with one class of links, and in planes; default 1 cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<LinkConfig>,
    /// Links between planes and the adapters of nodes; default 1 cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<LinkConfig>,
}

/// One class of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Latency, the same for packets and for credits \[cycles\]. Links carry one phit per cycle.
    #[schemars(range(min = *LATENCIES.start(), max = *LATENCIES.end()))]
    pub latency: u32,
}

fn injection_link() -> LinkConfig {
    LinkConfig { latency: 1 }
}

impl Default for LinksConfig {
    fn default() -> Self {
        Self {
            injection: injection_link(),
            ejection: None,
            local: None,
            global: None,
            network: None,
            rail: None,
        }
    }
}

/// The nodes' network interfaces: a generated packet joins the source queue, crosses the injection link into an
/// injection buffer of its router, and from there takes part in the allocation like any other packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Queue of generated packets in front of the injection buffers; default `unbounded`, with
    /// `compat = "fogsim"` `{ packets = 0 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_queue: Option<SourceQueue>,
    /// What a node does whose source queue is full; default `drop`.
    #[serde(default)]
    pub when_full: WhenFull,
    /// Input ports of its router that a node injects by, each with a wire and an equal part of its injection VCs.
    /// With two, which need `injection_vc` = `direction`, two of its packets can enter the crossbar at once.
    #[serde(default = "one")]
    #[schemars(range(min = *INJECTION_PORTS.start(), max = *INJECTION_PORTS.end()))]
    pub injection_ports: u32,
    /// Which injection VC a packet enters; default `shortest`, with `compat = "fogsim"` `destination`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_vc: Option<InjectionVc>,
    /// What keeps nodes from injecting although the network would take their packets; default nothing.
    #[serde(default)]
    pub control: ControlConfig,
}

impl Default for NicConfig {
    fn default() -> Self {
        Self {
            source_queue: None,
            when_full: WhenFull::Drop,
            injection_ports: 1,
            injection_vc: None,
            control: ControlConfig::default(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde wants")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn one() -> u32 {
    1
}

/// Size of the source queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceQueue {
    /// A queue as long as it needs to be: latency counts the wait in it.
    Unbounded,
    /// A queue of at most so many packets. With 0 the queue is full unless a packet could enter its injection buffer in the cycle
    /// of its generation: with `when_full` = `drop` choose `semantics.injection_link` = `unlimited` too, or every packet
    /// generated while the wire is busy is lost.
    Packets(u32),
}

/// What a choice is worth is stated for uniform traffic on a balanced dragonfly of 1,056 nodes, each choice flipped alone
/// against the defaults; `experiments/semantics.toml` measures it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SemanticsConfig {
    /// When an ejection port accepts a packet; default `link`, with `compat = "fogsim"` `idle_node`.
    /// Worth: `idle_node` costs 2.1 % of the accepted load at saturation and adds 1.5 cycles at load 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ejection: Option<Ejection>,
    /// How long a grant keeps a crossbar output; default `transfer`, with `compat = "fogsim"` `speedup`.
    /// Worth: `speedup` gives 0.7 % more accepted load at saturation and saves 1.3 cycles at load 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_hold: Option<OutputHold>,
    /// When an input arbiter's turn moves on (round-robin, least recently served); default `grant`, with
    /// `compat = "fogsim"` `request`.
    /// Worth: less than 0.1 % of the accepted load at saturation and 0.1 cycles at load 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_pointer: Option<InputPointer>,
    /// Whether the wire from a node to its router carries one phit per cycle; default `serial`, with
    /// `compat = "fogsim"` `unlimited`.
    /// Worth: `unlimited` saves 1.9 cycles at load 0.5 and leaves the accepted load at saturation as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_link: Option<InjectionLink>,
    /// When a packet counts as injected (the fairness metrics); default `network`, with `compat = "fogsim"`
    /// `buffer`.
    /// Worth: no packet moves differently. With `buffer`, deep injection buffers hide starvation in short windows:
    /// they fill before their router lets anything through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_count: Option<InjectionCount>,
    /// Where injection latency ends and network latency begins; default `grant`, with `compat = "fogsim"`
    /// `departure`, with `compat = "booksim"` `admission`.
    /// Worth: no packet moves differently. `departure` counts the source router's crossbar and output queue as
    /// injection latency: 4.6 cycles at load 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_latency: Option<InjectionLatency>,
    /// Whether nodes send to themselves; default `none`, with `compat = "booksim"` `router`.
    /// Worth: under uniform traffic one packet of as many as the job has nodes, and in a permutation those of the nodes that
    /// are their own image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_traffic: Option<SelfTraffic>,
    /// What a hop is in the means over packets (`hops_mean`); default `links`, with `compat = "booksim"` `routers`.
    /// Worth: no packet moves differently. `routers` is one hop more for every packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_count: Option<HopCount>,
    /// How stages of several cycles of virtual-channel routers go on (`routing_delay`, `vc_allocation_delay`, `switch_allocation_delay`,
    /// `switch_traversal_delay`); default `pipelined`, with `compat = "booksim"` `batched`.
    /// Worth: nothing where no stage takes longer than a cycle; with a switch allocation of two, half of the throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageFlow>,
    /// In which order the allocators of virtual-channel routers count the ports of a router; default `topology`, with
    /// `compat = "booksim"` `booksim`.
    /// Worth: single packets move otherwise, and means over many stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_order: Option<PortOrder>,
}

/// A job: some nodes and what they do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Name in the results; default `job0`, `job1`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// On which nodes the job runs; default all.
    #[serde(default)]
    pub placement: Placement,
    /// In which order the ranks of a program take the nodes of the job; default: of a draw the order in which they were drawn, of
    /// a list or file the order in which it names them, else ascending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_order: Option<RankOrder>,
    /// What the nodes of the job draw; default uniform traffic, unless they run a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<hopsim_traffic::Config>,
    /// What the nodes of the job run instead of drawing packets, rank i on the i-th node of the placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramConfig>,
    /// The hosts that the program runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostConfig>,
    /// What hosts of a fabric (`router.infiniband`) send to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsConfig>,
    /// What the nodes of the job draw in a fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesConfig>,
    /// When the program or the traffic of the job begins \[cycles\].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start: u32,
    /// Priority class of all packets of the job, replies among them: those of a higher one go before others at the allocators of
    /// virtual-channel routers with `router.virtual_channel.arbiter` = `priority`; default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = *PRIORITIES.start(), max = *PRIORITIES.end()))]
    pub priority: u32,
    /// How often a program is run, each rank beginning again as soon as it is done; default once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// Values to vary: `product` gives every combination (the first key varies slowest), `zip` lists of equal
/// length that vary together. Keys are dotted paths, `jobs.0.traffic.packet_length`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepConfig {
    /// Lists whose every combination is run.
    #[serde(default)]
    pub product: IndexMap<String, Vec<serde_json::Value>>,
    /// Lists of equal length run in step.
    #[serde(default)]
    pub zip: IndexMap<String, Vec<serde_json::Value>>,
    /// Names of the values of a varied key, in the order of its list: what tables and figures show instead of the values.
    /// An empty name is left out of the label of a curve.
    #[serde(default)]
    pub labels: IndexMap<String, Vec<String>>,
    /// All points share the run up to this cycle, which is simulated once \[cycles\]; default: each is run by itself.
    /// Results are the same. They may differ in `changes` of traffic, in `faults` that begin in this cycle or later, and in `measure.warmup` (from this cycle on), `measure.cycles`,
    /// `measure.batches` and `measure.streams`, of which `congestion_trees`, `waits`, `packet_hops` and `flit_hops` cannot be branched; nor can
    /// fabrics and what another simulator drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *CYCLES.start(), max = *CYCLES.end()))]
    pub branch_at: Option<u32>,
    /// How `hopsim saturate` searches; `hopsim run` does so too if this is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturate: Option<saturate::SaturateConfig>,
}
