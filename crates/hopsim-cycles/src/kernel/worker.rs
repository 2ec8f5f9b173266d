//! What a thread has of its own, and lends to the region that it simulates: counters, and what leaves the region.

use crate::kernel::ids::SlotId;
use crate::kernel::message::Message;
use crate::kernel::packet::Packet;
use crate::kernel::wires::Credit;

/// What crosses into a region, and is due when the other regions have come as far as this one.
#[derive(Default)]
pub struct Mail {
    /// Packets, in the order in which they were sent. The link of a packet is the slot that it arrives in.
    pub packets: Vec<Packet>,
    /// Flits that are no heads, where flits travel by themselves: the cycles in which they arrive, and their slots.
    pub flits: Vec<(u32, SlotId)>,
    /// Messages whose first packet has set out; the messages of a source are in the order in which it has sent them.
    pub messages: Vec<Message>,
    /// Credits, with the cycles in which they are due.
    pub credits: Vec<(u32, Credit)>,
}

impl Mail {
    /// Whether there is no mail.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
            && self.flits.is_empty()
            && self.messages.is_empty()
            && self.credits.is_empty()
    }

    /// Whether the mail has no memory of its own yet.
    fn is_new(&self) -> bool {
        self.packets.capacity() == 0
            && self.flits.capacity() == 0
            && self.messages.capacity() == 0
            && self.credits.capacity() == 0
    }

    /// Turns the order of the mail round. Messages of one source stay in order: it has always sent them by one thread.
    #[cfg(feature = "trace")]
    pub fn reverse(&mut self) {
        self.packets.reverse();
        self.flits.reverse();
        self.messages.sort_by_key(|message| std::cmp::Reverse(message.from));
        self.credits.reverse();
    }
}

/// What a thread has of its own. The worker of a region which nobody simulates hears nothing.
#[derive(Default)]
pub struct Worker<O> {
    /// Who hears what happens in the regions that the thread simulates.
    pub observer: O,
    /// Grants since the beginning of the run.
    pub packet_hops: u64,
    /// Decisions of heads that decide at every attempt, since the beginning of the run.
    pub decisions: u64,
    /// The mail that the region sends, by receiving region.
    pub mail: Vec<Mail>,
    /// Mail that has been read: its memory is used again.
    pub spare: Vec<Mail>,
}

impl<O> Worker<O> {
    /// The mail to a region.
    pub fn mail_to(&mut self, region: u16) -> &mut Mail {
        let mail = &mut self.mail[region as usize];
        if mail.is_new() {
            *mail = self.spare.pop().unwrap_or_default();
        }
        mail
    }
}
