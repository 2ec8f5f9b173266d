//! Links that are out of order for a while. A port whose link is out of order is never ready: its packets wait as for a busy link, and
//! nothing in the cycle has to ask. Nor is an input free whose node injects nothing. What becomes of a state when links fail is in
//! `changing.rs`.

use crate::change::Reason;
use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter};
use hopsim_network::network::NONE;
use serde::{Deserialize, Serialize};

/// The first cycle in which a port is ready whose link is out of order, or free where nodes inject nothing: never.
pub const NEVER: u32 = u32::MAX;

/// A port whose link is out of order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeadPort {
    /// The port.
    pub port: u16,
    /// First cycle in which the output could take the shortest packet if the link were in order.
    pub out_ready: u32,
    /// What its router believes to be outstanding, by output VC.
    pub readings: Vec<u32>,
}

/// When the inputs of a router that come from nodes would be free if the nodes might inject.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClosedDoors {
    /// Why they may not.
    pub reasons: Vec<Reason>,
    /// First cycles in which such inputs may request again, by their order.
    pub in_free: Vec<u32>,
    /// First cycles in which the packet before the head has left an injection VC, by their order; empty where nobody asks.
    pub free: Vec<u32>,
}

/// The ports of a region whose links are out of order, and where nodes inject nothing.
#[derive(Default)]
pub struct Outages {
    ports: Vec<(RegionRouter, DeadPort)>,
    closed: Vec<(RegionRouter, ClosedDoors)>,
    /// What routers believe to be outstanding, by pair, `NONE` where they count it; empty where all links are in order.
    readings: By<PairId, u32>,
}

impl Outages {
    /// Whether all links are in order.
    #[inline]
    pub fn are_over(&self) -> bool {
        self.readings.is_empty()
    }

    /// What a router believes to be outstanding of an output VC: what it reads if the link is out of order, else what it has counted.
    // Out of line with all that it needs, so that nothing is made ready for it where links are in order.
    #[cold]
    #[inline(never)]
    pub fn reading<const W: usize>(&self, (number, pair): (RegionRouter, Pair), counted: u32) -> u32 {
        let reading = self.readings.get(number.pair::<W>(pair)).copied();
        reading.filter(|&reading| reading != NONE).unwrap_or(counted)
    }

    /// The ports of a router whose links are out of order, and its inputs from nodes if these inject nothing.
    pub fn save(&self, number: RegionRouter) -> (Vec<DeadPort>, Option<ClosedDoors>) {
        let Self { ports, closed, readings: _ } = self;
        let dead = ports.iter().filter(|(router, _)| *router == number).map(|(_, dead)| dead.clone());
        let closed = closed.iter().find(|(router, _)| *router == number).map(|(_, doors)| doors.clone());
        (dead.collect(), closed)
    }

    /// Goes on with the dead ports of a router, whose pairs begin with the given ones by port; a region has `ids` pairs.
    pub fn load(
        &mut self,
        number: RegionRouter,
        (dead, closed): (&[DeadPort], &Option<ClosedDoors>),
        first: impl Fn(usize) -> PairId,
        ids: usize,
    ) {
        self.closed.extend(closed.iter().map(|doors| (number, doors.clone())));
        for dead in dead {
            if self.readings.is_empty() {
                self.readings = By::all(NONE, ids);
            }
            let first = first(dead.port.into()).index();
            for (vc, &reading) in dead.readings.iter().enumerate() {
                self.readings[PairId::at(first + vc)] = reading;
            }
            self.ports.push((number, dead.clone()));
        }
    }
}
