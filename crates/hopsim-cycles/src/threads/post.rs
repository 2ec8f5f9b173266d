//! How mail gets from the thread that simulates its sender to the thread that simulates its receiver.

use crate::kernel::worker::{Mail, Worker};
use std::sync::{Mutex, PoisonError};

/// What threads have sent each other.
///
/// Mail that is sent in a window is read in the next one. There are two sets of boxes, written and read in turn, so that one
/// meeting of the threads for each window is enough. Every box is written by one thread, and read by the one thread that
/// simulates its receiver: the locks are there for the compiler, nobody ever waits at them.
pub struct Post {
    /// The boxes, by window (even or odd), sending thread and receiving region.
    boxes: [Vec<Vec<Mutex<Mail>>>; 2],
    /// Whether to hand out mail in the reverse of its order: that must change nothing.
    #[cfg(feature = "trace")]
    reversed: bool,
}

impl Post {
    /// Empty boxes.
    pub fn new(threads: usize, regions: usize) -> Self {
        let boxes = |_| (0..regions).map(|_| Mutex::default()).collect();
        let set = || (0..threads).map(boxes).collect();
        Self {
            boxes: [set(), set()],
            #[cfg(feature = "trace")]
            reversed: false,
        }
    }

    /// Hands out mail in the reverse of its order if asked to.
    #[cfg(feature = "trace")]
    pub fn reversed(self, reversed: bool) -> Self {
        Self { reversed, ..self }
    }

    /// Puts what a thread has sent in a window into the boxes, where it can be read in the next window.
    pub fn send<O>(&self, window: usize, thread: usize, worker: &mut Worker<O>) {
        for (mail, place) in worker.mail.iter_mut().zip(&self.boxes[window % 2][thread]) {
            if !mail.is_empty() {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(mail);
            }
        }
    }

    /// Shows `read` all mail that was sent to a region in the window before this one; what `read` has emptied `worker` uses
    /// again.
    pub fn receive<O>(
        &self,
        window: usize,
        region: usize,
        worker: &mut Worker<O>,
        mut read: impl FnMut(&mut Mail),
    ) {
        let set = &self.boxes[(window + 1) % 2];
        #[cfg(feature = "trace")]
        let order: Vec<usize> =
            if self.reversed { (0..set.len()).rev().collect() } else { (0..set.len()).collect() };
        #[cfg(not(feature = "trace"))]
        let order = 0..set.len();
        for thread in order {
            let mut mail =
                std::mem::take(&mut *set[thread][region].lock().unwrap_or_else(PoisonError::into_inner));
            #[cfg(feature = "trace")]
            if self.reversed {
                mail.reverse();
            }
            if !mail.is_empty() {
                read(&mut mail);
                worker.spare.push(mail);
            }
        }
    }
}
