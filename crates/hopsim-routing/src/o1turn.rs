//! One of two orders of dimensions for every packet: see [`Config`].

use super::grants::each_by_route;
use super::minimal::Minimal;
use super::prospect::{Choice, Comparison, Prospect};
use super::view::{Draws, View};
use super::{Decision, Head, Hop, Leg, Mechanism, NO_VC, Paths, Route, RouteState, Safety, Way};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::Topology;
use hopsim_network::topology::grid::Grid;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a packet gets one of the two orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderChoice {
    /// One of the two is drawn, both being as likely.
    #[default]
    Random,
    /// The one whose first link has less outstanding, in all VCs of its port, when the packet asks for the first time; of equal ones one is
    /// drawn.
    LessOccupied,
}

/// A packet goes dimension by dimension, in increasing order or in decreasing order, as is settled in the router of its source (O1TURN:
/// in two dimensions it turns once). Patterns that load the links of one order unevenly are spread over those of both.
///
/// For meshes and HyperX networks of two or more dimensions. VC 0 is for packets that go in increasing order, VC 1 for those that go in
/// decreasing order; in virtual-channel routers the lower and the upper half of all VCs. A packet keeps to its own, and each order by itself
/// closes no cycle of waiting buffers: no deadlock. Paths are shortest ones: no livelock.
///
/// Source: Seo, Ali, Lim, Rafique and Thottethodi, ISCA 2005.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "O1TurnRouting")]
pub struct Config {
    /// How a packet gets its order.
    #[serde(default)]
    pub order: OrderChoice,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        match topology.grid() {
            Some(grid) if grid.sides.len() > 1 => {
                Ok(Paths { hops: topology.diameter(), safety: Safety::Orders })
            }
            _ => Err(ConfigError::new("", "needs several dimensions whose links close no rings")
                .valid("topology.mesh or hyperx with two or more sides; routing.minimal")),
        }
    }

    /// The mechanism over the minimal paths of `base`.
    pub fn build(&self, base: Minimal) -> O1turn {
        O1turn { order: self.order, base }
    }
}

/// Of [`RouteState::flags`]: the packet goes in decreasing order of dimensions.
const DECREASING: u8 = 1;

/// Of [`RouteState::flags`]: the order of the packet is settled.
const SETTLED: u8 = 2;

/// One of two orders of dimensions for every packet.
#[derive(Clone, Debug)]
pub struct O1turn {
    order: OrderChoice,
    base: Minimal,
}

impl O1turn {
    fn grid(&self) -> &Grid {
        self.base.topology().grid().unwrap_or_else(|| unreachable!("the plan refuses other topologies"))
    }

    /// The next hop, `None` if the packet has arrived.
    fn hop(&self, head: &Head, flags: u8) -> Option<Hop> {
        let (at, to) = (head.router, head.destination);
        if at == to {
            return None;
        }
        let is_decreasing = flags & DECREASING != 0;
        let target = if is_decreasing { self.grid().end_of_last_dimension(at, to) } else { to };
        let (port, class) = self.base.topology().minimal_port(at, target, 0);
        // The VCs of either order are those of a part of a detour.
        let leg = if is_decreasing { Leg::Final } else { Leg::Detour };
        Some(Hop { port: port as u16, class, leg, reuses: false, vc: NO_VC })
    }

    fn way(&self, head: &Head, flags: u8) -> Option<Way> {
        self.hop(head, flags).map(|hop| self.base.way(head, hop))
    }

    /// The order in which the packet sets out by the one of two ways whose port has less outstanding.
    fn less_occupied(&self, ways: [Way; 2], view: &impl View, draws: &impl Draws) -> u8 {
        let [increasing, decreasing] = ways.map(|way| self.base.port_occupancy(way, view));
        match increasing.cmp(&decreasing) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => draw_order(draws.head()),
            std::cmp::Ordering::Greater => DECREASING,
        }
    }
}

/// One of the two orders, both being as likely.
fn draw_order(mut stream: Stream) -> u8 {
    if stream.below(2) == 1 { DECREASING } else { 0 }
}

impl Mechanism for O1turn {
    fn base(&self) -> &Minimal {
        &self.base
    }

    fn route(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> Route {
        if head.at_injection() && head.router != head.destination {
            if self.order == OrderChoice::LessOccupied {
                let way = |flags| self.way(head, flags).unwrap_or(Way::NONE);
                let comparison =
                    Comparison { detour: way(DECREASING), lengths: [0; 2], trunks: [0; 2], exit: None };
                return Route::Undecided(Prospect { minimal: way(0), choice: Choice::Detour(comparison) });
            }
            state.flags = draw_order(draw());
        }
        self.hop(head, state.flags).map_or(Route::Arrived, Route::Fixed)
    }

    fn each_grant(&self, head: &Head, state: RouteState, visit: &mut impl FnMut(Option<Way>, RouteState)) {
        if !head.at_injection() || head.router == head.destination {
            return each_by_route(self, head, state, visit);
        }
        for flags in [0, DECREASING] {
            visit(self.way(head, flags), RouteState { flags, ..state });
        }
    }

    fn decide(
        &self,
        prospect: &Prospect,
        state: &mut RouteState,
        view: &impl View,
        draws: &mut impl Draws,
    ) -> Decision {
        let Choice::Detour(comparison) = &prospect.choice else { unreachable!("one of two ways") };
        if state.flags & SETTLED == 0 {
            state.flags = SETTLED | self.less_occupied([prospect.minimal, comparison.detour], view, draws);
        }
        let is_decreasing = state.flags & DECREASING != 0;
        let way = if is_decreasing { comparison.detour } else { prospect.minimal };
        let request = self.base.vcs().pick(way, view, draws);
        Decision { request: Some(request), after: RouteState { flags: state.flags & DECREASING, ..*state } }
    }

    fn redecides(&self) -> bool {
        self.order == OrderChoice::LessOccupied
    }

    fn remembers(&self) -> bool {
        self.order == OrderChoice::LessOccupied
    }
}
