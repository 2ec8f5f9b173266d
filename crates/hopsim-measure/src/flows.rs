//! Sums by flow, which are those of regions of the network added.

use crate::waits::Waited;
use rustc_hash::FxHashMap;

/// A job, and the groups of source and destination.
pub type FlowKey = (u8, u32, u32);

/// Most flows that have a place each whether anything is sent or not: 1.5 MiB.
const FEW: usize = 1 << 15;

/// What the packets of each flow waited for.
#[derive(Clone, Debug)]
pub enum Flows {
    /// All flows that there might be, where they are few.
    Few {
        /// What the packets of each flow waited for, by number of the flow.
        waited: Vec<Waited>,
        /// Number of groups of the network.
        groups: usize,
    },
    /// Flows that packets were granted anything of, where there might be many.
    Many(FxHashMap<FlowKey, Waited>),
}

impl Flows {
    /// No waits yet, for so many jobs; `groups` are the groups of all routers.
    pub fn new(jobs: usize, groups: &[u32]) -> Self {
        let groups = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let count = groups.saturating_mul(groups).saturating_mul(jobs);
        if count > FEW {
            return Self::Many(FxHashMap::default());
        }
        Self::Few { waited: vec![Waited::default(); count], groups }
    }

    /// No waits yet of all these flows.
    #[must_use]
    pub fn empty(&self) -> Self {
        match self {
            Self::Few { waited, groups } => {
                Self::Few { waited: vec![Waited::default(); waited.len()], groups: *groups }
            }
            Self::Many(_) => Self::Many(FxHashMap::default()),
        }
    }

    /// What the packets of one flow waited for.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn of(&mut self, flow: FlowKey) -> &mut Waited {
        let (job, from, to) = flow;
        match self {
            Self::Few { waited, groups } => {
                &mut waited[(job as usize * *groups + from as usize) * *groups + to as usize]
            }
            Self::Many(flows) => flows.entry(flow).or_default(),
        }
    }

    /// Flows that packets were granted anything of, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (FlowKey, &Waited)> {
        let (few, groups, many) = match self {
            Self::Few { waited, groups } => (&waited[..], *groups, None),
            Self::Many(flows) => (&[][..], 1, Some(flows)),
        };
        let key = move |number: usize| {
            let (to, rest) = (number % groups, number / groups);
            ((rest / groups) as u8, (rest % groups) as u32, to as u32)
        };
        let few = few.iter().enumerate().filter(|(_, waited)| waited.packets > 0);
        let many = many.into_iter().flatten().map(|(&flow, waited)| (flow, waited));
        few.map(move |(number, waited)| (key(number), waited)).chain(many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_flows_and_many_are_told_alike() {
        let mut few = Flows::new(3, &[0, 0, 1, 2, 2]);
        let mut many = Flows::Many(FxHashMap::default());
        assert!(matches!(few, Flows::Few { groups: 3, .. }));
        assert!(matches!(Flows::new(1, &[0, 181]), Flows::Many(_)));
        assert!(matches!(Flows::new(1, &[0, 180]), Flows::Few { .. }));
        let sent = [(0, 0, 0), (2, 2, 2), (1, 0, 2), (1, 2, 0), (1, 0, 2)];
        for flows in [&mut few, &mut many] {
            for (queued, flow) in (1..).zip(sent) {
                flows.of(flow).add(&Waited { packets: 1, queued, ..Waited::default() });
            }
        }
        let told = |flows: &Flows| {
            let mut all: Vec<_> =
                flows.iter().map(|(flow, waited)| (flow, waited.packets, waited.queued)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(told(&few), [((0, 0, 0), 1, 1), ((1, 0, 2), 2, 8), ((1, 2, 0), 1, 4), ((2, 2, 2), 1, 2)]);
        assert_eq!(told(&many), told(&few));
    }
}
