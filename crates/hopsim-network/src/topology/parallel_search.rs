//! Searches in breadth from 64 ends at once, a bit for each, which share their work; and how far routers are apart.

use super::maze::arrival;
use crate::interrupt;

/// Ends that are searched from at once.
pub const TOGETHER: usize = u64::BITS as usize;

/// Places of every place, one list behind the other.
struct Lists {
    /// Where those of each place begin, and where those of the last one end.
    first: Vec<u32>,
    places: Vec<u32>,
}

impl Lists {
    fn of(&self, place: u32) -> &[u32] {
        &self.places[self.first[place as usize] as usize..self.first[place as usize + 1] as usize]
    }
}

/// The steps between places, from both ends.
pub struct Steps {
    /// The places to which the steps of a place lead.
    after: Lists,
    /// The places from which a step leads to a place.
    before: Lists,
}

impl Steps {
    /// The steps of every place, each given by where it leads.
    pub fn new(steps: impl ExactSizeIterator<Item = impl Iterator<Item = u32>> + Clone) -> Self {
        let mut after = Lists { first: vec![0], places: Vec::new() };
        for steps in steps.clone() {
            after.places.extend(steps);
            after.first.push(after.places.len() as u32);
        }
        let count = steps.len();
        let mut first = vec![0; count + 1];
        for to in steps.clone().flatten() {
            first[to as usize + 1] += 1;
        }
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut free = first.clone();
        let mut places = vec![0; first[count] as usize];
        for (place, steps) in (0..).zip(steps) {
            for to in steps {
                let next = &mut free[to as usize];
                places[*next as usize] = place;
                *next += 1;
            }
        }
        Self { after, before: Lists { first, places } }
    }
}

/// Searches in breadth from some ends at once, each of which has a bit.
pub struct ParallelSearch {
    /// The ends that are searched from.
    ends: u64,
    /// Ends from which a place has been reached.
    seen: Vec<u64>,
    /// Ends from which a place is reached now; zero in between.
    found: Vec<u64>,
    /// Places reached now, and those reached just before with their ends.
    waves: (Vec<u32>, Vec<(u32, u64)>),
    /// Ends from which a place was reached just before; zero in between.
    before: Vec<u64>,
}

impl ParallelSearch {
    /// A search among so many places.
    pub fn new(places: usize) -> Self {
        let none = || vec![0; places];
        Self { ends: 0, seen: none(), found: none(), waves: Default::default(), before: none() }
    }

    /// Begins anew from at most [`TOGETHER`] ends, each of which may be several places.
    pub fn begin(&mut self, ends: &[Vec<u32>]) {
        self.seen.fill(0);
        self.ends = (0..ends.len()).fold(0, |bits, bit| bits | 1 << bit);
        for (bit, ends) in ends.iter().enumerate() {
            for &end in ends {
                self.find(end, 1 << bit);
            }
        }
    }

    #[inline]
    fn find(&mut self, place: u32, bits: u64) {
        let new = bits & !self.seen[place as usize];
        if new != 0 {
            if self.found[place as usize] == 0 {
                self.waves.0.push(place);
            }
            self.found[place as usize] |= new;
        }
    }

    /// Whether places are reached now.
    pub fn has_found(&self) -> bool {
        !self.waves.0.is_empty()
    }

    /// Visits the places reached now, each with the bits of the ends from which it is.
    pub fn settle(&mut self, mut visit: impl FnMut(usize, u64)) {
        self.waves.1.clear();
        for place in self.waves.0.drain(..) {
            let bits = std::mem::take(&mut self.found[place as usize]);
            self.seen[place as usize] |= bits;
            self.waves.1.push((place, bits));
            visit(place as usize, bits);
        }
    }

    /// Goes one link farther from the places that have been settled.
    pub fn spread(&mut self, steps: &Steps) {
        let wave = std::mem::take(&mut self.waves.1);
        if wave.len() > self.seen.len() / 2 {
            self.look_back(&steps.after, &wave);
        } else {
            self.go_on(&steps.before, &wave);
        }
        self.waves.1 = wave;
    }

    /// Looks from the places of the wave at all those from which a step leads there.
    fn go_on(&mut self, before: &Lists, wave: &[(u32, u64)]) {
        for &(place, bits) in wave {
            interrupt::steps(before.of(place).len() as u64);
            for &farther in before.of(place) {
                self.find(farther, bits);
            }
        }
    }

    /// Looks from every place that some end has not reached at where its steps lead, until none is missing: where most places are in the
    /// wave, fewer steps are looked at so.
    fn look_back(&mut self, after: &Lists, wave: &[(u32, u64)]) {
        for &(place, bits) in wave {
            self.before[place as usize] = bits;
        }
        for (place, seen) in (0..).zip(&self.seen) {
            let missing = self.ends & !seen;
            if missing == 0 {
                continue;
            }
            interrupt::steps(after.of(place).len() as u64);
            let mut bits = 0;
            for &nearer in after.of(place) {
                bits |= self.before[nearer as usize];
                if bits & missing == missing {
                    break;
                }
            }
            if bits & missing != 0 {
                self.found[place as usize] = bits & missing;
                self.waves.0.push(place);
            }
        }
        for &(place, _) in wave {
            self.before[place as usize] = 0;
        }
    }
}

/// How far routers are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Links between the two that are farthest from each other.
    pub farthest: u32,
    /// Links between the two of the first ones that are farthest from each other.
    pub farthest_of_first: u32,
    /// Sum over ordered pairs.
    pub sum: u64,
    /// Ordered pairs of different routers that reach each other.
    pub pairs: u64,
}

impl Apart {
    /// Of routers that reach each other, given the routers at the other ends of the links of each. `first` is how many the first ones are,
    /// and the first `adapters` forward nothing.
    pub fn new(peers: &[Vec<u32>], (first, adapters): (u32, u32)) -> Self {
        let routers = peers.len() as u32;
        let place = |&router: &u32| arrival(router, (routers, adapters));
        let places = (routers + adapters) as usize;
        let none = Vec::new();
        let steps = (0..places).map(|from| peers.get(from).unwrap_or(&none).iter().map(place));
        let steps = Steps::new(steps);
        let end = |router: u32| [router, place(&router)];
        let ends: Vec<Vec<u32>> = (0..routers).map(|router| end(router).to_vec()).collect();
        let mut search = ParallelSearch::new(places);
        let (first, mut apart) = (first as usize, Self::default());
        for (group, ends) in ends.chunks(TOGETHER).enumerate() {
            let left = first.saturating_sub(group * TOGETHER).min(TOGETHER);
            let of_first = (0..left).fold(0, |bits, bit| bits | 1 << bit);
            search.begin(ends);
            let mut links = 0;
            while search.has_found() {
                search.settle(|router, bits| {
                    if router >= routers as usize {
                        return;
                    }
                    apart.farthest = apart.farthest.max(links);
                    if router < first && bits & of_first != 0 {
                        apart.farthest_of_first = apart.farthest_of_first.max(links);
                    }
                    apart.sum += u64::from(links) * u64::from(bits.count_ones());
                    apart.pairs += u64::from(links.min(1)) * u64::from(bits.count_ones());
                });
                search.spread(&steps);
                links += 1;
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::Apart;

    /// The peers of routers that are joined in a row.
    fn line(routers: u32) -> Vec<Vec<u32>> {
        let peers = |router: u32| [router.checked_sub(1), Some(router + 1).filter(|&next| next < routers)];
        (0..routers).map(|router| peers(router).into_iter().flatten().collect()).collect()
    }

    #[test]
    fn routers_of_a_line_are_as_far_apart_as_their_numbers() {
        for routers in [1, 2, 63, 64, 65, 200] {
            for first in [1, 2, 64, 65, 129].into_iter().filter(|&first| first <= routers) {
                let sum = (0..u64::from(routers)).map(|links| 2 * links * (u64::from(routers) - links)).sum();
                let pairs = u64::from(routers) * u64::from(routers - 1);
                let expected = Apart { farthest: routers - 1, farthest_of_first: first - 1, sum, pairs };
                assert_eq!(Apart::new(&line(routers), (first, 0)), expected, "{first} of {routers}");
            }
        }
    }

    #[test]
    fn what_forwards_nothing_is_an_end_of_paths_alone() {
        // In a line of four the first two pass nothing on: 2 and 3 reach 1 and each other, and nobody but 1 reaches 0.
        let expected = Apart { farthest: 2, farthest_of_first: 1, sum: 10, pairs: 8 };
        assert_eq!(Apart::new(&line(4), (2, 2)), expected);
    }

    /// Links from a router to every other one, by a search from it alone; the first `adapters` forward nothing.
    fn links_from(from: u32, peers: &[Vec<u32>], adapters: u32) -> Vec<Option<u32>> {
        let mut links = vec![None; peers.len()];
        links[from as usize] = Some(0);
        let mut queue = vec![from];
        let mut place = 0;
        while let Some(&router) = queue.get(place) {
            place += 1;
            let next = links[router as usize].map(|links| links + 1);
            for &peer in peers[router as usize].iter().filter(|_| router == from || router >= adapters) {
                if links[peer as usize].is_none() {
                    links[peer as usize] = next;
                    queue.push(peer);
                }
            }
        }
        links[from as usize] = None;
        links
    }

    #[test]
    fn dense_networks_are_as_far_apart_as_a_search_from_each_router_says() {
        for (routers, links, adapters) in [(40, 3, 0), (130, 5, 0), (130, 5, 9), (200, 40, 3)] {
            // Links to routers that lie apart by powers of 3, one way each.
            let to = |router: u32, link: u32| (router + 3_u32.pow(link % 15) + link) % routers;
            let peers: Vec<Vec<u32>> =
                (0..routers).map(|router| (0..links).map(|link| to(router, link)).collect()).collect();
            let all: Vec<Vec<Option<u32>>> =
                (0..routers).map(|from| links_from(from, &peers, adapters)).collect();
            let found: Vec<u32> = all.iter().flatten().flatten().copied().collect();
            let of_first = all[..40].iter().flat_map(|links| links[..40].iter().flatten());
            let expected = Apart {
                farthest: found.iter().copied().max().unwrap_or(0),
                farthest_of_first: of_first.copied().max().unwrap_or(0),
                sum: found.iter().copied().map(u64::from).sum(),
                pairs: found.len() as u64,
            };
            assert_eq!(Apart::new(&peers, (40, adapters)), expected, "{links} links of {routers}");
        }
    }
}
