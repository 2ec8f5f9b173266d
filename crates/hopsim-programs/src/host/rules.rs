//! What is the same for all hosts of a job: how long things take there, and how messages become packets.

use crate::collectives::Choices;
use crate::host::letter::Cycle;
use crate::units::Fraction;
use serde::{Deserialize, Serialize};

/// When an eager send is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendCompletes {
    /// When the send is issued: its payload has been copied.
    #[default]
    Buffered,
    /// When the last phit of the send has left the node.
    Injected,
}

/// The rules of the hosts of a job.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Bytes of a phit.
    pub phit: Fraction,
    /// Cycles that a nanosecond of recorded computation takes, or what a graph counts in instead; `None`: computations take no
    /// time.
    pub cycles_per_nanosecond: Option<Fraction>,
    /// What the processor spends on a message that it sends, o of `LogGOPS` \[cycles\].
    pub send_overhead: Cycle,
    /// What the processor spends on a message that it receives \[cycles\].
    pub receive_overhead: Cycle,
    /// Least time between the beginnings of two messages of a node, g of `LogGOPS` \[cycles\].
    pub gap: Cycle,
    /// Packets that the network interface of a node holds; a packet is generated when it enters. `usize::MAX`: any number.
    pub nic_queue: usize,
    /// The largest payload of an eager message: larger messages wait until they are received, by rendezvous \[bytes\].
    pub eager_limit: Option<u64>,
    /// When an eager send is done.
    pub send_completes: SendCompletes,
    /// Longest packet, its header included \[phits\].
    pub packet_length: u32,
    /// The header of every packet \[phits\].
    pub header_length: u32,
    /// Whether the last packet of a message is as long as the others.
    pub last_packet_full: bool,
    /// Whether any number of packets leave a node in a cycle.
    pub has_unlimited_wire: bool,
    /// Whether receives from any source take the first message that fits; otherwise they name the recorded source.
    pub first_of_any_source: bool,
    /// Algorithm of every collective operation.
    pub collectives: Choices,
}

impl Default for Rules {
    /// A cycle of 1 ns, phits of 4 B, packets of up to 16 phits.
    fn default() -> Self {
        Self {
            phit: Fraction { numerator: 4, denominator: 1 },
            cycles_per_nanosecond: Some(Fraction::ONE),
            send_overhead: 0,
            receive_overhead: 0,
            gap: 0,
            nic_queue: usize::MAX,
            eager_limit: None,
            send_completes: SendCompletes::Buffered,
            packet_length: 16,
            header_length: 0,
            last_packet_full: false,
            has_unlimited_wire: false,
            first_of_any_source: false,
            collectives: Choices::default(),
        }
    }
}

/// The packets of a message: all of `length` phits but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    /// The number of packets; at least 1.
    pub count: u64,
    /// Phits of each packet but the last.
    pub length: u32,
    /// Phits of the last packet.
    pub last: u32,
}

impl Packets {
    /// Phits of all packets.
    pub fn phits(&self) -> u64 {
        (self.count - 1) * u64::from(self.length) + u64::from(self.last)
    }

    /// Length of packet `index` \[phits\].
    pub fn length_of(&self, index: u64) -> u32 {
        if index + 1 == self.count { self.last } else { self.length }
    }
}

impl Rules {
    /// The packets of a message with so much payload \[bytes\], a phit at least.
    pub fn packets(&self, bytes: u64) -> Packets {
        let Fraction { numerator, denominator } = self.phit;
        let payload =
            (u128::from(bytes) * u128::from(denominator)).div_ceil(u128::from(numerator)).max(1) as u64;
        let room = u64::from(self.packet_length - self.header_length);
        let count = payload.div_ceil(room);
        let last = (payload - (count - 1) * room) as u32 + self.header_length;
        let last = if self.last_packet_full { self.packet_length } else { last };
        Packets { count, length: self.packet_length, last }
    }

    /// Cycles of a computation of so many nanoseconds after others that left a `remainder`, which it updates. So rounding down
    /// never adds up.
    pub fn compute_cycles(&self, nanoseconds: u64, remainder: &mut u64) -> Cycle {
        let Some(Fraction { numerator, denominator }) = self.cycles_per_nanosecond else { return 0 };
        let exact = u128::from(nanoseconds) * u128::from(numerator) + u128::from(*remainder);
        *remainder = (exact % u128::from(denominator)) as u64;
        Cycle::try_from(exact / u128::from(denominator)).unwrap_or(Cycle::MAX)
    }

    /// Whether a message of so many bytes is sent before the receiver asks for it.
    pub fn is_eager(&self, bytes: u64) -> bool {
        self.eager_limit.is_none_or(|limit| bytes <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fill_packets_from_the_first() {
        let rules = Rules { packet_length: 65, header_length: 1, ..Rules::default() };
        assert_eq!(rules.packets(0), Packets { count: 1, length: 65, last: 2 });
        assert_eq!(rules.packets(256), Packets { count: 1, length: 65, last: 65 });
        assert_eq!(rules.packets(257), Packets { count: 2, length: 65, last: 2 });
        assert_eq!(rules.packets(4000).phits(), 1000 + 16);
        let full = Rules { last_packet_full: true, ..rules };
        assert_eq!(full.packets(257).phits(), 130);
    }

    #[test]
    fn rounding_of_computations_never_adds_up() {
        let rate = Fraction::new(3, 7);
        let rules = Rules { cycles_per_nanosecond: rate, ..Rules::default() };
        let mut remainder = 0;
        let total: u32 = (0..70).map(|_| rules.compute_cycles(1, &mut remainder)).sum();
        assert_eq!((total, remainder), (30, 0));
    }
}
