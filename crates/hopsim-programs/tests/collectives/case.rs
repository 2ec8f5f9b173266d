//! One collective operation by one algorithm.

use hopsim_programs::collectives::{Algorithm, Call, Kind, Step, check};

/// A collective operation among all of its members.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kind: Kind,
    pub algorithm: Algorithm,
    pub members: u32,
    pub root: u32,
    pub bytes: u64,
}

impl Case {
    /// What each member does, one step after the other.
    pub fn steps(&self) -> Vec<Vec<Step>> {
        (0..self.members).map(|place| self.steps_of(place)).collect()
    }

    fn steps_of(&self, place: u32) -> Vec<Step> {
        let sent: Vec<u64> = (0..self.members).map(|other| self.pair(place, other)).collect();
        let received: Vec<u64> = (0..self.members).map(|other| self.pair(other, place)).collect();
        let Self { kind, algorithm, members, root, bytes } = *self;
        let each = (kind == Kind::Alltoallv).then_some((&sent[..], &received[..]));
        algorithm.steps(&Call { kind, members, place, root, bytes, each }).collect()
    }

    /// Bytes that alltoallv brings from one member to the other: for some pairs none, in one direction or both.
    pub fn pair(&self, from: u32, to: u32) -> u64 {
        u64::from((2 * from + to) % 3) * (self.bytes + u64::from(from))
    }

    /// The place counted from the root.
    pub fn relative(&self, place: u32) -> u32 {
        (place + self.members - self.root) % self.members
    }
}

/// Every kind by every algorithm that serves it, among 1 to 17 and some more members, with several roots.
pub fn cases(bytes: u64) -> impl Iterator<Item = Case> {
    let members = (1..=17).chain([31, 32, 33, 64, 100]);
    let kinds = || Kind::ALL.into_iter().flat_map(|kind| Algorithm::serving(kind).map(move |a| (kind, a)));
    members.flat_map(move |members| {
        kinds().filter(move |&(kind, algorithm)| check(kind, algorithm, members).is_ok()).flat_map(
            move |(kind, algorithm)| {
                roots(kind, members).map(move |root| Case { kind, algorithm, members, root, bytes })
            },
        )
    })
}

fn roots(kind: Kind, members: u32) -> impl Iterator<Item = u32> {
    let mut roots = if kind.is_rooted() { vec![0, 1 % members, members / 2, members - 1] } else { vec![0] };
    roots.sort_unstable();
    roots.dedup();
    roots.into_iter()
}
