//! Routing: which output port and VC the packet at the head of an input VC asks for.
//!
//! A mechanism is asked once when a packet has become the head of its queue ([`Mechanism::route`]). If there is
//! nothing to decide, the port is fixed for as long as the head waits. Otherwise it is asked in every attempt
//! ([`Mechanism::decide`]) and may read the router's state through a [`view::View`]. What it must remember between
//! hops is the packet's [`RouteState`]. Deadlock avoidance is by the order of virtual
//! channels ([`vcs`]), and `Plan` refuses a network with fewer VCs than the mechanism needs.
//! A new mechanism is one file here and one row in the table below.

pub mod acyclic;
pub mod adaptive;
pub mod dateline;
pub mod detour;
pub mod detour_region;
pub mod ecmp;
pub mod fat_paths;
pub mod flexvc;
pub mod fpar;
pub mod function;
pub mod grants;
pub mod in_transit;
pub mod k_shortest_paths;
pub mod layers;
pub mod minimal;
pub mod multipath;
pub mod nue;
pub mod nue_paths;
pub mod o1turn;
pub mod olm;
pub mod on_paths;
pub mod par;
pub mod path;
pub mod path_table;
pub mod piggyback;
pub mod polarized;
pub mod progressive;
pub mod prospect;
pub mod sequence;
pub mod source;
pub mod source_adaptive;
pub mod table;
pub mod trigger;
pub mod ugal;
pub mod up_down;
pub mod valiant;
pub mod vcs;
pub mod view;

use hopsim_network::by_class::ByClass;
use hopsim_network::error::ConfigError;
use hopsim_network::network::NONE;
use hopsim_network::topology::Topology;
use hopsim_random::Stream;
use layers::Layers;
use minimal::Minimal;
use nue_paths::NuePaths;
use path_table::PathTable;
use prospect::Prospect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use vcs::Vcs;
use view::{Draws, Sensors, View};

/// One row per mechanism: its documentation, its name in Rust and in the document.
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $name:ident($module:ident),)*) => {
        /// How packets find their way.
        ///
        /// A mechanism is asked for an output port and VC when a packet becomes the head of its input VC, an adaptive
        /// one at every attempt. Deadlock is avoided by the order of virtual channels: see `router.cioq.vcs`. A network
        /// with fewer VCs than the mechanism needs is refused.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum RoutingConfig {
            $($(#[$doc])* $name($module::Config),)*
        }

        /// A mechanism ready to route.
        // With a tag of its own: asking which it is, once or twice per packet-hop, must not depend on what a mechanism holds.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum Routing {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name),)*
        }

        impl RoutingConfig {
            /// The name in the document.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($module),)*
                }
            }

            /// What the mechanism may do on `topology`; refuses one that cannot carry it.
            pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
                match self {
                    $(Self::$name(config) => {
                        check_forwarding::<$module::$name>(topology)
                            .and_then(|()| config.paths(topology))
                            .map_err(|e| e.within(stringify!($module)))
                    })*
                }
            }

            fn build_on(&self, base: Minimal) -> Routing {
                match self {
                    $(Self::$name(config) => Routing::$name(config.build(base)),)*
                }
            }
        }

        impl Routing {
            /// The router that a head is on its way to, of a mechanism that never decides anew.
            // Per packet-hop; measured.
            #[inline(always)]
            pub fn target(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> u32 {
                match self {
                    $(Self::$name(m) if $module::$name::FIXED => m.target(head, state, draw),)*
                    _ => unreachable!("the plan picks the mode"),
                }
            }

            /// The router that a head in transit is on its way to, of a mechanism that decides at injection only.
            // Per packet-hop; measured.
            #[inline(always)]
            pub fn target_in_transit(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> u32 {
                match self {
                    $(Self::$name(m) if $module::$name::AT_SOURCE => m.target(head, state, draw),)*
                    _ => unreachable!("heads in transit have a choice"),
                }
            }

            /// A packet has become the head of its input VC. Asked again with the same numbers it gives the same answer.
            // Per packet-hop; measured.
            #[inline(always)]
            pub fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
                match self {
                    $(Self::$name(m) => m.route(head, state, draw),)*
                }
            }

            /// The decision of a head with a choice, in this attempt. `state` keeps what it must remember while it waits.
            #[inline]
            pub fn choose(&self, prospect: &Prospect, state: &mut RouteState, view: &impl View, draws: &mut impl Draws) -> Decision {
                match self {
                    $(Self::$name(m) => m.decide(prospect, state, view, draws),)*
                }
            }

            /// The port of the minimal path.
            pub fn minimal_port(&self, head: &Head, state: &RouteState) -> usize {
                match self {
                    $(Self::$name(m) => m.base().towards(head, head.destination, state.trunk).map_or(head.terminal as usize, |h| h.port as usize),)*
                }
            }

            /// What the engine must keep for the mechanism.
            pub fn sensors(&self) -> Sensors {
                match self {
                    $(Self::$name(m) => m.sensors(),)*
                }
            }

            /// Whether decisions draw random numbers even where only one output will do.
            pub fn draws(&self) -> bool {
                match self {
                    $(Self::$name(m) => m.draws() || (m.redecides() && m.base().vcs().draws()),)*
                }
            }

            /// Whether the answers of a waiting head change what the packet remembers.
            pub fn remembers(&self) -> bool {
                match self {
                    $(Self::$name(m) => m.remembers(),)*
                }
            }

            /// Whether some heads have a choice of outputs.
            pub fn redecides(&self) -> bool {
                match self {
                    $(Self::$name(m) => m.redecides(),)*
                }
            }

            /// Whether only heads at injection have a choice.
            pub fn decides_at_source(&self) -> bool {
                match self {
                    $(Self::$name(_) => $module::$name::AT_SOURCE,)*
                }
            }

            /// Whether every head is on its way to a router by the minimal path ([`Self::target`]).
            pub fn is_fixed(&self) -> bool {
                match self {
                    $(Self::$name(_) => $module::$name::FIXED,)*
                }
            }

            /// Visits all that a head may be granted: see [`Mechanism::each_grant`].
            pub fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
                match self {
                    $(Self::$name(m) => m.each_grant(head, state, visit),)*
                }
            }

            /// Visits where a head may go when it has become one, whatever it draws: see [`grants::each_route`].
            pub fn each_route(&self, head: &Head, state: RouteState, visit: impl FnMut(Route, RouteState, &Stream)) {
                match self {
                    $(Self::$name(m) => grants::each_route(m, head, state, visit),)*
                }
            }

            /// What heads in transit look at of their source.
            pub fn reads(&self) -> OfSource {
                match self {
                    $(Self::$name(_) => $module::$name::READS,)*
                }
            }

            /// Whether packets on a detour go on where they pass their destination.
            fn passes_destination(&self) -> bool {
                match self {
                    $(Self::$name(_) => $module::$name::PASSES_DESTINATION,)*
                }
            }

            /// The router that a packet in transit is on its way to by a shortest path, whatever it may still decide.
            fn bound_for(&self, head: &Head, state: RouteState) -> u32 {
                match self {
                    $(Self::$name(m) => m.bound_for(head, state),)*
                }
            }

            /// The minimal routing underneath.
            pub fn base(&self) -> &Minimal {
                match self {
                    $(Self::$name(m) => m.base(),)*
                }
            }
        }
    };
}

mechanisms! {
    /// Shortest path (MIN).
    Minimal(minimal),
    /// Any shortest path, by the output with most free space (meshes, tori, HyperX, fat trees, graphs).
    Adaptive(adaptive),
    /// Any shortest path, drawn by packet or by flow (equal-cost multi-path, packet spraying).
    Ecmp(ecmp),
    /// One of several short paths, drawn by packet or by flow (graphs).
    KShortestPaths(k_shortest_paths),
    /// Shortest paths in one of several layers of links, drawn by packet or by flow (FatPaths; graphs).
    FatPaths(fat_paths),
    /// The paths of a table of one's own, with the VCs that it gives.
    Table(table),
    /// Away from the source and towards the destination, by the output with most free space (graphs, HyperX).
    Polarized(polarized),
    /// Dimension by dimension, in increasing or in decreasing order (O1TURN).
    O1turn(o1turn),
    /// Up towards a root, then down: any network in one VC (Autonet).
    UpDown(up_down),
    /// Paths found together with the VC that they keep: any network in any number of VCs (Nue).
    Nue(nue),
    /// Oblivious nonminimal routing through a random intermediate router or group (VAL; Valiant, 1982).
    Valiant(valiant),
    /// Minimal path or a random detour, whichever looks shorter at the source (UGAL-L).
    Ugal(ugal),
    /// UGAL with marks of saturated global links exchanged inside the group (PB).
    Piggyback(piggyback),
    /// Piggyback with the detours of oblivious routing: Src-RRG and Src-CRG of the fairness studies.
    SourceAdaptive(source_adaptive),
    /// In-transit adaptive routing with opportunistic local misrouting (OLM; In-Trns-RRG, -CRG, -MM).
    Olm(olm),
    /// In-transit adaptive routing with a VC for every link (PAR).
    Par(par),
    /// Adaptive routing in every router of groups of leaves and spines: fully progressive adaptive routing (FPAR; dragonfly+).
    Fpar(fpar),
    /// A function of one's own, in Python.
    Function(function),
}

/// Refuses a mechanism whose packets may pass any router on a topology some of whose routers forward nothing.
fn check_forwarding<M: Mechanism>(topology: &Topology) -> Result<(), ConfigError> {
    let adapters = topology.adapters();
    if M::KEEPS_TO_SHORTEST || adapters == 0 {
        return Ok(());
    }
    let reason = format!(
        "may lead packets through any router, and {adapters} routers, the adapters of nodes, forward nothing"
    );
    Err(ConfigError::new("", reason).valid("routing.minimal, adaptive or ecmp, which keep to shortest paths"))
}

/// What a packet carries for its routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteState {
    /// Intermediate router still to be visited, `NONE` if there is none or it has been reached.
    pub via: u32,
    /// Chosen link among the parallel ones towards the current target.
    pub trunk: u16,
    /// Where the packet left its minimal path for the first time: a [`Place`], 0 if it never did.
    pub place: u8,
    /// What in-transit mechanisms remember: see [`in_transit`].
    pub flags: u8,
}

/// Where a packet leaves its minimal path for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Place {
    /// In the router of its source.
    Injection = 1,
    /// In another router of the source group.
    SourceGroup = 2,
    /// In a group that is neither the source's nor the destination's.
    IntermediateGroup = 3,
    /// In the destination's group, another one than the source's.
    DestinationGroup = 4,
}

impl RouteState {
    /// The state of a packet that has not been routed yet.
    pub const NEW: Self = Self { via: NONE, trunk: 0, place: 0, flags: 0 };

    /// Whether the packet has left its minimal path.
    #[inline]
    pub fn misrouted(self) -> bool {
        self.place != 0
    }

    /// Whether the packet, which was in state `before`, is misrouted in transit with the hop after which this is its state.
    #[inline]
    pub fn misroutes(self, before: Self) -> bool {
        self.flags & !before.flags & in_transit::MISROUTED != 0
    }

    /// Marks the packet as misrouted, unless it already is.
    pub fn misroute(&mut self, place: Place) {
        if self.place == 0 {
            self.place = place as u8;
        }
    }
}

/// The head that asks for a route.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Router that the head stands in.
    pub router: u32,
    /// Port that the head has come by.
    pub input: u16,
    /// Class and VC of the input that the head stands in, as [`sequence::VcSequence`] codes them; 0 at injection.
    pub code: u8,
    /// Source node.
    pub source: u32,
    /// Destination router.
    pub destination: u32,
    /// Terminal port of the destination node in its router.
    pub terminal: u16,
    /// VC of the terminal port.
    pub ejection_vc: u8,
    /// Whether the packet answers a request.
    pub reply: bool,
}

impl Head {
    /// Whether the head stands at injection.
    #[inline]
    pub fn at_injection(&self) -> bool {
        is_injection(self.code)
    }

    /// The request of a packet that has arrived.
    #[inline]
    pub fn ejection(&self) -> Request {
        Request { port: self.terminal as usize, vc: self.ejection_vc }
    }
}

/// Whether a code, as [`Head`] has it, is of an injection VC.
#[inline]
pub fn is_injection(code: u8) -> bool {
    code.wrapping_add(1) < 2
}

/// An output port and VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Output port.
    pub port: usize,
    /// Output VC.
    pub vc: u8,
}

/// An output port and several of its VCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Output port.
    pub port: usize,
    /// The first of the VCs.
    pub first: u8,
    /// The last of the VCs.
    pub last: u8,
}

/// A hop over a link, its VC still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Output port.
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// What may follow the hop.
    pub leg: Leg,
    /// Whether a misroute may take the VC of an earlier hop again (OLM).
    pub reuses: bool,
    /// The VC where a table gives it, else [`NO_VC`].
    pub vc: u8,
}

/// Kinds of hops that differ in what may follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// Towards the destination in another group.
    ToGroup,
    /// Towards the destination in this group.
    Final,
    /// Towards an intermediate group.
    Detour,
    /// Towards the intermediate router in this group.
    Inside,
    /// A local misroute in the source group of a packet to another group.
    MisrouteSource,
    /// A local misroute in an intermediate group.
    MisrouteInside,
    /// A local misroute in the destination's group.
    MisrouteFinal,
}

/// What a head asks for in one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// The output; `None`: nothing in this attempt.
    pub request: Option<Request>,
    /// What the packet remembers if it is granted.
    pub after: RouteState,
}

/// Where a head goes from its router, as far as that is known when it has become the head.
#[derive(Clone, Copy, Debug)]
pub enum Route {
    /// Nowhere: the packet has arrived.
    Arrived,
    /// By one output port.
    Fixed(Hop),
    /// By an output that the head chooses anew in every attempt.
    Undecided(Prospect),
}

/// A hop with what VCs it may use: one, or that one and all below from [`Vcs::first`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Output port.
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// The VC, the highest one of several.
    pub vc: u8,
}

impl Way {
    /// No way at all.
    pub const NONE: Self = Self { port: u16::MAX, class: 0, vc: NO_VC };

    /// The output and its VC, the highest one of several.
    #[inline]
    pub fn highest(self) -> Request {
        Request { port: self.port as usize, vc: self.vc }
    }
}

/// No VC.
pub const NO_VC: u8 = u8::MAX;

/// The paths of a mechanism on a topology.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Most links of a path: no packet makes more hops.
    pub hops: u32,
    /// What keeps packets on them from waiting for each other in a circle.
    pub safety: Safety,
}

/// How VCs keep paths free of deadlock.
#[derive(Clone, Debug)]
pub enum Safety {
    /// A VC for every link of the longest path, in increasing order along it.
    Ordered(Ordered),
    /// The VC whose number is that of the links passed before, whatever their classes.
    ByHop {
        /// Links of the longest path.
        vcs: u32,
        /// Whether the hops of a shortest path, or of two that follow each other, may share the VCs (FlexVC).
        shares: bool,
    },
    /// A hop may use any VC.
    Any {
        /// VCs of a link by default.
        vcs: u32,
        /// Whether rings of links need bubble flow control.
        bubble: bool,
    },
    /// A hop may use any VC of its class, which the datelines of rings say.
    Dateline(dateline::Config),
    /// VC 0 is an escape VC, besides which there is at least another one. Rings of it need bubble flow control.
    Escape,
    /// VC 0 is for the way to the intermediate router, VC 1 for the way from there. Rings of either need bubble flow control.
    Phases,
    /// The lower half of the VCs is for the way to another group, the upper half for the way from there, both for shortest paths.
    Levels,
    /// VC 0 is for packets that go dimension by dimension in increasing order, VC 1 for those that do in decreasing order.
    Orders,
    /// Paths keep one VC from end to end, that of their layer.
    Layers(Arc<Layers>),
    /// Paths keep one VC from end to end, that of the layer of their destination.
    Destinations(Arc<NuePaths>),
    /// A table gives the VC of every hop. Nothing but the table itself keeps its packets from waiting for each other in a circle.
    Given {
        /// The paths, which say their VCs.
        table: Arc<PathTable>,
        /// VCs that they use of each class of links.
        vcs: ByClass<u8>,
    },
}

/// Paths whose links have VCs in increasing order; see [`path`].
#[derive(Clone, Debug)]
pub struct Ordered {
    /// The path whose links have a VC each, in this order; every other one is what is left of it without some links.
    pub sequence: &'static [u8],
    /// What lets FlexVC share the VCs of local and global links.
    pub flexible: Flexible,
}

/// What FlexVC must know of paths over local and global links.
#[derive(Clone, Copy, Debug)]
pub struct Flexible {
    /// The longest nonminimal path, empty if there is none.
    pub detour: &'static [u8],
    /// The minimal paths left after each hop of the detour.
    pub escapes: &'static [&'static [u8]],
    /// Orders of VCs that FlexVC may lay out for the paths, preferred first.
    pub references: &'static [&'static [u8]],
    /// Where a packet can return to its minimal path.
    pub reverts: Reverts,
}

impl Ordered {
    /// Paths over local and global links.
    pub const fn new(sequence: &'static [u8], flexible: Flexible) -> Self {
        Self { sequence, flexible }
    }

    /// The paths, with `reverts` telling where packets can return to their minimal path.
    #[must_use]
    pub fn reverting(self, reverts: Reverts) -> Self {
        Self { flexible: Flexible { reverts, ..self.flexible }, ..self }
    }
}

impl Paths {
    /// Paths with a VC for every link.
    pub fn ordered(order: Ordered) -> Self {
        Self { hops: order.sequence.len() as u32, safety: Safety::Ordered(order) }
    }

    /// Paths of up to `links` links, with a VC for each.
    pub fn by_hop(links: u32) -> Self {
        Self { hops: links, safety: Safety::ByHop { vcs: links, shares: false } }
    }

    /// Shortest paths, or two that follow each other, of up to `links` links, with a VC for each, or VCs that hops share.
    pub fn sharing(links: u32) -> Self {
        Self { hops: links, safety: Safety::ByHop { vcs: links, shares: true } }
    }

    /// Paths of up to `hops` links that are free of deadlock in any VC; a link has `vcs` of them by default.
    pub fn any(hops: u32, vcs: u32) -> Self {
        Self { hops, safety: Safety::Any { vcs, bubble: true } }
    }

    /// Two shortest paths of up to `links` links each, through an intermediate router.
    pub fn two_phases(links: u32) -> Self {
        Self { hops: 2 * links, safety: Safety::Phases }
    }
}

impl Safety {
    /// VCs of a link by default where they have no order.
    pub fn vcs(&self) -> Option<u32> {
        match self {
            Self::Ordered(_) => None,
            Self::ByHop { vcs, .. } | Self::Any { vcs, .. } => Some(*vcs),
            Self::Dateline(_) | Self::Escape | Self::Phases | Self::Levels | Self::Orders => Some(2),
            Self::Layers(layers) => Some(layers.count()),
            Self::Destinations(paths) => Some(paths.layers()),
            Self::Given { vcs, .. } => vcs.iter().max().map(|&vcs| vcs.into()),
        }
    }

    /// VCs of a link of a class by default where they have no order.
    pub fn vcs_of(&self, class: usize) -> Option<u32> {
        if let Self::Given { vcs, .. } = self { Some(u32::from(vcs[class]).max(1)) } else { self.vcs() }
    }

    /// Whether rings of links need bubble flow control.
    pub fn bubble(&self) -> bool {
        matches!(self, Self::Any { bubble: true, .. } | Self::Escape | Self::Phases)
    }
}

/// Where a packet that has been sent off its minimal path, or is to be, can return to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverts {
    /// Nowhere.
    Never,
    /// While it waits at injection.
    AtInjection,
    /// In every router.
    Everywhere,
}

/// What a mechanism looks at of the source of a packet that has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfSource {
    /// Nothing.
    Nothing,
    /// The group of its router.
    Group,
    /// The router of its node.
    Router,
}

/// A routing mechanism.
pub trait Mechanism {
    /// The minimal routing underneath: topology and VCs.
    fn base(&self) -> &Minimal;

    /// Whether nothing may ever be decided anew: then [`Self::target`] is there.
    const FIXED: bool = false;

    /// Whether only heads at injection have a choice: then [`Self::target`] is there for all others.
    const AT_SOURCE: bool = false;

    /// The router that a head without a choice is on its way to, its own if it has arrived.
    fn target(&self, _head: &Head, _state: &mut RouteState, _draw: impl Fn() -> Stream) -> u32 {
        unreachable!("some heads have a choice")
    }

    /// A packet has become the head of its input VC; numbers drawn here are the packet's own in this router.
    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        let target = self.target(head, state, draw);
        self.base().towards(head, target, state.trunk).map_or(Route::Arrived, Route::Fixed)
    }

    /// Whether packets keep to shortest paths as the topology finds them, which lead through no router that forwards nothing.
    const KEEPS_TO_SHORTEST: bool = false;

    /// What heads in transit look at of their source.
    const READS: OfSource = OfSource::Nothing;

    /// Whether packets on a detour go on where they pass their destination; otherwise they are delivered there.
    const PASSES_DESTINATION: bool = false;

    /// The router that a packet in transit is on its way to by a shortest path, whatever it may still decide.
    fn bound_for(&self, head: &Head, _state: RouteState) -> u32 {
        head.destination
    }

    /// Visits all that a head may be granted, in whatever state its router is and whatever is drawn: the hop with the VCs that it may
    /// use, `None` where the packet has arrived, and what the packet remembers then.
    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        grants::each_by_route(self, head, state, visit);
    }

    /// Visits all that a head in transit with a choice may be granted, as [`Self::each_grant`] does.
    fn each_choice(
        &self,
        _head: &Head,
        _prospect: &Prospect,
        _state: RouteState,
        _visit: &mut impl FnMut(Way, RouteState),
    ) {
        unreachable!("no head has a choice")
    }

    /// The decision of a head with a choice.
    ///
    /// Unless the mechanism [`Self::draws`], a head that asks for nothing that could be granted is
    /// asked again only when something has changed that can make it ask for something else: one of the outputs in its
    /// [`Prospect`] has become free or got credit back, an output of its own minimal path or detour has been granted or is
    /// wanted by more or fewer heads, or a mark of its group has changed. So a grant of another output must not make a misroute
    /// more attractive.
    fn decide(
        &self,
        _prospect: &Prospect,
        _state: &mut RouteState,
        _view: &impl View,
        _draws: &mut impl Draws,
    ) -> Decision {
        unreachable!("no head has a choice")
    }

    /// Whether some heads have a choice.
    fn redecides(&self) -> bool {
        false
    }

    /// Whether decisions draw random numbers even where only one output will do.
    fn draws(&self) -> bool {
        false
    }

    /// Whether the answers of a waiting head change what it remembers: it is then asked even if it could be granted nothing, and
    /// whenever the occupancy of its minimal path or detour has changed. To the same question it gives the same answer.
    fn remembers(&self) -> bool {
        false
    }

    /// What the engine must keep for the mechanism.
    fn sensors(&self) -> Sensors {
        Sensors::default()
    }
}

impl Routing {
    /// Whether there is a way, and a VC for every hop of it, for a packet in transit over its intermediate router if it has settled for one. What
    /// it may still decide there are VCs for.
    pub fn has_vcs_left(&self, head: &Head, state: RouteState) -> bool {
        self.follow(head, state, |_| true)
    }

    /// Whether the way of a packet in transit, over its intermediate router if it has settled for one, leads over none of some ports, each given
    /// with its router.
    pub fn keeps_off(&self, head: &Head, state: RouteState, ports: &BTreeSet<(u32, usize)>) -> bool {
        self.follow(head, state, |hop| !ports.contains(&hop))
    }

    /// Follows a packet in transit on its shortest way, over its intermediate router if it has settled for one, as long as there is a VC and
    /// `goes_on` says so of a router and port. Returns whether it gets to its destination.
    fn follow(&self, head: &Head, state: RouteState, goes_on: impl Fn((u32, usize)) -> bool) -> bool {
        let base = self.base();
        let (mut at, mut code) = (head.router, head.code);
        for target in [self.bound_for(head, state), head.destination] {
            if !base.topology().reaches(at, target) {
                return false;
            }
            while at != target {
                if at == head.destination && !self.passes_destination() {
                    return true;
                }
                let (port, class) = base.topology().minimal_port(at, target, state.trunk);
                let next = base.topology().neighbour(at, port);
                let vc = base.vcs().sequence.next_if_any(code, class).filter(|_| goes_on((at, port)));
                let (Some(vc), Some((peer, _))) = (vc, next) else { return false };
                (at, code) = (peer, base.vcs().sequence.code(class, vc));
            }
        }
        true
    }

    /// Whether there is a way from a router to one with nodes.
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        self.base().topology().reaches(from, to)
    }

    /// The topology that packets are routed on, if some nodes cannot reach others there.
    pub fn apart(&self) -> Option<&Arc<Topology>> {
        Some(self.base().shared_topology()).filter(|topology| topology.is_apart())
    }

    /// Whether heads without a choice must be asked for their port, as it is not that of a minimal path.
    pub fn asks(&self) -> bool {
        !self.redecides() && !self.is_fixed()
    }

    /// The VC management.
    #[inline]
    pub fn vcs(&self) -> &Vcs {
        self.base().vcs()
    }

    /// Whether what a head asks for in a router follows from the destination alone: not from where it comes from, and nothing is drawn.
    pub fn follows_destination(&self) -> bool {
        matches!(self, Self::Minimal(minimal) if minimal.follows_destination())
    }

    /// A packet has become the head of its input VC: all outputs that it may have, if its port is fixed and VCs are as good as each other.
    pub fn settle_all(
        &self,
        head: &Head,
        state: &mut RouteState,
        draw: impl Fn() -> Stream,
    ) -> Option<Requests> {
        match self.route(head, state, draw) {
            Route::Arrived => {
                let Request { port, vc } = head.ejection();
                Some(Requests { port, first: vc, last: vc })
            }
            Route::Fixed(hop) if !self.vcs().selects() => {
                let way = self.base().way(head, hop);
                Some(Requests { port: way.port as usize, first: self.vcs().first(way), last: way.vc })
            }
            _ => None,
        }
    }

    /// A packet has become the head of its input VC: its request, if that is fixed.
    pub fn settle(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Option<Request> {
        match self.route(head, state, draw) {
            Route::Arrived => Some(head.ejection()),
            Route::Fixed(hop) if !self.vcs().is_flexible() => Some(self.base().way(head, hop).highest()),
            _ => None,
        }
    }

    /// The decision of a head that is not settled, in this attempt.
    pub fn decide(&self, state: &mut RouteState, view: &impl View, draws: &mut impl Draws) -> Decision {
        let head = &view.head();
        match self.route(head, state, || draws.head()) {
            Route::Arrived => Decision { request: Some(head.ejection()), after: *state },
            Route::Fixed(hop) => {
                let request = self.vcs().pick(self.base().way(head, hop), view, draws);
                Decision { request: Some(request), after: *state }
            }
            Route::Undecided(prospect) => self.choose(&prospect, state, view, draws),
        }
    }
}

impl RoutingConfig {
    /// Whether a function in Python routes packets.
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }

    /// Refuses a run that lacks a function of one's own.
    pub fn check_given(&self) -> Result<(), ConfigError> {
        if let Self::Function(config) = self { config.check() } else { Ok(()) }
    }

    /// Replaces a file by what it holds: `read` gives the table in a file of that name, or says why it cannot.
    pub fn load(&mut self, read: impl Fn(&str) -> Result<table::Routes, String>) -> Result<(), ConfigError> {
        let Self::Table(config) = self else { return Ok(()) };
        config.load(read).map_err(|error| error.within("table"))
    }

    /// Builds the mechanism for a network whose VCs have been checked.
    pub fn build(&self, topology: &Arc<Topology>, vcs: Vcs) -> Routing {
        self.build_on(Minimal::new(Arc::clone(topology), vcs))
    }
}
