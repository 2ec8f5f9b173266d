//! The state of a thread that simulates regions: an observer, counters, and the mail that has left its
//! regions for others.
//!
//! A simulation has one [`Worker`] for each thread (`simulation.rs`). While the thread simulates a region,
//! the worker is the field `worker` of the region's kernel (`lend` in `region.rs`), and so routers and nodes
//! count in it and put into it, without locks, what leaves the region. Then the mail is handed to the
//! receiving regions: by `threads/post.rs`, or at once where there is only one thread. A worker belongs to no
//! region: no result may depend on which worker has simulated which.

use crate::kernel::ids::SlotId;
use crate::kernel::message::Message;
use crate::kernel::packet::Packet;
use crate::kernel::wires::Credit;

/// A credit for another region.
pub struct CreditByMail {
    /// The cycle in which the credit arrives.
    pub at: u32,
    /// The credit.
    pub credit: Credit,
}

/// A flit for another region.
pub struct FlitByMail {
    /// The cycle in which the flit arrives.
    pub at: u32,
    /// The slot that the flit arrives in.
    pub slot: SlotId,
}

/// Mail for one region: all that others send it while a window is simulated. Nothing of it arrives before the
/// window ends, so it is enough that the region reads it before it simulates the window after.
#[derive(Default)]
pub struct Mail {
    /// Packets, in the order in which they were sent. As no list holds them on the way, the field `next` of
    /// each is the slot in which it arrives.
    pub packets: Vec<Packet>,
    /// Flits that are no heads, where flits travel by themselves.
    pub flits: Vec<FlitByMail>,
    /// Notes of messages whose first packet has set out. Those of one source are in the order in which it has
    /// sent them.
    pub messages: Vec<Message>,
    /// Credits, in the order in which they were sent.
    pub credits: Vec<CreditByMail>,
}

impl Mail {
    /// Whether there is no mail.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
            && self.flits.is_empty()
            && self.messages.is_empty()
            && self.credits.is_empty()
    }

    /// Whether the mail has no memory: it was never written to, or its memory has been sent away with what
    /// was in it.
    fn has_no_memory(&self) -> bool {
        self.packets.capacity() == 0
            && self.flits.capacity() == 0
            && self.messages.capacity() == 0
            && self.credits.capacity() == 0
    }

    /// Reverses the order of the mail, for tests that results do not depend on that order. Only the messages
    /// of one source stay in order: their receiver counts on it, and it holds because in a window one thread
    /// simulates the source.
    #[cfg(feature = "trace")]
    pub fn reverse(&mut self) {
        self.packets.reverse();
        self.flits.reverse();
        self.messages.sort_by_key(|message| std::cmp::Reverse(message.from));
        self.credits.reverse();
    }
}

/// State of a thread, lent to the region that it simulates. A region that no thread simulates has a default
/// one instead, which is never used.
#[derive(Default)]
pub struct Worker<O> {
    /// The observer that is told what happens in the regions that the thread simulates.
    pub observer: O,
    /// Packet-hops since the beginning of the run: grants that this thread has simulated.
    pub packet_hops: u64,
    /// How often, since the beginning of the run, this thread has asked routing to choose an output for a
    /// head.
    pub decisions: u64,
    /// The mail that has left the regions of this thread and has not been handed over, by receiving region.
    pub mail: Vec<Mail>,
    /// Empty mail that has been read: its memory is used again, so that a window allocates nothing.
    pub spare: Vec<Mail>,
}

impl<O> Worker<O> {
    /// The mail for a region, to be added to.
    pub fn mail_to(&mut self, region: u16) -> &mut Mail {
        let mail = &mut self.mail[region as usize];
        if mail.has_no_memory() {
            *mail = self.spare.pop().unwrap_or_default();
        }
        mail
    }
}
