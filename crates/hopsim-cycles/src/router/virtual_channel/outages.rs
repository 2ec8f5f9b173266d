//! Links that are out of order for a while: no head is granted an output VC of theirs. Nor is one at injection whose node injects nothing.
//! What becomes of a state when links fail is in `changing.rs`.

use crate::change::Reason;
use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, PairId, RegionRouter};
use hopsim_network::network::NONE;
use serde::{Deserialize, Serialize};

/// A port whose link is out of order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeadFlitPort {
    /// The port.
    pub port: u16,
    /// What its router believes to be outstanding, by output VC.
    pub readings: Vec<u32>,
}

/// The links of a router that are out of order, and why its nodes inject nothing if they do not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RouterOutages {
    /// The ports whose links are out of order.
    pub dead: Vec<DeadFlitPort>,
    /// Why nodes inject nothing.
    pub closed: Vec<Reason>,
}

/// What is out of order in a region.
#[derive(Default)]
pub struct FlitOutages {
    routers: Vec<(RegionRouter, RouterOutages)>,
    /// What routers believe to be outstanding, by pair, `NONE` where they count it; empty where all links are in order.
    readings: By<PairId, u32>,
}

impl FlitOutages {
    /// What a router believes to be outstanding of an output VC: what it reads if the link is out of order, else what it has counted.
    pub fn reading(&self, pair: PairId, counted: u32) -> u32 {
        let reading = self.readings.get(pair).copied();
        reading.filter(|&reading| reading != NONE).unwrap_or(counted)
    }

    /// What is out of order of a router.
    pub fn save(&self, number: RegionRouter) -> RouterOutages {
        let own = self.routers.iter().find(|(router, _)| *router == number);
        own.map(|(_, outages)| outages.clone()).unwrap_or_default()
    }

    /// Goes on with what is out of order of a router, whose pairs begin with the given ones by port; a region has `ids` pairs.
    pub fn load(
        &mut self,
        number: RegionRouter,
        outages: &RouterOutages,
        first: impl Fn(usize) -> PairId,
        ids: usize,
    ) {
        for dead in &outages.dead {
            if self.readings.is_empty() {
                self.readings = By::all(NONE, ids);
            }
            for (vc, &reading) in dead.readings.iter().enumerate() {
                self.readings[PairId::at(first(dead.port.into()).index() + vc)] = reading;
            }
        }
        if !outages.dead.is_empty() || !outages.closed.is_empty() {
            self.routers.push((number, outages.clone()));
        }
    }
}
