//! Packets given one by one, in place of a pattern and a process: see [`ListedPacket`].

use super::PACKET_LENGTHS;
use hopsim_network::error::{ConfigError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The packets of a job: a list, or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PacketListConfig {
    /// The packets, written here.
    Listed(Vec<ListedPacket>),
    /// The packets, in a file.
    Table(PacketFile),
}

impl PacketListConfig {
    /// The packets; none while they are in a file that has not been read.
    pub fn packets(&self) -> &[ListedPacket] {
        match self {
            Self::Listed(packets) => packets,
            Self::Table(_) => &[],
        }
    }
}

/// Packets in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketFile {
    /// A table of comma-separated values, relative to the directory of the experiment. Its first line names the columns in any
    /// order: `cycle`, `source`, `destination`, and `length` if it is given. What is empty has its default.
    pub file: String,
}

/// A packet that is given, and not drawn. Its source generates it in this cycle; then it waits in the source queue like any other
/// packet. Packets of one source and cycle are generated in the order of the list. So the packets of another simulator, or those that
/// were seen in a real network, are sent again at the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedPacket {
    /// Cycle in which the packet is generated, counted from the start of the job \[cycles\].
    #[schemars(example = 10)]
    pub cycle: u32,
    /// The node that sends, one of the job.
    #[schemars(example = 0)]
    pub source: u32,
    /// The node that receives, another one of the job.
    #[schemars(example = 1)]
    pub destination: u32,
    /// Length of the packet; default `packet_length` \[phits\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *PACKET_LENGTHS.start(), max = *PACKET_LENGTHS.end()))]
    pub length: Option<u32>,
}

/// A packet of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenPacket {
    /// Cycle in which the packet is generated \[cycles\].
    pub at: u32,
    /// The node that receives.
    pub destination: u32,
    /// Length \[phits\].
    pub length: u32,
}

/// The packets of a job, by the node that sends them and in the order in which it generates them.
#[derive(Clone, Debug)]
pub struct PacketList {
    packets: Vec<GivenPacket>,
    /// Where the packets of a node begin, by node, and behind the last node where they end.
    begins: Vec<u32>,
}

/// What a list of packets must agree with.
#[derive(Clone, Debug)]
pub struct Limits<'a> {
    /// The nodes of the job, ascending.
    pub nodes: &'a [u32],
    /// Cycle in which the job starts.
    pub start: u32,
    /// Cycle in which the run ends.
    pub end: u32,
    /// Whether nodes may send to themselves.
    pub to_itself: bool,
    /// Length of packets for which none is given \[phits\].
    pub length: u32,
}

impl PacketList {
    /// The packets of a list. Refuses an empty one, and packets that nobody could send in the run.
    pub fn new(list: &[ListedPacket], limits: &Limits<'_>) -> Result<Self, ConfigError> {
        if list.is_empty() {
            return Err(ConfigError::new("", "names no packet")
                .valid("a list of { cycle, source, destination, length } tables, or a pattern"));
        }
        for (index, packet) in list.iter().enumerate() {
            packet.check(limits).map_err(|error| error.within(&index.to_string()))?;
        }
        let mut order: Vec<&ListedPacket> = list.iter().collect();
        order.sort_by_key(|packet| (packet.source, packet.cycle));
        let beyond = limits.nodes.last().map_or(0, |&last| last + 1);
        let before = |node: u32| order.partition_point(|packet| packet.source < node) as u32;
        let given = |packet: &&ListedPacket| GivenPacket {
            at: limits.start + packet.cycle,
            destination: packet.destination,
            length: packet.length.unwrap_or(limits.length),
        };
        Ok(Self { begins: (0..=beyond).map(before).collect(), packets: order.iter().map(given).collect() })
    }

    /// The packets of a node, in the order in which it generates them.
    pub fn of(&self, node: u32) -> &[GivenPacket] {
        let place = node as usize;
        match (self.begins.get(place), self.begins.get(place + 1)) {
            (Some(&begin), Some(&end)) => &self.packets[begin as usize..end as usize],
            _ => &[],
        }
    }

    /// The packet of this number among those of a node, if it has so many.
    #[inline]
    pub fn packet(&self, node: u32, number: u32) -> Option<GivenPacket> {
        self.of(node).get(number as usize).copied()
    }

    /// Phits that are generated in some cycles.
    pub fn phits(&self, cycles: Range<u32>) -> u64 {
        let within = self.packets.iter().filter(|packet| cycles.contains(&packet.at));
        within.map(|packet| u64::from(packet.length)).sum()
    }

    /// The lengths of the packets, each once and ascending, with their numbers of packets.
    pub fn lengths(&self) -> Vec<(u32, u32)> {
        let mut lengths: Vec<u32> = self.packets.iter().map(|packet| packet.length).collect();
        lengths.sort_unstable();
        lengths.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u32)).collect()
    }
}

impl ListedPacket {
    /// Refuses a packet that nobody could send.
    fn check(&self, limits: &Limits<'_>) -> Result<(), ConfigError> {
        for (key, node) in [("source", self.source), ("destination", self.destination)] {
            if limits.nodes.binary_search(&node).is_err() {
                return Err(ConfigError::new(key, "the job has no such node")
                    .value(node)
                    .valid("the number of a node of the job"));
            }
        }
        if self.source == self.destination && !limits.to_itself {
            return Err(ConfigError::new("destination", "nodes do not send to themselves")
                .value(self.destination)
                .valid("another node of the job, or semantics.self_traffic = \"router\""));
        }
        if u64::from(limits.start) + u64::from(self.cycle) >= u64::from(limits.end) {
            let last = (u64::from(limits.end) - 1).saturating_sub(limits.start.into());
            return Err(ConfigError::new("cycle", "the run ends before")
                .value(self.cycle)
                .valid(format!("0 … {last}, or a longer measure.cycles")));
        }
        self.length.map_or(Ok(()), |length| within(PACKET_LENGTHS, length, "length"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(cycle: u32, source: u32, destination: u32, length: u32) -> ListedPacket {
        ListedPacket { cycle, source, destination, length: Some(length).filter(|&length| length > 0) }
    }

    const LIMITS: Limits<'_> =
        Limits { nodes: &[1, 2, 5], start: 100, end: 200, to_itself: false, length: 8 };

    #[test]
    fn a_node_sends_its_packets_by_cycle_and_those_of_a_cycle_in_the_order_of_the_list() {
        let all = [packet(9, 5, 1, 0), packet(4, 1, 2, 3), packet(2, 5, 2, 1), packet(9, 5, 2, 7)];
        let list = PacketList::new(&all, &LIMITS).unwrap();
        let given = |(at, destination, length)| GivenPacket { at, destination, length };
        assert_eq!(list.of(5), [(102, 2, 1), (109, 1, 8), (109, 2, 7)].map(given));
        assert_eq!((list.of(1), list.of(2), list.of(6)), (&[given((104, 2, 3))][..], &[][..], &[][..]));
        assert_eq!((list.packet(5, 1), list.packet(5, 3)), (Some(given((109, 1, 8))), None));
        assert_eq!((list.phits(102..109), list.phits(0..300)), (4, 19));
        assert_eq!(list.lengths(), [(1, 1), (3, 1), (7, 1), (8, 1)]);
    }

    #[test]
    fn packets_that_nobody_could_send_are_refused() {
        let refused = |packet: ListedPacket| PacketList::new(&[packet], &LIMITS).unwrap_err().path;
        assert_eq!(refused(packet(0, 3, 1, 1)), "0.source");
        assert_eq!(refused(packet(0, 1, 0, 1)), "0.destination");
        assert_eq!(refused(packet(0, 1, 1, 1)), "0.destination");
        assert_eq!(refused(packet(100, 1, 2, 1)), "0.cycle");
        assert_eq!(refused(packet(0, 1, 2, 4097)), "0.length");
        assert!(PacketList::new(&[packet(99, 1, 2, 1)], &LIMITS).is_ok());
    }
}
