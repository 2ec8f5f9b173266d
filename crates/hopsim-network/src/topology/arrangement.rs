//! Which groups of a dragonfly the global links of a group lead to: see [`Arrangement`].

use hopsim_random::{Purpose, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the global links of a group are spread over the other groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// Slot s of group g leads to group g − s − 1 (mod groups): the last router of a group holds the links to the
    /// next h groups.
    #[default]
    Palmtree,
    /// Slot s leads to the s-th group, counting all but the own one.
    Consecutive,
    /// Every group has the links of `consecutive` in an order of its own, drawn at random: links to neighbouring groups stand at different
    /// routers in different groups, and so do the links of a trunk (Camarero, Vallejo & Beivide, ACM TACO 11(4), 2014).
    Random(RandomArrangement),
}

/// What a random arrangement is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomArrangement {
    /// Which of all random arrangements it is: the same one with all seeds of a run.
    #[serde(default = "one")]
    pub instance: u64,
}

fn one() -> u64 {
    1
}

/// Where the global links of all groups lead to.
#[derive(Clone, Debug)]
pub struct Links {
    arrangement: Arrangement,
    groups: u32,
    /// Links of a group that are dealt to the other groups in turn, as many to each.
    dealt: u32,
    /// The first slots of a group, over which these links are spread evenly.
    spread: u32,
    /// Residues (offset − 1) of the slots behind those.
    spare: Vec<u32>,
    /// Orders of the slots of all groups, where these are drawn at random.
    orders: Option<SlotOrders>,
}

impl Links {
    /// The links of so many groups with so many slots each, `trunk` of them between every two groups, or without it as many as there
    /// are slots for.
    pub fn new(arrangement: Arrangement, (groups, slots): (u32, u32), trunk: Option<u32>) -> Self {
        let others = groups - 1;
        let dealt = trunk.unwrap_or(slots / others) * others;
        let orders = match arrangement {
            Arrangement::Random(random) => Some(SlotOrders::draw(random, (groups, slots))),
            Arrangement::Palmtree | Arrangement::Consecutive => None,
        };
        let (spread, spare) = match trunk {
            Some(_) => (slots, Vec::new()),
            None => (dealt, spare_residues(slots, groups)),
        };
        Self { arrangement, groups, dealt, spread, spare, orders }
    }

    /// Group and slot at the other end of `slot` of `group`, `None` if the slot is unplugged.
    pub fn peer(&self, group: u32, slot: u32) -> Option<(u32, u32)> {
        let Some(orders) = &self.orders else { return self.peer_in_order(group, slot) };
        let (peer, back) = self.peer_in_order(group, orders.link_at(group, slot))?;
        Some((peer, orders.place_of(peer, back)))
    }

    /// Group and slot at the other end of a slot, before groups are given orders of their own.
    fn peer_in_order(&self, group: u32, slot: u32) -> Option<(u32, u32)> {
        let others = self.groups - 1;
        let Some(link) = self.link_at(slot) else { return self.spare_peer(group, slot) };
        let (round, residue) = (link / others, link % others);
        let (peer, back) = match self.arrangement {
            Arrangement::Palmtree => (self.before(group, residue + 1), self.dealt - 1 - link),
            Arrangement::Consecutive | Arrangement::Random(_) => {
                let peer = if residue < group { residue } else { residue + 1 };
                (peer, round * others + if group < peer { group } else { group - 1 })
            }
        };
        Some((peer, self.slot_of(back)))
    }

    /// Group and slot at the other end of a slot behind those over which links are spread.
    fn spare_peer(&self, group: u32, slot: u32) -> Option<(u32, u32)> {
        let rank = slot.checked_sub(self.spread)? as usize;
        let offset = self.spare.get(rank)? + 1;
        Some((self.before(group, offset), self.spread + (self.spare.len() - 1 - rank) as u32))
    }

    /// The group that is so many before `group`.
    fn before(&self, group: u32, offset: u32) -> u32 {
        (group + self.groups - offset) % self.groups
    }

    /// The slot of a link that is dealt.
    fn slot_of(&self, link: u32) -> u32 {
        link * self.spread / self.dealt
    }

    /// The link at a slot, one of those that are dealt.
    fn link_at(&self, slot: u32) -> Option<u32> {
        let link = (slot * self.dealt).div_ceil(self.spread);
        (link < self.dealt && self.slot_of(link) == slot).then_some(link)
    }
}

/// An order of its own for the slots of every group.
#[derive(Clone, Debug)]
struct SlotOrders {
    slots: u32,
    /// The slot whose link stands at a slot, by group · slots + slot.
    link_at: Vec<u32>,
    /// The slot at which the link of a slot stands, by group · slots + slot.
    place_of: Vec<u32>,
}

impl SlotOrders {
    fn draw(config: RandomArrangement, (groups, slots): (u32, u32)) -> Self {
        let mut orders = Self { slots, link_at: Vec::new(), place_of: vec![0; (groups * slots) as usize] };
        for group in 0..groups {
            let mut links: Vec<u32> = (0..slots).collect();
            Stream::new(config.instance, Purpose::Arrangement, u64::from(group)).shuffle(&mut links);
            for (slot, &link) in (0..).zip(&links) {
                orders.place_of[(group * slots + link) as usize] = slot;
            }
            orders.link_at.extend(links);
        }
        orders
    }

    fn link_at(&self, group: u32, slot: u32) -> u32 {
        self.link_at[(group * self.slots + slot) as usize]
    }

    fn place_of(&self, group: u32, link: u32) -> u32 {
        self.place_of[(group * self.slots + link) as usize]
    }
}

/// Residues served by the slots left after the last full round: a set closed under r → groups − 2 − r, so
/// that both ends of each extra link agree; one slot per group stays unplugged when no such set fits.
fn spare_residues(slots: u32, groups: u32) -> Vec<u32> {
    let others = groups - 1;
    let left = slots % others;
    let half = left / 2;
    let mut residues: Vec<u32> = (0..half).collect();
    if left % 2 == 1 && others % 2 == 1 {
        residues.push(others / 2);
    }
    residues.extend((0..half).rev().map(|r| others - 1 - r));
    residues
}
