//! A relation that grows without ever having a cycle.
//!
//! Its elements are numbers. They stand in an order in which each comes before all that are behind it; what is added mostly agrees
//! with the order, which is changed where it does not.
//!
//! Source: Pearce and Kelly, ACM Journal of Experimental Algorithmics 11 (2006).

use hopsim_network::interrupt;

/// The side of a search that goes on to what is before.
const AHEAD: usize = 0;

/// The side of a search that goes on to what is behind.
const BEHIND: usize = 1;

/// Pairs of elements, the first of which is before the second.
#[derive(Clone, Debug)]
pub struct Acyclic {
    /// The elements right behind each.
    after: Vec<Vec<u32>>,
    /// The elements right before each.
    before: Vec<Vec<u32>>,
    /// The elements that each must not come before, as far as that has been found.
    refused: Vec<Vec<u32>>,
    /// The place of every element in the order.
    places: Vec<u32>,
    /// The side from which a search has come by an element.
    seen: Vec<Option<usize>>,
    /// The pairs added, and those refused, since the last word on them.
    news: [Vec<(u32, u32)>; 2],
}

impl Acyclic {
    /// No pairs yet, of elements that stand in this order.
    pub fn new(order: &[u32]) -> Self {
        let mut places = vec![0; order.len()];
        (0..).zip(order).for_each(|(place, &element)| places[element as usize] = place);
        let none = vec![Vec::new(); order.len()];
        Self {
            after: none.clone(),
            before: none.clone(),
            refused: none,
            places,
            seen: vec![None; order.len()],
            news: [Vec::new(), Vec::new()],
        }
    }

    /// Adds a pair unless that closes a cycle. Returns whether it is there then.
    pub fn add(&mut self, first: u32, second: u32) -> bool {
        if self.after[first as usize].contains(&second) {
            return true;
        }
        if self.refused[first as usize].contains(&second) {
            return false;
        }
        if self.places[first as usize] >= self.places[second as usize] && !self.reorder(first, second) {
            self.refused[first as usize].push(second);
            self.news[1].push((first, second));
            return false;
        }
        self.after[first as usize].push(second);
        self.before[second as usize].push(first);
        self.news[0].push((first, second));
        true
    }

    /// The pairs added so far stay.
    pub fn keep(&mut self) {
        self.news.iter_mut().for_each(Vec::clear);
    }

    /// Takes back the pairs added since the last of them were kept.
    pub fn take_back(&mut self) {
        let [added, refused] = std::mem::take(&mut self.news);
        for (first, second) in added.into_iter().rev() {
            self.after[first as usize].pop();
            self.before[second as usize].pop();
        }
        for (first, _) in refused {
            self.refused[first as usize].pop();
        }
    }

    /// Puts an element, with all before it, before another one that is before it in the order. Returns whether that can be.
    fn reorder(&mut self, first: u32, second: u32) -> bool {
        let mut found = [vec![first], vec![second]];
        let is_apart = self.search(&mut found);
        interrupt::steps(8 * (found[AHEAD].len() + found[BEHIND].len()) as u64);
        found.iter().flatten().for_each(|&element| self.seen[element as usize] = None);
        if is_apart {
            let places = &mut self.places;
            for all in &mut found {
                all.sort_unstable_by_key(|&element| places[element as usize]);
            }
            let all = found.concat();
            let mut free: Vec<u32> = all.iter().map(|&element| places[element as usize]).collect();
            free.sort_unstable();
            all.into_iter().zip(free).for_each(|(element, place)| places[element as usize] = place);
        }
        is_apart
    }

    /// Finds what is before the first of two elements and what is behind the second, by turns, between their places in the
    /// order. Returns whether nothing is both.
    fn search(&mut self, found: &mut [Vec<u32>; 2]) -> bool {
        let [first, second] = [found[AHEAD][0], found[BEHIND][0]];
        let between = self.places[second as usize]..=self.places[first as usize];
        (self.seen[first as usize], self.seen[second as usize]) = (Some(AHEAD), Some(BEHIND));
        let mut done = [0, 0];
        while first != second && done != [found[AHEAD].len(), found[BEHIND].len()] {
            for side in [AHEAD, BEHIND] {
                let Some(&element) = found[side].get(done[side]) else { continue };
                done[side] += 1;
                let next = if side == AHEAD { &self.before } else { &self.after };
                for &other in &next[element as usize] {
                    match self.seen[other as usize] {
                        Some(seen) if seen != side => return false,
                        None if between.contains(&self.places[other as usize]) => {
                            self.seen[other as usize] = Some(side);
                            found[side].push(other);
                        }
                        _ => {}
                    }
                }
            }
        }
        first != second
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_random::{Purpose, Stream};

    /// Whether there is a way over pairs.
    fn leads(pairs: &[(u32, u32)], from: u32, to: u32) -> bool {
        let mut reached = vec![from];
        let mut done = 0;
        while let Some(&element) = reached.get(done) {
            for &(first, second) in pairs {
                if first == element && !reached.contains(&second) {
                    reached.push(second);
                }
            }
            done += 1;
        }
        reached.contains(&to)
    }

    #[test]
    fn a_pair_is_refused_if_and_only_if_it_closes_a_cycle() {
        for seed in 0..40 {
            let mut stream = Stream::new(seed, Purpose::RandomGraph, 0);
            let mut order: Vec<u32> = (0..12).collect();
            stream.shuffle(&mut order);
            let (mut relation, mut kept, mut refused) = (Acyclic::new(&order), Vec::new(), 0);
            for _ in 0..8 {
                let mut pairs = kept.clone();
                for _ in 0..12 {
                    let (first, second) = (stream.below(12), stream.below(12));
                    let closes = leads(&pairs, second, first);
                    assert_eq!(relation.add(first, second), !closes, "{pairs:?}: {first}, {second}");
                    refused += u32::from(closes);
                    if !closes && !pairs.contains(&(first, second)) {
                        pairs.push((first, second));
                    }
                }
                if stream.below(2) == 0 {
                    relation.keep();
                    kept = pairs;
                } else {
                    relation.take_back();
                }
            }
            assert!((10..90).contains(&refused), "{refused}");
        }
    }
}
