//! A pool of records addressed by 32-bit index, with a free list: no allocation once it has grown.

use hopsim_network::network::NONE;

/// A record that can carry the index of another one.
pub trait Linked {
    /// The link.
    fn next(&self) -> u32;
    /// Sets the link.
    fn set_next(&mut self, next: u32);
}

/// Records with reuse.
#[derive(Clone, Debug)]
pub struct Pool<T> {
    records: Vec<T>,
    free: u32,
    live: usize,
}

impl<T: Linked> Pool<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self { records: Vec::new(), free: NONE, live: 0 }
    }

    /// Stores a record and returns its index.
    #[inline]
    pub fn insert(&mut self, record: T) -> u32 {
        self.live += 1;
        if self.free == NONE {
            hopsim_memory::push(&mut self.records, record);
            return self.records.len() as u32 - 1;
        }
        let index = self.free;
        let place = &mut self.records[index as usize];
        self.free = place.next();
        *place = record;
        index
    }

    /// Gives the record's place back.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        self.records[index as usize].set_next(self.free);
        self.free = index;
        self.live -= 1;
    }

    /// Whether no record is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many records are in use.
    pub fn len(&self) -> usize {
        self.live
    }

    /// The record at `index`.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        &self.records[index as usize]
    }

    /// The record at `index`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.records[index as usize]
    }
}

/// A queue threaded through the records of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// First record, `NONE` if empty.
    pub front: u32,
    /// Last record; meaningless if empty.
    pub back: u32,
}

impl Queue {
    /// The empty queue.
    pub const EMPTY: Self = Self { front: NONE, back: NONE };

    /// Whether nothing is queued.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.front == NONE
    }

    /// Appends the record at `index`.
    #[inline]
    pub fn push<T: Linked>(&mut self, pool: &mut Pool<T>, index: u32) {
        pool.get_mut(index).set_next(NONE);
        if self.front == NONE {
            self.front = index;
        } else {
            pool.get_mut(self.back).set_next(index);
        }
        self.back = index;
    }

    /// Puts the record at `index` before all others.
    pub fn push_front<T: Linked>(&mut self, pool: &mut Pool<T>, index: u32) {
        pool.get_mut(index).set_next(self.front);
        if self.front == NONE {
            self.back = index;
        }
        self.front = index;
    }

    /// A queue of some records, which are put into the pool.
    pub fn of<T: Linked>(pool: &mut Pool<T>, records: impl IntoIterator<Item = T>) -> Self {
        let mut queue = Self::EMPTY;
        for record in records {
            let index = pool.insert(record);
            queue.push(pool, index);
        }
        queue
    }

    /// The records from front to back.
    pub fn records<T: Linked + Clone>(self, pool: &Pool<T>) -> Vec<T> {
        self.iter(pool).map(|index| pool.get(index).clone()).collect()
    }

    /// Takes the first record out of the queue (not out of the pool) and returns its index.
    #[inline]
    pub fn pop<T: Linked>(&mut self, pool: &Pool<T>) -> u32 {
        let index = self.front;
        if index != NONE {
            self.front = pool.get(index).next();
        }
        index
    }

    /// The indices of the records from front to back.
    pub fn iter<T: Linked>(self, pool: &Pool<T>) -> impl Iterator<Item = u32> {
        let mut next = self.front;
        std::iter::from_fn(move || {
            (next != NONE).then(|| {
                let index = next;
                next = pool.get(index).next();
                index
            })
        })
    }
}
