//! Long work before a run begins, which its caller may give up, and how much of it there is.
//!
//! What grows with a large network tells [`steps`] how far it is. Every so many steps whoever waits for it is asked; the answer
//! unwinds the work, as a lack of memory does (see [`hopsim_memory`]), without a panic's message. What it would have made is lost,
//! nothing else is.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// The caller has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Steps until the caller is asked again: some milliseconds.
const PATIENCE: u64 = 1 << 20;

/// Whether the caller has given up.
type Question = Rc<dyn Fn() -> bool>;

thread_local! {
    /// Steps of this thread.
    static DONE: Cell<u64> = const { Cell::new(0) };
    /// When the caller is asked next.
    static NEXT: Cell<u64> = const { Cell::new(PATIENCE) };
    static CALLER: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// So many more steps are done, each of some nanoseconds: an entry of a table, a link that a search looks at.
pub fn steps(more: u64) {
    let done = DONE.get() + more;
    DONE.set(done);
    if done >= NEXT.get() {
        ask(done);
    }
}

#[cold]
fn ask(done: u64) {
    NEXT.set(done + PATIENCE);
    let caller = CALLER.with_borrow(Clone::clone);
    if caller.is_some_and(|has_given_up| has_given_up()) {
        resume_unwind(Box::new(Interrupted));
    }
}

/// What `act` returns, and how many steps it took in this thread.
pub fn counted<T>(act: impl FnOnce() -> T) -> (T, u64) {
    let before = DONE.get();
    let made = act();
    (made, DONE.get() - before)
}

/// What `act` returns, unless `has_given_up` says in the meantime that nobody wants it any more.
pub fn unless<T>(
    has_given_up: impl Fn() -> bool + 'static,
    act: impl FnOnce() -> T,
) -> Result<T, Interrupted> {
    let before = CALLER.replace(Some(Rc::new(has_given_up)));
    // What it has changed is dropped with what it would have returned, or is kept for whoever asks next, as it was.
    let done = catch_unwind(AssertUnwindSafe(act));
    CALLER.set(before);
    done.map_err(|payload| match payload.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::{Interrupted, PATIENCE, counted, steps, unless};
    use hopsim_memory::{Shortage, or_shortage, table};
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn work_goes_on_for_as_long_as_somebody_wants_it() {
        let asked = Rc::new(Cell::new(0));
        let times = Rc::clone(&asked);
        let caller = move || {
            times.set(times.get() + 1);
            times.get() == 5
        };
        let done = Cell::new(0);
        let work = || {
            for _ in 0..100 {
                steps(PATIENCE / 4);
                done.set(done.get() + 1);
            }
        };
        assert_eq!(unless(caller, work), Err(Interrupted));
        assert_eq!(asked.get(), 5);
        assert!(done.get() >= 16 && done.get() < 20, "{}", done.get());
        // Nobody is asked any more.
        assert_eq!(unless(|| false, || steps(10 * PATIENCE)), Ok(()));
        steps(10 * PATIENCE);
        assert_eq!(asked.get(), 5);
    }

    #[test]
    fn whoever_waits_outside_is_asked_again_afterwards() {
        let act = || {
            assert_eq!(unless(|| false, || steps(2 * PATIENCE)), Ok(()));
            steps(2 * PATIENCE);
        };
        assert_eq!(unless(|| true, act), Err(Interrupted));
    }

    #[test]
    fn steps_are_counted_by_those_who_ask() {
        let both = || counted(|| steps(7)).1 + counted(|| steps(8)).1;
        assert_eq!(counted(both), (15, 15));
    }

    #[test]
    fn a_lack_of_memory_is_none_of_it() {
        let lacking = || or_shortage(|| table::<u64>(1 << 57).len());
        assert_eq!(unless(|| true, lacking), Ok(Err(Shortage { bytes: 1 << 60 })));
        let interrupted = || or_shortage(|| steps(2 * PATIENCE));
        assert_eq!(unless(|| true, interrupted), Err(Interrupted));
    }

    #[test]
    #[should_panic(expected = "something else")]
    fn another_panic_stays_one() {
        let _ = unless(|| true, || panic!("something else"));
    }
}
