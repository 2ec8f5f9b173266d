//! Memory that may not be there: tables whose size follows from the network or from the load are reserved by calls that can fail.
//!
//! A table grows deep inside a cycle, where nothing can fail: [`reserve`] unwinds from there, without a panic's message, to
//! [`or_shortage`], which makes an error of it. The simulation is lost, nothing else is.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Memory that was asked for and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// How much [bytes].
    pub bytes: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.bytes.div_ceil(1_000_000);
        write!(
            f,
            "out of memory: {megabytes} MB ({} bytes) more are not there, or not allowed (ulimit -v, the limit of a container or \
             job); valid: a smaller network, a lower load, fewer points side by side (-j 1, workers=1), or more memory",
            self.bytes
        )
    }
}

/// What has to be left for all the small things when a table has grown [bytes]: nobody asks whether there is room for those.
const MARGIN: usize = 64 << 20;

/// Tables below this size take part of the margin [bytes].
const SMALL: usize = 1 << 20;

/// Asks for so many bytes at once, and gives them back.
pub fn probe(bytes: u64) -> Result<(), Shortage> {
    let asked = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_add(MARGIN));
    let fits = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if asked.is_some_and(fits) { Ok(()) } else { Err(Shortage { bytes }) }
}

/// Asks for what has to be left for all the small things.
pub fn probe_margin() -> Result<(), Shortage> {
    probe(0).map_err(|_| Shortage { bytes: MARGIN as u64 })
}

/// Makes room for more in a table, at least; without it, unwinds to [`or_shortage`].
#[cold]
#[inline(never)]
pub fn reserve<T>(table: &mut Vec<T>, more: usize) {
    let bytes = (table.capacity().max(more) as u64).saturating_mul(size_of::<T>() as u64);
    unwind_unless(table.try_reserve(more).is_ok(), bytes);
}

/// Unwinds if so many bytes could not be had, or are too many of what is left.
fn unwind_unless(is_there: bool, bytes: u64) {
    if !is_there || (bytes > SMALL as u64 && probe_margin().is_err()) {
        resume_unwind(Box::new(Shortage { bytes }));
    }
}

/// Adds to a table; without room for it, unwinds to [`or_shortage`].
#[inline]
pub fn push<T>(table: &mut Vec<T>, value: T) {
    if table.len() == table.capacity() {
        reserve(table, 1);
    }
    table.push(value);
}

/// Makes room for one more in a map; without it, unwinds to [`or_shortage`].
#[inline]
pub fn reserve_entry<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    if map.len() < map.capacity() {
        return;
    }
    // It is built anew, half full, with a byte for each place.
    let bytes = (2 * map.len() * (size_of::<(K, V)>() + 1)) as u64;
    unwind_unless(map.try_reserve(1).is_ok(), bytes);
}

/// An empty table with room for so many; without it, unwinds to [`or_shortage`].
pub fn table<T>(room: usize) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, room);
    table
}

/// A table of so many equal values; without room for it, unwinds to [`or_shortage`].
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut table = table(count);
    table.resize(count, value);
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
    use super::{Shortage, filled, or_shortage, probe, push, reserve, reserve_entry, table};
    use std::collections::HashMap;

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
    fn what_is_added_is_there() {
        let (mut table, mut map) = (Vec::new(), HashMap::new());
        for value in 0..1000 {
            push(&mut table, value);
            reserve_entry(&mut map);
            assert!(map.len() < map.capacity());
            map.insert(value, value);
        }
        assert!(table.into_iter().eq(0..1000));
        assert_eq!(filled(5, 3), [5, 5, 5]);
    }

    #[test]
    #[should_panic(expected = "something else")]
    fn another_panic_stays_one() {
        let _ = or_shortage(|| panic!("something else"));
    }
}
