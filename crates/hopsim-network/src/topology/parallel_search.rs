//! Searches in breadth from 64 ends at once, a bit for each, which share their work; and how far routers are apart.

use super::maze::arrival;
use crate::interrupt;

/// Ends that are searched from at once.
pub const TOGETHER: usize = u64::BITS as usize;

/// The places from which a step leads to a place.
pub struct Before {
    /// Where those of each place begin, and where those of the last one end.
    first: Vec<u32>,
    places: Vec<u32>,
}

impl Before {
    /// Turns round the steps of every place, each given by where it leads.
    pub fn new(steps: impl ExactSizeIterator<Item = impl Iterator<Item = u32>> + Clone) -> Self {
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
        Self { first, places }
    }

    fn of(&self, place: u32) -> &[u32] {
        &self.places[self.first[place as usize] as usize..self.first[place as usize + 1] as usize]
    }
}

/// Searches in breadth from some ends at once, each of which has a bit.
pub struct ParallelSearch {
    /// Ends from which a place has been reached.
    seen: Vec<u64>,
    /// Ends from which a place is reached now; zero in between.
    found: Vec<u64>,
    /// Places reached now, and those reached just before with their ends.
    waves: (Vec<u32>, Vec<(u32, u64)>),
}

impl ParallelSearch {
    /// A search among so many places.
    pub fn new(places: usize) -> Self {
        Self { seen: vec![0; places], found: vec![0; places], waves: Default::default() }
    }

    /// Begins anew from at most [`TOGETHER`] ends, each of which may be several places.
    pub fn begin(&mut self, ends: &[Vec<u32>]) {
        self.seen.fill(0);
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
    pub fn spread(&mut self, before: &Before) {
        let wave = std::mem::take(&mut self.waves.1);
        for &(place, bits) in &wave {
            interrupt::steps(before.of(place).len() as u64);
            for &farther in before.of(place) {
                self.find(farther, bits);
            }
        }
        self.waves.1 = wave;
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
        let before = Before::new(steps);
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
                search.spread(&before);
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
}
