//! What was made last is kept: the points of a sweep mostly have the same fabric.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One thing, and what it was made from. Threads that want the same thing at once wait for the one that makes it.
#[derive(Debug)]
pub struct Kept<K, V>(Mutex<Option<Arc<Entry<K, V>>>>);

/// What the thing is made from, and the thing itself when it is made.
type Entry<K, V> = (K, OnceLock<V>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Kept<K, V> {
    /// A place where nothing is kept yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K, V: Clone> Kept<K, V> {
    /// What is made from `key`, unless what is kept `is_same`: something made from a key, or about to be made. What was kept before is
    /// let go first, so that there is never room needed for two.
    pub fn get(&self, key: K, is_same: impl Fn(&K, Option<&V>) -> bool, make: impl FnOnce(&K) -> V) -> V {
        let entry = {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let same = kept.as_ref().filter(|entry| is_same(&entry.0, entry.1.get()));
            if let Some(entry) = same {
                Arc::clone(entry)
            } else {
                let entry = Arc::new((key, OnceLock::new()));
                *kept = Some(Arc::clone(&entry));
                entry
            }
        };
        // If it is interrupted the next one makes it.
        entry.1.get_or_init(|| make(&entry.0)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering};

    fn same<K: PartialEq>(key: K) -> impl Fn(&K, Option<&u32>) -> bool {
        move |kept, _| *kept == key
    }

    #[test]
    fn only_the_last_one_is_kept() {
        let (kept, made) = (Kept::new(), AtomicU32::new(0));
        let get = |key: &'static str| kept.get(key, same(key), |_| made.fetch_add(1, Ordering::Relaxed));
        let all = ["a", "a", "b", "b", "a"].map(get);
        assert_eq!(all, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn threads_that_want_the_same_wait_for_each_other() {
        let (kept, made) = (Kept::new(), AtomicU32::new(0));
        let get = || {
            kept.get("a", same("a"), |_| {
                std::thread::yield_now();
                made.fetch_add(1, Ordering::Relaxed)
            })
        };
        let all: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(get)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all, [0; 8]);
    }

    #[test]
    fn what_was_not_finished_is_made_by_the_next_one() {
        let kept = Kept::new();
        let broken = || kept.get("a", same("a"), |_| std::panic::resume_unwind(Box::new(())));
        assert!(catch_unwind(AssertUnwindSafe(broken)).is_err());
        assert_eq!(kept.get("a", same("a"), |_| 5), 5);
    }
}
