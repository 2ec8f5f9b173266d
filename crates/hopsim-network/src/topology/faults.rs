//! Links and routers that are out of order: see [`Fault`].

use super::period::Period;
use super::wiring::PACES;
use super::{PortClass, Topology};
use crate::error::{ConfigError, within};
use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Shares of the links of a network.
const FRACTIONS: RangeInclusive<f64> = 0.0..=1.0;

/// Cycles from the failure of a link until its routers know.
const DETECTION: u32 = 500;

/// Cycles from then until the tables of all routers do.
const REROUTE: u32 = 5_000;

/// Cycles that a reaction may take.
const REACTIONS: RangeInclusive<u32> = 0..=1_000_000_000;

/// Cycles after which a source sends a packet again.
const TIMEOUTS: RangeInclusive<u32> = 0..=1_000_000_000;

/// How many times slower links may become.
const SLOWDOWNS: RangeInclusive<u32> = 2..=64;

/// How often a source sends a packet again.
const RESENDINGS: RangeInclusive<u32> = 1..=255;

/// Cycles in which links may fail.
const FAILURES: RangeInclusive<u32> = 0..=2_999_999_999;

/// Links that are out of order, in both directions, from one cycle to another; or routers, and with a router all its links.
///
/// Their ports stay, so that all other ports keep their numbers. Without `at` and `until` links are out of order from the beginning of a run
/// to its end: nothing is plugged into their ports, and packets are routed as if the links had never been there. Shortest paths are those
/// of what is left, and with them distances, virtual channels and the proof that the network is free of deadlock.
///
/// A link that fails in the middle of a run fails as cycle `at` begins. From then on no packet is granted its ports. Of packets that have been
/// granted one before, those whose head has not arrived at the other end before cycle `at` are lost, or with `packets = "drain"` none;
/// a packet whose head has arrived is received whole. Behind the link lost packets leave their room free at once, and the times booked for
/// them in the output queue pass.
///
/// What a router reads of such a port, to compare it with others, is what was outstanding behind each of its VCs when the link failed, before
/// anything was lost; from `detection` cycles after `at` on it reads that the buffers of all VCs that packets use are full. Heads that have
/// one way only wait for it. Then `reroute` cycles later the new tables are there: paths, distances and the VCs of layers are those of what is
/// left. They come into force in all routers at once, before anything else happens in that cycle. Every head that waits for an output, in the
/// network or at injection, is routed anew, as if it had become the head only now, and with the same random numbers; what a packet has
/// settled before (its intermediate router, or with `sticky` and `once` which of its paths it keeps to) stays.
///
/// Old and new paths together may close a cycle of packets that wait for each other although neither do by themselves. Where the VC of a hop
/// is that of the links passed before they cannot (`reconfiguration = "dynamic"`): then packets in buffers of links or on their way there that
/// would need more VCs than there are, to get to their destination by way of the intermediate router that they have settled for (unless they
/// are delivered before, where they pass their destination), are lost at that moment. Such a network uses all VCs of a link that there are,
/// with requests and replies as many for each; by default there are as many as the tables of any time need, and a tree (XGFT, dragonfly+) has
/// the VCs of any other graph at all times. Where packets keep their VC (`minimal`) the network is drained first
/// (`reconfiguration = "static"`): when the new tables are there the nodes cease to inject, and packets under way whose path leads over a link
/// that is out of order are lost; so they are when a link fails while the network is drained. The tables that are the newest then come into force before the first cycle in which no packet is in a buffer of a link or on its way
/// there, and the nodes inject again. The room of a packet that is lost in a router, or on its way there, is free again one link latency
/// later.
///
/// With `retransmit` in its reaction a source sends again what is lost under way.
///
/// A link that is repaired takes packets from cycle `until` on, and routers read its room again. The tables lead over it once more `detection` +
/// `reroute` cycles later, and as long after `at` they cease to, even if the link has been repaired before that.
///
/// As a router fails, packets in its buffers of links that have not been granted an output are lost, and so are packets on their way there;
/// with `packets = "drain"` they stay and wait, until tables come into force by which they have no way to their destination: then they are lost. Nodes of a router that is out of order have nothing granted that
/// they inject. A link that several entries say is out of order is so as long as one of them does: it fails in the first cycle of the first one, and
/// is repaired in the last cycle of the last one.
///
/// With `slowdown` the links of an entry are in order, but slower from cycle `at` on and before cycle `until`: a packet that is granted one
/// of them then takes `slowdown` times as many cycles for a phit, at most 64, to the end. Nothing is lost and nobody finds other paths;
/// adaptive mechanisms see what waits there. Loads of links are shares of what they carry when they are not slower.
///
/// Distances, shortest paths and latencies that are measured are those of the network in which all links of faults with `at` or `until` are in
/// order. A network that falls apart is refused, whenever it does, and so are routers with nodes, unless one of the entries by which it does says
/// `unreachable = "drop"` (routers without nodes, such as those above the lowest ones of a tree, need no such word). Then packets are lost that
/// have no way to their destination by the tables in force: one that is the first of its source queue at once, before it takes room in an
/// injection buffer, one that has not been granted its first output, and one in transit, when the tables come into force. No packet has a way
/// to or from a node of a router that is out of order, also if both its ends are there. Detours lead over routers only that can be reached:
/// if another one is drawn the packet goes its minimal path. Nodes generate packets as ever.
///
/// A topology that is no graph (dragonfly, mesh, torus, ring, HyperX, fat tree) is the graph of its links from the beginning on where the
/// document has `faults`, with the same classes, ports and numbers, and `ties` = `spread` (of more than 2,048 routers `hash`): its
/// routings are those of graphs, and so are its VCs. Patterns of traffic are those of the network in which all links are in order.
/// In the middle of a run links fail with credits, and where nodes wait for no packets but those of programs.
///
/// Where packets move flit by flit (`router.virtual_channel`) a link that is out of order grants no output VC; a packet that owned one when it failed
/// keeps it to its tail, and goes over the link with `packets = "drain"`. A packet that is lost vanishes with its flits in all routers,
/// and a packet whose tail has not come over the link is lost with its head. There links fail with pipelined stages and without queues at the
/// outputs, not with requests and replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// First cycle in which the links are out of order; default 0, the beginning \[cycles\].
    #[serde(default)]
    #[schemars(range(min = *FAILURES.start(), max = *FAILURES.end()))]
    pub at: u32,
    /// First cycle in which they are in order again; default never \[cycles\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub until: Option<u32>,
    /// Which links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<FailedLinks>,
    /// Which routers: by number, or drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<FailedRouters>,
    /// Instead of being out of order the links are slower, and take so many times as many cycles for a phit: ports whose lanes have failed,
    /// but for some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *SLOWDOWNS.start(), max = *SLOWDOWNS.end()))]
    pub slowdown: Option<u32>,
    /// What becomes of packets that cannot get to their destination by tables that lead over none of these links and routers; default
    /// `refuse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<Unreachable>,
    /// What happens when they fail or are repaired in the middle of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction: Option<Reaction>,
    /// When links of an InfiniBand fabric, which has no cycles, fail and are repaired in the middle of a run; default: they are out of order from
    /// the beginning to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<FaultTime>,
}

/// When links of an InfiniBand fabric are out of order, and how soon its subnet manager has written new forwarding tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FaultTime {
    /// When they fail, as "20 us"; default the beginning.
    pub at: String,
    /// When they are repaired; default never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Time until the switches at both ends know, and discard what has no other way.
    pub detection: String,
    /// Time from then, or from the repair and as long, until the subnet manager has found what is left and writes the first of the
    /// tables that change.
    pub reroute: String,
    /// Time from one switch whose table changes to the next one, by number; 0: all at once.
    pub table_write: String,
}

impl Default for FaultTime {
    fn default() -> Self {
        let [at, detection, reroute, table_write] = ["0 ns", "1 us", "50 us", "0 ns"].map(String::from);
        Self { at, until: None, detection, reroute, table_write }
    }
}

/// What becomes of packets that cannot get to their destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unreachable {
    /// There are none: a network that falls apart is refused, and so are routers with nodes.
    Refuse,
    /// Packets are lost, the first ones of source queues and all others when tables come into force.
    Drop,
}

/// What happens when links fail or are repaired in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FaultReaction")]
pub struct Reaction {
    /// Cycles until the routers at both ends know \[cycles\].
    #[schemars(range(min = *REACTIONS.start(), max = *REACTIONS.end()))]
    pub detection: u32,
    /// Cycles from then until all routers have new tables \[cycles\].
    #[schemars(range(min = *REACTIONS.start(), max = *REACTIONS.end()))]
    pub reroute: u32,
    /// What becomes of packets that have been granted a link that fails.
    pub packets: OnLinks,
    /// How new tables come into force; default `dynamic` where VCs are by hop, else `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconfiguration: Option<Reconfiguration>,
    /// How sources send again what is lost; stated in one entry of `faults` it holds for all packets of the run. Default: they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit: Option<Retransmit>,
}

/// How sources send again what has been lost in the network.
///
/// A packet that has been granted its way out of its injection buffer and is lost later comes back to the front of the source queue of its
/// node, and counts in `retransmissions`. What is lost before that, without a way to its destination, is lost for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retransmit {
    /// Cycles from the grant of a packet at injection until its source sends it again, if it has been lost by then; a packet that is lost
    /// later is sent again at once \[cycles\].
    #[schemars(range(min = *TIMEOUTS.start(), max = *TIMEOUTS.end()))]
    pub timeout: u32,
    /// How often a packet is sent again at most; what is lost once more is lost for good.
    #[schemars(range(min = *RESENDINGS.start(), max = *RESENDINGS.end()))]
    pub most: u32,
}

/// How new tables come into force.
///
/// Source: Duato, Lysne, Pang and Pinkston, IEEE TPDS 16 (2005).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reconfiguration {
    /// While packets are under way.
    Dynamic,
    /// When no packet is, as nodes inject none.
    Static,
}

impl Default for Reaction {
    fn default() -> Self {
        Self {
            detection: DETECTION,
            reroute: REROUTE,
            packets: OnLinks::Drop,
            reconfiguration: None,
            retransmit: None,
        }
    }
}

/// What becomes of packets that have been granted a link that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLinks {
    /// Packets are lost, unless their head has arrived at the other end.
    Drop,
    /// Packets arrive as if nothing had happened: the link is taken out of service in good order.
    Drain,
}

/// Links that are named, or drawn, or both. Links of earlier entries of `faults` are not drawn again, whenever they are out of order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailedLinks {
    /// Links by the two routers that each joins; of several between two routers the one by the lowest port of the first router that no
    /// entry has named or drawn before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<[u32; 2]>,
    /// Share of all links, or of those of `class`, that is drawn: so many of those that are in order, to the nearest whole number of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *FRACTIONS.start(), max = *FRACTIONS.end()))]
    pub fraction: Option<f64>,
    /// Class of the links that are drawn, such as `global` of a dragonfly+; default any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Seed of the draw, which is another one than that of the traffic; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Routers that are named, or drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FailedRouters {
    /// Routers by number.
    Named(Vec<u32>),
    /// Routers that are drawn.
    Drawn(DrawnRouters),
}

/// Routers that are drawn, of those that no earlier entry of `faults` has named or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnRouters {
    /// Share of all routers that is drawn, to the nearest whole number of routers.
    #[schemars(range(min = *FRACTIONS.start(), max = *FRACTIONS.end()))]
    pub fraction: f64,
    /// Seed of the draw, which is another one than that of the traffic; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// What is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Links, each by one of its ends.
    pub links: BTreeSet<LinkEnd>,
    /// Routers, all of whose links are missing.
    pub routers: BTreeSet<u32>,
}

impl Missing {
    /// Adds what else is not there.
    pub fn add(&mut self, other: &Self) {
        self.links.extend(&other.links);
        self.routers.extend(&other.routers);
    }
}

/// Router and port of an end of a link.
pub type LinkEnd = (u32, usize);

/// The links of a network, each by the end whose router, or port at one router, is the lower one, ascending; with their classes.
pub fn links(topology: &Topology) -> Vec<(LinkEnd, u8)> {
    let ports = topology.ports();
    let mut links = Vec::new();
    for router in 0..topology.routers() {
        for (port, class) in ports.iter().enumerate() {
            let PortClass::Link(class) = *class else { continue };
            let here = (router, port);
            if topology.neighbour(router, port).is_some_and(|there| here < there) {
                links.push((here, class));
            }
        }
    }
    links
}

impl OnLinks {
    /// Whether packets are lost.
    pub fn are_lost(self) -> bool {
        self == Self::Drop
    }
}

/// What is not the same in all of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// What is out of order for a part of the run.
    pub outages: Vec<Outage>,
    /// What is slower, perhaps in all of it.
    pub slowdowns: Vec<Slowdown>,
}

/// Links that are slower for a part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slowdown {
    /// When they are, in cycles.
    pub period: Period,
    /// How many times as many cycles they take for a phit.
    pub times: u32,
    /// Each by both its ends.
    pub links: Vec<[LinkEnd; 2]>,
}

impl Slowdown {
    /// Refuses links that would become slower than any may be.
    fn check(&self, topology: &Topology) -> Result<(), ConfigError> {
        let pace = |&[(router, port), _]: &[LinkEnd; 2]| topology.cycles_per_phit(router, port);
        let (slowest, most) = (self.links.iter().map(pace).max().unwrap_or(1), *PACES.end());
        if slowest * self.times <= most {
            return Ok(());
        }
        let reason =
            format!("one of the links takes {slowest} cycles per phit, and no link takes more than {most}");
        Err(ConfigError::new("slowdown", reason)
            .value(self.times)
            .valid(format!("at most {}", most / slowest)))
    }
}

/// Links and routers that are out of order for a part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When they are, in cycles.
    pub period: Period,
    /// What happens then.
    pub reaction: Reaction,
    /// Whether packets that cannot get to their destination are lost.
    pub drops: bool,
    /// The links, among them those of the routers, and the routers.
    pub missing: Missing,
}

/// A graph without the links that are out of order from the beginning to the end, and what else is not the same in all of the run.
pub fn without(topology: &Topology, faults: &[Fault]) -> Result<(Topology, Timed), ConfigError> {
    let at = |index: usize| move |error: ConfigError| error.within(&index.to_string());
    for (index, fault) in faults.iter().enumerate() {
        fault.check().map_err(at(index))?;
    }
    let (mut picked, mut for_good, mut timed) = (Missing::default(), Missing::default(), Timed::default());
    for (index, fault) in faults.iter().enumerate() {
        let missing = fault.pick(topology, &mut picked).map_err(at(index))?;
        let period = fault.period();
        if let Some(times) = fault.slowdown {
            let both = |&(router, port): &LinkEnd| Some([(router, port), topology.neighbour(router, port)?]);
            let links = missing.links.iter().filter_map(both).collect();
            let slowdown = Slowdown { period, times, links };
            slowdown.check(topology).map_err(at(index))?;
            timed.slowdowns.push(slowdown);
        } else if fault.is_for_good() {
            for_good.add(&missing);
        } else {
            let reaction = fault.reaction.unwrap_or_default();
            let outage = Outage { period, reaction, drops: fault.drops(), missing };
            timed.outages.push(outage);
        }
    }
    let rest = without_these(topology, &for_good);
    if !faults.iter().any(|fault| fault.is_for_good() && fault.drops()) {
        check_whole(&rest)?;
    }
    Ok((rest, timed))
}

/// A graph without some links and routers.
pub fn without_these(topology: &Topology, missing: &Missing) -> Topology {
    let Topology::Graph(graph) = topology else { unreachable!("only graphs have faults") };
    Topology::Graph(graph.without(missing))
}

/// Refuses a graph that falls apart.
pub fn check_whole(topology: &Topology) -> Result<(), ConfigError> {
    if let Topology::Graph(graph) = topology { graph.check_whole() } else { Ok(()) }
}

/// The links of a router, each by its lower end.
fn links_of(topology: &Topology, router: u32) -> impl Iterator<Item = LinkEnd> {
    let other = move |port| Some((router, port).min(topology.neighbour(router, port)?));
    (0..topology.ports().len()).filter_map(other)
}

impl Fault {
    /// Whether the links are out of order from the beginning to the end.
    pub fn is_for_good(&self) -> bool {
        self.slowdown.is_none() && self.at == 0 && self.until.is_none() && self.time.is_none()
    }

    /// Whether something is out of order for a part of the run.
    pub fn is_outage(&self) -> bool {
        self.slowdown.is_none() && !self.is_for_good()
    }

    /// The cycles in which links are out of order, or slower.
    fn period(&self) -> Period {
        let Reaction { detection, reroute, .. } = self.reaction.unwrap_or_default();
        let (detection, reroute) = (u64::from(detection), u64::from(reroute));
        let (at, until) = (self.at.into(), self.until.map(u64::from));
        Period { at, until, detection, delay: detection + reroute }
    }

    /// Whether packets that cannot get to their destination are lost.
    pub fn drops(&self) -> bool {
        self.unreachable == Some(Unreachable::Drop)
    }

    fn check(&self) -> Result<(), ConfigError> {
        within(FAILURES, self.at, "at")?;
        if let Some(until) = self.until.filter(|&until| until <= self.at) {
            let reason = format!("links are repaired after they have failed, in cycle {}", self.at);
            let valid = format!("at least {}, or no such key: never", self.at.saturating_add(1));
            return Err(ConfigError::new("until", reason).value(until).valid(valid));
        }
        self.check_slowdown()?;
        if let Some(reaction) = self.reaction {
            within(REACTIONS, reaction.detection, "reaction.detection")?;
            within(REACTIONS, reaction.reroute, "reaction.reroute")?;
            if let Some(Retransmit { timeout, most }) = reaction.retransmit {
                within(TIMEOUTS, timeout, "reaction.retransmit.timeout")?;
                within(RESENDINGS, most, "reaction.retransmit.most")?;
            }
            if self.is_for_good() {
                let reason = "links that are out of order from the beginning to the end surprise nobody";
                return Err(ConfigError::new("reaction", reason).valid("no such key, or at or until besides"));
            }
        }
        if self.links.is_none() && self.routers.is_none() {
            let reason = "names neither links nor routers";
            return Err(ConfigError::new("", reason)
                .valid("links = { between = [[router, router], …] } or { fraction = … }, or routers = [router, …] or { fraction = … }"));
        }
        let fraction = self.links.as_ref().and_then(|links| links.fraction);
        fraction.map_or(Ok(()), |fraction| within(FRACTIONS, fraction, "links.fraction"))?;
        match &self.routers {
            Some(FailedRouters::Drawn(drawn)) => within(FRACTIONS, drawn.fraction, "routers.fraction"),
            _ => Ok(()),
        }
    }

    /// Refuses a slowdown of what is no link, and words about links that are out of order beside one.
    fn check_slowdown(&self) -> Result<(), ConfigError> {
        let Some(times) = self.slowdown else { return Ok(()) };
        within(SLOWDOWNS, times, "slowdown")?;
        let of_outages = [
            ("routers", self.routers.is_some()),
            ("unreachable", self.unreachable.is_some()),
            ("reaction", self.reaction.is_some()),
        ];
        let given = of_outages.into_iter().find(|(_, is_given)| *is_given);
        given.map_or(Ok(()), |(key, _)| {
            let reason = "with slowdown links are in order: nothing is lost, and nobody finds other paths";
            Err(ConfigError::new(key, reason).valid("no such key, or no slowdown"))
        })
    }

    /// What is out of order: links that `picked` does not have yet, then routers, with all their links. All of it is added to `picked`.
    fn pick(&self, topology: &Topology, picked: &mut Missing) -> Result<Missing, ConfigError> {
        let before = picked.links.clone();
        if let Some(links) = &self.links {
            links.pick(topology, &mut picked.links)?;
        }
        let links = picked.links.difference(&before).copied().collect();
        let mut missing = Missing { links, routers: BTreeSet::new() };
        if let Some(routers) = &self.routers {
            missing.routers = routers.pick(topology, &picked.routers, self.drops())?;
        }
        missing.links.extend(missing.routers.iter().flat_map(|&router| links_of(topology, router)));
        picked.add(&missing);
        Ok(missing)
    }
}

impl FailedRouters {
    /// The routers, none of which is among those before.
    fn pick(
        &self,
        topology: &Topology,
        before: &BTreeSet<u32>,
        drops: bool,
    ) -> Result<BTreeSet<u32>, ConfigError> {
        let all = topology.routers();
        let with_nodes = if drops { 0 } else { topology.routers_with_nodes() };
        match self {
            Self::Named(numbers) if numbers.is_empty() => {
                Err(ConfigError::new("routers", "names no routers").valid("[router, …] or { fraction = … }"))
            }
            Self::Named(numbers) => {
                let mut routers = BTreeSet::new();
                for (index, &router) in numbers.iter().enumerate() {
                    let refuse = |reason: String, valid: String| {
                        Err(ConfigError::new(format!("routers.{index}"), reason).value(router).valid(valid))
                    };
                    if router >= all {
                        let reason = format!("the network has {all} routers");
                        return refuse(reason, format!("0 … {}", all - 1));
                    }
                    if before.contains(&router) || !routers.insert(router) {
                        return refuse("has been named or drawn before".into(), "every router once".into());
                    }
                    if router < with_nodes {
                        let reason = "has nodes, which nobody could reach".into();
                        return refuse(reason, without_nodes(topology));
                    }
                }
                Ok(routers)
            }
            Self::Drawn(DrawnRouters { fraction, seed }) => {
                let mut left: Vec<u32> = (0..all).filter(|router| !before.contains(router)).collect();
                Stream::new(seed.unwrap_or(1), Purpose::Faults, 1).shuffle(&mut left);
                left.truncate((fraction * f64::from(all)).round() as usize);
                if let Some(router) = left.iter().find(|&&router| router < with_nodes) {
                    let reason = format!("draws router {router}, which has nodes that nobody could reach");
                    return Err(ConfigError::new("routers.fraction", reason)
                        .value(fraction)
                        .valid(without_nodes(topology)));
                }
                Ok(left.into_iter().collect())
            }
        }
    }
}

/// What to say where a router has nodes.
fn without_nodes(topology: &Topology) -> String {
    let (all, with_nodes) = (topology.routers(), topology.routers_with_nodes());
    let drops = "unreachable = \"drop\" besides: packets from and to these nodes are lost";
    if with_nodes == all { drops.into() } else { format!("{with_nodes} … {}, or {drops}", all - 1) }
}

impl FailedLinks {
    /// Adds the links to those that are out of order, each by one of its ends.
    fn pick(&self, topology: &Topology, failed: &mut BTreeSet<LinkEnd>) -> Result<(), ConfigError> {
        if self.between.is_empty() && self.fraction.is_none() {
            let reason = "names no links";
            return Err(
                ConfigError::new("links", reason).valid("between = [[router, router], …] or fraction")
            );
        }
        for (index, &ends) in self.between.iter().enumerate() {
            let link = named(topology, ends, failed);
            failed.insert(link.map_err(|error| error.within(&format!("links.between.{index}")))?);
        }
        let Some(fraction) = self.fraction else {
            let given = self.class.as_ref().map(|_| "class").or(self.seed.map(|_| "seed"));
            return given.map_or(Ok(()), |key| {
                let reason = "is about links that are drawn, and fraction does not say how many";
                Err(ConfigError::new(format!("links.{key}"), reason)
                    .valid("no such key, or fraction besides"))
            });
        };
        let class = self.class_among(topology.link_classes())?;
        let mut all = links(topology);
        all.retain(|&(_, of)| class.is_none_or(|class| class == of));
        let count = (fraction * all.len() as f64).round() as usize;
        all.retain(|(link, _)| !failed.contains(link));
        Stream::new(self.seed.unwrap_or(1), Purpose::Faults, 0).shuffle(&mut all);
        failed.extend(all.into_iter().take(count).map(|(link, _)| link));
        Ok(())
    }

    fn class_among(&self, names: &[&str]) -> Result<Option<u8>, ConfigError> {
        let Some(class) = &self.class else { return Ok(None) };
        let number = names.iter().position(|name| name == class).ok_or_else(|| {
            let refused = ConfigError::new("links.class", "the topology has no such links");
            refused.value(format!("{class:?}")).valid(names.join(" or "))
        })?;
        Ok(Some(number as u8))
    }
}

/// The first link between two routers that is in order.
fn named(
    topology: &Topology,
    [one, other]: [u32; 2],
    failed: &BTreeSet<LinkEnd>,
) -> Result<LinkEnd, ConfigError> {
    let refuse = |reason: String, valid: &str| {
        Err(ConfigError::new("", reason).value(format!("[{one}, {other}]")).valid(valid))
    };
    let routers = topology.routers();
    if one.max(other) >= routers {
        return refuse(format!("the network has {routers} routers"), &format!("routers 0 … {}", routers - 1));
    }
    let mut joined = false;
    for port in 0..topology.ports().len() {
        let here = (one, port);
        let Some(there) = topology.neighbour(one, port).filter(|&(peer, _)| peer == other) else { continue };
        joined = true;
        if !failed.contains(&here.min(there)) {
            return Ok(here.min(there));
        }
    }
    let reason = if joined {
        "all links between the two routers have been named or drawn before"
    } else {
        "no link joins the two routers"
    };
    refuse(reason.into(), "two routers that a link joins which is in order")
}
