//! One router, to be changed: what follows when heads come and go is in `transfer`, how heads are asked in `deciding`.

use crate::kernel::ids::RegionRouter;
use crate::router::cioq::extras::Extras;
use crate::router::cioq::routers::Router;

/// One router and what only some configurations keep of it, while it is visited.
pub struct RouterMut<'a, const W: usize> {
    /// The number of the router in the region.
    pub number: RegionRouter,
    /// The state of the router.
    pub state: &'a mut Router<W>,
    /// State of all routers of the region that only some configurations need.
    pub extras: &'a mut Extras<W>,
}
