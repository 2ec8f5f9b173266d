//! Circles of a graph.

use hopsim_network::interrupt;

/// A graph of arrows between numbers.
pub struct Graph {
    /// Where the arrows from each number begin, and where those of the last one end.
    first: Vec<usize>,
    next: Vec<u32>,
}

impl Graph {
    /// The graph of `count` numbers with these arrows.
    pub fn new(count: usize, mut arrows: Vec<(u32, u32)>) -> Self {
        arrows.sort_unstable();
        arrows.dedup();
        interrupt::steps(arrows.len() as u64 * 8);
        let first = (0..=count as u32).map(|number| arrows.partition_point(|&(from, _)| from < number));
        let first = first.collect();
        Self { first, next: arrows.into_iter().map(|(_, to)| to).collect() }
    }

    /// The numbers that arrows from a number point to, ascending.
    fn next(&self, number: u32) -> &[u32] {
        &self.next[self.first[number as usize]..self.first[number as usize + 1]]
    }

    /// The numbers that are on circles or behind one: what is left when again and again those are taken away to which no arrow points.
    pub fn left(&self) -> Vec<u32> {
        let count = self.first.len() - 1;
        let mut arrows = vec![0u32; count];
        self.next.iter().for_each(|&to| arrows[to as usize] += 1);
        let mut free: Vec<u32> = (0..count as u32).filter(|&number| arrows[number as usize] == 0).collect();
        while let Some(number) = free.pop() {
            interrupt::steps(1 + self.next(number).len() as u64);
            for &to in self.next(number) {
                arrows[to as usize] -= 1;
                if arrows[to as usize] == 0 {
                    free.push(to);
                }
            }
        }
        (0..count as u32).filter(|&number| arrows[number as usize] > 0).collect()
    }

    /// A circle of as few numbers as possible, of several that of the lowest number, which comes first; `None` if there is none.
    pub fn shortest_circle(&self) -> Option<Vec<u32>> {
        let mut before = vec![u32::MAX; self.first.len() - 1];
        let mut best: Option<Vec<u32>> = None;
        for start in self.left() {
            let most = best.as_ref().map_or(usize::MAX, Vec::len);
            best = self.circle_through(start, most, &mut before).or(best);
        }
        best
    }

    /// A circle through a number of fewer than `most` numbers. `before` is all [`u32::MAX`], and is so again in the end.
    fn circle_through(&self, start: u32, most: usize, before: &mut [u32]) -> Option<Vec<u32>> {
        let (mut reached, mut layer, mut end) = (vec![start], 0..1, None);
        let mut length = 1;
        while end.is_none() && !layer.is_empty() && length < most {
            for at in layer.clone() {
                let number = reached[at];
                interrupt::steps(self.next(number).len() as u64);
                for &to in self.next(number) {
                    if to == start {
                        end = end.or(Some(number));
                    } else if before[to as usize] == u32::MAX {
                        before[to as usize] = number;
                        reached.push(to);
                    }
                }
            }
            layer = layer.end..reached.len();
            length += 1;
        }
        let circle = end.map(|mut number| {
            let mut circle = vec![number];
            while number != start {
                number = before[number as usize];
                circle.push(number);
            }
            circle.reverse();
            circle
        });
        for number in reached {
            before[number as usize] = u32::MAX;
        }
        circle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_circle_is_found_and_begins_with_its_lowest_number() {
        let arrows = vec![(0, 1), (1, 2), (2, 3), (3, 0), (5, 3), (3, 4), (4, 5), (6, 0), (2, 6)];
        assert_eq!(Graph::new(7, arrows.clone()).shortest_circle(), Some(vec![3, 4, 5]));
        let without = arrows.into_iter().filter(|arrow| *arrow != (4, 5)).collect();
        assert_eq!(Graph::new(7, without).shortest_circle(), Some(vec![0, 1, 2, 3]));
        assert_eq!(Graph::new(2, vec![(0, 1), (1, 1)]).shortest_circle(), Some(vec![1]));
    }

    #[test]
    fn without_a_circle_nothing_is_left() {
        let graph = Graph::new(4, vec![(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!((graph.left(), graph.shortest_circle()), (vec![], None));
    }
}
