//! A visit to one router: what follows when heads come and go is in `transfer`, how they are asked in `deciding`.

use crate::engine::kernel::ids::RegionRouter;
use crate::engine::router::cioq::extras::Extras;
use crate::engine::router::cioq::routers::Router;

/// A visit to one router.
pub struct Visit<'a, const W: usize> {
    /// Its number in the region.
    pub number: RegionRouter,
    /// Its state.
    pub router: &'a mut Router<W>,
    /// State of all routers of the region that only some configurations need.
    pub extras: &'a mut Extras<W>,
}
