//! Memory that may not be there: tables whose size follows from the network or from the load are reserved by calls that can fail.
//!
//! A table grows deep inside a cycle, where nothing can fail: [`reserve`] unwinds from there, without a panic's message, to
//! [`or_shortage`], which makes an error of it. The simulation is lost, nothing else is.

use crate::network::Link;
use crate::topology::Topology;
use hopsim_infiniband::fabric::Fabric;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Memory that was asked for and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// How much [bytes].
    pub bytes: u64,
}

/// What has to be left for all the small things when a table has grown [bytes]: nobody asks whether there is room for those.
const MARGIN: usize = 64 << 20;

/// Tables below this size take part of the margin [bytes].
const SMALL: usize = 1 << 20;

/// Bytes of a network that is empty per router, and more per port; per node of a plan. Set by hand, from the address space that two
/// tori took before their first cycle.
const ROUTER_BYTES: u64 = 3200;
const PORT_BYTES: u64 = 400;
const NODE_BYTES: u64 = 40;

/// Bytes of a virtual output queue of an InfiniBand switch.
const VOQ_BYTES: u64 = 16;

/// Bytes that the state of so many routers with so many ports altogether takes before the first cycle, about.
pub fn of_state(routers: u64, ports: u64) -> u64 {
    ROUTER_BYTES * routers + PORT_BYTES * ports
}

/// Bytes that a plan of this network takes, about: its links, and what its jobs know of nodes.
pub fn of_plan(topology: &Topology) -> u64 {
    let links = u64::from(topology.routers()) * topology.ports().len() as u64;
    links * size_of::<Link>() as u64 + NODE_BYTES * u64::from(topology.nodes())
}

/// Bytes that the forwarding tables and virtual output queues of an InfiniBand fabric take.
pub fn of_fabric(fabric: &Fabric) -> u64 {
    let ports = fabric.first_port.windows(2).map(|ends| u64::from(ends[1] - ends[0]));
    let queues = ports.map(|ports| ports * ports).sum::<u64>() * u64::from(fabric.lanes.count);
    fabric.forwarding.bytes() as u64 + VOQ_BYTES * queues
}

/// Asks for so many bytes at once, and gives them back.
pub fn probe(bytes: u64) -> Result<(), Shortage> {
    let asked = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_add(MARGIN));
    let fits = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if asked.is_some_and(fits) { Ok(()) } else { Err(Shortage { bytes }) }
}

/// Makes room for more in a table, at least; without it, unwinds to [`or_shortage`].
#[cold]
#[inline(never)]
pub fn reserve<T>(table: &mut Vec<T>, more: usize) {
    let bytes = (table.capacity().max(more) as u64).saturating_mul(size_of::<T>() as u64);
    let failed = table.try_reserve(more).is_err();
    if failed || (bytes > SMALL as u64 && probe(0).is_err()) {
        resume_unwind(Box::new(Shortage { bytes }));
    }
}

/// An empty table with room for so many; without it, unwinds to [`or_shortage`].
pub fn table<T>(room: usize) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, room);
    table
}

/// What `act` returns, or how much memory it lacked.
pub fn or_shortage<T>(act: impl FnOnce() -> T) -> Result<T, Shortage> {
    // What it has changed is dropped with what it would have returned, or is counters alone.
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| match payload.downcast::<Shortage>() {
        Ok(shortage) => *shortage,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::{Shortage, or_shortage, probe, reserve, table};

    #[test]
    fn what_cannot_be_had_is_an_error_with_its_bytes() {
        assert_eq!(probe(u64::MAX), Err(Shortage { bytes: u64::MAX }));
        assert_eq!(probe(1 << 60), Err(Shortage { bytes: 1 << 60 }));
        assert_eq!(or_shortage(|| table::<u64>(1 << 57).len()), Err(Shortage { bytes: 1 << 60 }));
        assert_eq!(or_shortage(|| table::<u64>(1 << 4).capacity()), Ok(16));
    }

    #[test]
    fn a_table_that_cannot_grow_asks_for_what_it_would_have_grown_to() {
        let grow = || reserve(&mut vec![0u64; 8], 1 << 57);
        assert_eq!(or_shortage(grow), Err(Shortage { bytes: 1 << 60 }));
    }

    #[test]
    #[should_panic(expected = "something else")]
    fn another_panic_stays_one() {
        let _ = or_shortage(|| panic!("something else"));
    }
}
