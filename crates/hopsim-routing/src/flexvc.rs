//! FlexVC: see [`Config`].

use super::Leg;
use super::path::{G, L, vcs_needed};
use super::view::Draws;
use hopsim_network::by_class::ByClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kinds of hops that differ in what may follow them.
const LEGS: usize = 7;

/// Which of the allowed VCs a packet asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The least occupied, of equal ones the highest (join the shortest queue).
    #[default]
    Shortest,
    /// The highest with room for the packet.
    Highest,
    /// The lowest with room for the packet.
    Lowest,
    /// Any with room for the packet, at random.
    Random,
}

/// All VCs stand in one order: spare local ones, spare global ones, then one for each link of the reference path of the
/// mechanism; VCs for replies alone follow in the same way. The reference path is the longest one of the mechanism (minimal `lgl`,
/// through a group and `olm` `lglgl`, through a router `lgllgl`, `par` `llgllgl`); if there are too few VCs for it, with `par`
/// `lgllgl` or `lglgl`, and in the end `lgl`. A hop may use any VC of its link class below which the rest
/// of the packet's path still fits in increasing order. If the whole path fits the hop is safe; if not, but the minimal
/// path from the next router does, it is opportunistic: it is taken only while the next buffer has room for the
/// packet, which can always go on minimally from there. So spare VCs serve every hop, against head-of-line blocking, and
/// mechanisms that can return to the minimal path at every hop need fewer VCs than their paths have links: in-transit
/// misrouting 3 local and 2 global ones instead of 5/2. Detours that are fixed at the source must be safe.
///
/// The rest of the path is taken at its longest. Towards the destination it is `gl` behind a local link in another group, `l`
/// behind a global link, nothing behind a local link in the destination's group. On the way to an intermediate group or router it
/// is what is left of the longest path of the mechanism, or `lgl` if that path does not fit. Behind a local misroute it is
/// `glgl` in the source group, `lgl` in an intermediate one, `l` in that of the destination.
///
/// No deadlock: after every hop a path in increasing order is left, a packet can always ask for it, and it never waits for
/// an opportunistic hop. The paths are the mechanism's, so there is no livelock where it has none.
///
/// Local and global VCs needed: minimal 2/1; detours through a group 3/2, through a router 4/2; `olm` and `par` 3/2. With
/// request-reply those are for requests, and at least 2/1 for replies alone (`router.cioq.vcs.reply`) come on top.
///
/// In a graph, a family of graphs or a HyperX whose VCs are by hop the VCs of a link are one order by themselves, and a hop may use any VC
/// above which there is one for each link behind it: of n VCs those below n − m where the rest of the path, with the detour that it may be on,
/// has m links. So hops share VCs beyond those of the longest path, and those that short paths leave over. For `minimal`, `ecmp`, `adaptive`,
/// `valiant` and `ugal`, whose paths are shortest ones to a router that is known, and without requests and replies. `adaptive` asks for the
/// output VC with most credits of all that it may use.
///
/// Replies may use the VCs of requests too, as their path goes on in the VCs for replies alone. Those must hold minimal
/// paths (2/1); with oblivious detours, which cannot return to the minimal path, the whole detour.
///
/// `hopsim explain` of the mechanism says how many VCs it needs; the reason of a refusal says which path does not fit.
///
/// Source: Fuentes et al., IPDPS 2017; Fuentes' thesis (2017), §5.2 (safe and opportunistic hops, tables 5.1 to 5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FlexVcManagement")]
pub struct Config {
    /// Which of the allowed VCs a packet asks for (VC selection function; thesis §5.3.6).
    #[serde(default)]
    pub selection: Selection,
}

/// Whether packets can follow a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The whole path fits in increasing order.
    Safe,
    /// Not the whole path, but after each of its hops the minimal one.
    Opportunistic,
    /// Some hop would leave no way out.
    Impossible,
}

/// All VCs of a network in their one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Class and VC by rank.
    ranks: Vec<(u8, u8)>,
    /// Ranks that requests and one-way packets may use.
    requests: usize,
}

impl Order {
    /// The order of `vcs` VCs of each class, the last `reply` of them for replies alone. `references` are the
    /// paths that may be laid out, preferred first; without one that fits nothing is laid out and all VCs are spare.
    pub fn new(vcs: ByClass<u8>, reply: ByClass<u8>, references: &[&[u8]]) -> Self {
        let mut ranks = Vec::new();
        let request = ByClass::from_fn(|class| vcs[class] - reply[class]);
        lay_out(&mut ranks, ByClass::default(), request, references);
        let requests = ranks.len();
        lay_out(&mut ranks, request, reply, references);
        Self { ranks, requests }
    }

    /// Ranks open to requests, or to replies.
    fn span(&self, reply: bool) -> usize {
        if reply { self.ranks.len() } else { self.requests }
    }

    /// The rank of the first link of `path` when the path is laid as high as possible, `None` if it does not fit.
    fn highest(&self, path: &[u8], reply: bool) -> Option<usize> {
        let mut rank = self.span(reply);
        for &class in path.iter().rev() {
            rank = (0..rank).rev().find(|&r| self.ranks[r].0 == class)?;
        }
        Some(rank)
    }

    /// The VCs of `class` (bits) from which `rest` fits; none if it does not fit at all.
    fn allowed(&self, class: u8, rest: &[u8], reply: bool) -> u16 {
        let end = self.highest(rest, reply).unwrap_or(0);
        self.ranks[..end].iter().filter(|r| r.0 == class).fold(0, |set, r| set | 1 << r.1)
    }

    /// Whether the links of `path` fit at all, for replies with the help of the VCs of requests.
    pub fn fits(&self, path: &[u8], reply: bool) -> bool {
        self.highest(path, reply).is_some()
    }

    /// Whether the links of `path` fit; `escapes` are the minimal paths from the routers after each of them. A reply must
    /// never have to wait for a VC that requests use, so only the VCs for replies alone make its path safe.
    pub fn support(&self, path: &[u8], escapes: &[&[u8]], reply: bool) -> Support {
        let lowest = if reply { self.requests } else { 0 };
        if self.highest(path, reply).is_some_and(|rank| rank >= lowest) {
            return Support::Safe;
        }
        let possible =
            path.iter().zip(escapes).all(|(&class, escape)| self.allowed(class, escape, reply) != 0);
        if possible { Support::Opportunistic } else { Support::Impossible }
    }
}

/// What packets can follow with some VCs in `network`, as thesis tables 5.1 to 5.4 list it: the kind of path (of replies,
/// where there are VCs for them alone, with the suffix `_reply`) and how far it is supported.
pub fn supported(network: Example, vcs: ByClass<u8>, reply: ByClass<u8>) -> Vec<(String, Support)> {
    let (references, kinds) = network.paths();
    let order = Order::new(vcs, reply, references);
    let mut all = Vec::new();
    let with_replies = reply != ByClass::default();
    for (suffix, is_reply) in [("", false), ("_reply", true)] {
        for &(name, path, escapes) in kinds.iter().filter(|_| with_replies || !is_reply) {
            all.push((format!("{name}{suffix}"), order.support(path, escapes, is_reply)));
        }
    }
    all
}

/// Networks whose longest paths stand for their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// Local and global links alternate as in a dragonfly.
    Dragonfly,
    /// Two links of one kind to every router; all VCs are local ones.
    DiameterTwo,
}

/// Name, longest path, and the minimal paths left after each of its links.
type Kind = (&'static str, &'static [u8], &'static [&'static [u8]]);

impl Example {
    fn paths(self) -> (&'static [&'static [u8]], [Kind; 3]) {
        match self {
            Self::Dragonfly => (
                &[&[L, L, G, L, L, G, L], &[L, G, L, L, G, L], &[L, G, L, G, L], &[L, G, L]],
                [
                    ("minimal", &[L, G, L], &[&[G, L], &[L], &[]]),
                    (
                        "valiant",
                        &[L, G, L, L, G, L],
                        &[&[L, G, L], &[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
                    ),
                    (
                        "in_transit",
                        &[L, L, G, L, L, G, L],
                        &[&[G, L], &[L, G, L], &[L, G, L], &[L, G, L], &[G, L], &[L], &[]],
                    ),
                ],
            ),
            Self::DiameterTwo => (
                &[&[L; 5], &[L; 4], &[L; 3], &[L; 2]],
                [
                    ("minimal", &[L; 2], &[&[L], &[]]),
                    ("valiant", &[L; 4], &[&[L; 2], &[L; 2], &[L], &[]]),
                    ("in_transit", &[L; 5], &[&[L], &[L; 2], &[L; 2], &[L], &[]]),
                ],
            ),
        }
    }
}

/// Appends `count` VCs of each class, numbered from `first`: spare ones, then the first reference that fits.
fn lay_out(ranks: &mut Vec<(u8, u8)>, first: ByClass<u8>, count: ByClass<u8>, references: &[&[u8]]) {
    let fits = |path: &&&[u8]| vcs_needed(path).iter().zip(&count).all(|(needed, count)| needed <= count);
    let reference = references.iter().find(fits).copied().unwrap_or_default();
    let needed = vcs_needed(reference);
    let mut next = first;
    for (class, next) in next.iter_mut().enumerate() {
        let spare = *next..first[class] + count[class] - needed[class];
        ranks.extend(spare.clone().map(|vc| (class as u8, vc)));
        *next = spare.end;
    }
    for &class in reference {
        ranks.push((class, next[class as usize]));
        next[class as usize] += 1;
    }
}

/// The VCs that every kind of hop may use.
#[derive(Clone, Debug)]
pub struct FlexVc {
    /// `highest[reply][leg][class]` -- constant.
    highest: [[ByClass<u8>; LEGS]; 2],
    selection: Selection,
}

impl FlexVc {
    /// The sets of an order. `detour` is the longest nonminimal path of the mechanism, empty if there is none.
    pub fn new(order: &Order, detour: &[u8], selection: Selection) -> Self {
        let legs = |reply| {
            let mut highest = [ByClass::default(); LEGS];
            for leg in Leg::ALL {
                for class in [L, G] {
                    let planned = leg.planned(detour, class).filter(|_| order.fits(detour, reply));
                    let set = order.allowed(class, planned.unwrap_or(leg.escape(class)), reply);
                    // VCs are numbered in the order of their ranks.
                    debug_assert_eq!(set.count_ones(), set.trailing_ones(), "{leg:?} {class}");
                    highest[leg as usize][class as usize] = set.trailing_ones().saturating_sub(1) as u8;
                }
            }
            highest
        };
        Self { highest: [legs(false), legs(true)], selection }
    }

    /// Every hop may use all of so many VCs of the class of its link.
    pub fn any(vcs: ByClass<u8>) -> Self {
        let highest = vcs.map(|vcs| vcs.saturating_sub(1));
        Self { highest: [[highest; LEGS]; 2], selection: Selection::Shortest }
    }

    /// Of every hop the highest VC is said elsewhere.
    pub fn of_hops(selection: Selection) -> Self {
        Self { selection, ..Self::any(ByClass::default()) }
    }

    /// The highest VC that a hop may use; it may use all below, too.
    #[inline]
    pub fn highest(&self, leg: Leg, class: u8, reply: bool) -> u8 {
        self.highest[usize::from(reply)][leg as usize][class as usize]
    }

    /// Whether the selection is random.
    pub fn draws(&self) -> bool {
        self.selection == Selection::Random
    }

    /// Whether the selection is [`roomiest`].
    #[inline]
    pub fn joins_shortest(&self) -> bool {
        self.selection == Selection::Shortest
    }

    /// The VC of 0 … `highest` of `port` that the other selections pick, given their credits and the length of the packet
    /// \[phits\]; it may lack room if all do. What is drawn does not depend on which other ports are asked about in the
    /// same attempt.
    pub fn select_by_rank(
        &self,
        port: usize,
        highest: u8,
        (credits, length): (impl Fn(u8) -> u32, u32),
        draws: &mut impl Draws,
    ) -> u8 {
        let roomy = || (0..=highest).filter(|&vc| credits(vc) >= length);
        let vc = match self.selection {
            Selection::Shortest | Selection::Highest => roomy().next_back().or(Some(0)),
            Selection::Lowest => roomy().next(),
            Selection::Random => match roomy().count() {
                0 => None,
                1 => roomy().next(),
                count => roomy().nth(draws.attempt().at(port as u64).below(count as u32) as usize),
            },
        };
        vc.unwrap_or(highest)
    }
}

/// The VC of 0 … `highest` with most room, given their credits and those of an empty buffer (`most`); of equal ones the
/// highest.
#[inline]
pub fn roomiest((highest, most): (u8, u32), credits: impl Fn(u8) -> u32) -> u8 {
    let (mut best, mut room) = (highest, credits(highest));
    let mut vc = highest;
    while room < most && vc > 0 {
        vc -= 1;
        let credits = credits(vc);
        if credits > room {
            (best, room) = (vc, credits);
        }
    }
    best
}

impl Leg {
    const ALL: [Self; LEGS] = [
        Self::ToGroup,
        Self::Final,
        Self::Detour,
        Self::Inside,
        Self::MisrouteSource,
        Self::MisrouteInside,
        Self::MisrouteFinal,
    ];

    /// The longest minimal path that can be left after a hop of this kind over a link of a class.
    fn escape(self, class: u8) -> &'static [u8] {
        match (self, class) {
            (Self::ToGroup, L) => &[G, L],
            (Self::ToGroup | Self::MisrouteFinal, _) => &[L],
            (Self::Final, _) => &[],
            (Self::MisrouteSource, L) => &[G, L, G, L],
            _ => &[L, G, L],
        }
    }

    /// What is left of the detour `path` (source group, intermediate group, destination group) after such a hop.
    fn planned(self, path: &[u8], class: u8) -> Option<&[u8]> {
        let global = path.iter().position(|&class| class == G)?;
        let after = &path[global + 1..];
        match (self, class) {
            (Self::Detour, L) => path.strip_prefix(&[L]),
            (Self::Detour, _) => Some(after),
            (Self::Inside, _) => after.strip_prefix(&[L]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of local and global VCs, some of them for replies alone.
    fn order(vcs: [u8; 2], reply: [u8; 2], references: &[&[u8]]) -> Order {
        Order::new(vcs.into(), reply.into(), references)
    }

    /// Extra local, first mandatory, … of the thesis as a list of VCs.
    fn list(highest: u8) -> Vec<u8> {
        (0..=highest).collect()
    }

    #[test]
    fn a_hop_may_use_every_vc_below_the_rest_of_its_path() {
        // Minimal with 4/2 VCs: 2 spare local ones and 1 spare global one, then l2 g1 l3.
        let order = order([4, 2], [0, 0], &[&[L, G, L]]);
        let flex = FlexVc::new(&order, &[], Selection::Shortest);
        assert_eq!(list(flex.highest(Leg::ToGroup, 0, false)), [0, 1, 2]);
        assert_eq!(list(flex.highest(Leg::ToGroup, 1, false)), [0, 1]);
        assert_eq!(list(flex.highest(Leg::Final, 0, false)), [0, 1, 2, 3]);
    }

    #[test]
    fn safe_valiant_hops_are_those_of_the_papers() {
        // l0 g0 l1 l2 g1 l3: towards the intermediate group the first VCs, inside it the second local one.
        let order = order([4, 2], [0, 0], &[&[L, G, L, L, G, L]]);
        let flex = FlexVc::new(&order, &[L, G, L, L, G, L], Selection::Shortest);
        assert_eq!(list(flex.highest(Leg::Detour, 0, false)), [0]);
        assert_eq!(list(flex.highest(Leg::Detour, 1, false)), [0]);
        assert_eq!(list(flex.highest(Leg::Inside, 0, false)), [0, 1]);
        assert_eq!(list(flex.highest(Leg::ToGroup, 0, false)), [0, 1, 2]);
        assert_eq!(list(flex.highest(Leg::ToGroup, 1, false)), [0, 1]);
    }

    #[test]
    fn opportunistic_hops_leave_room_for_the_minimal_path() {
        // 3/2 VCs, l0 g0 l1 g1 l2: inside the intermediate group only l0 is left, then l1 g1 l2.
        let order = order([3, 2], [0, 0], &[&[L, G, L, G, L]]);
        let flex = FlexVc::new(&order, &[L, G, L, G, L], Selection::Shortest);
        assert_eq!(list(flex.highest(Leg::MisrouteSource, 0, false)), [0]);
        assert_eq!(list(flex.highest(Leg::Detour, 1, false)), [0]);
        assert_eq!(list(flex.highest(Leg::MisrouteInside, 0, false)), [0]);
        assert_eq!(list(flex.highest(Leg::MisrouteFinal, 0, false)), [0, 1]);
    }

    /// Minimal, Valiant and in-transit paths, of requests and then of replies: safe, opportunistic or impossible.
    fn row(network: Example, vcs: [u8; 2], reply: [u8; 2]) -> String {
        let letter = |(_, support)| match support {
            Support::Safe => 's',
            Support::Opportunistic => 'o',
            Support::Impossible => 'X',
        };
        supported(network, vcs.into(), reply.into()).into_iter().map(letter).collect()
    }

    #[test]
    fn tables_5_1_and_5_2_of_the_thesis_come_out() {
        let alone = |vcs| row(Example::DiameterTwo, [vcs, 0], [0; 2]);
        assert_eq!([2, 3, 4, 5].map(alone), ["sXX", "soo", "sso", "sss"]);
        let both = |(request, reply)| row(Example::DiameterTwo, [request + reply, 0], [reply, 0]);
        let pairs = [(2, 2), (3, 2), (3, 3), (4, 4), (5, 5)];
        assert_eq!(pairs.map(both), ["sXXsoo", "soosoo", "soosoo", "ssosso", "ssssss"]);
    }

    #[test]
    fn tables_5_3_and_5_4_of_the_thesis_come_out() {
        let alone = |vcs| row(Example::Dragonfly, vcs, [0; 2]);
        let sets = [[2, 1], [3, 1], [2, 2], [3, 2], [4, 2], [5, 2]];
        assert_eq!(sets.map(alone), ["sXX", "sXX", "sXX", "soo", "sso", "sss"]);
        let both = |(vcs, reply)| row(Example::Dragonfly, vcs, reply);
        let sets = [([4, 2], [2, 1]), ([5, 3], [2, 1]), ([8, 4], [4, 2]), ([10, 4], [5, 2])];
        assert_eq!(sets.map(both), ["sXXsoo", "soosoo", "ssosso", "ssssss"]);
    }

    #[test]
    fn replies_use_the_vcs_of_requests_too() {
        let order = order([4, 2], [2, 1], &[&[L, G, L]]);
        let flex = FlexVc::new(&order, &[], Selection::Shortest);
        assert_eq!(list(flex.highest(Leg::ToGroup, 0, false)), [0]);
        assert_eq!(list(flex.highest(Leg::Final, 0, false)), [0, 1]);
        assert_eq!(list(flex.highest(Leg::ToGroup, 0, true)), [0, 1, 2]);
        assert_eq!(list(flex.highest(Leg::ToGroup, 1, true)), [0, 1]);
        assert_eq!(list(flex.highest(Leg::Final, 0, true)), [0, 1, 2, 3]);
    }
}
