//! The graph that the Graph500 benchmark searches.
//!
//! A graph of scale s has 2^s vertices and f 2^s edges without direction. Each is drawn by itself: s times one of the four quarters of
//! the matrix of neighbours, with the probabilities A = 0.57, B = 0.19, C = 0.19 and D = 0.05, and of that quarter another one
//! (Graph500 specification 2.0, generator of Kronecker edges; Leskovec et al. 2010, "Kronecker graphs: an approach to modeling
//! networks", JMLR 11). Then the vertices get their numbers at random. Edges may be there several times, and may lead back to
//! their vertex, which then is their end twice: the benchmark's *simple* implementation follows all of them.

use super::random::{self, Source};

/// Bounds between the quarters, of 2³²: A, A + B, A + B + C.
const QUARTERS: [u32; 3] = [of(0.57), of(0.76), of(0.95)];

const fn of(probability: f64) -> u32 {
    (probability * 4_294_967_296.0) as u32
}

/// A graph by its vertices.
pub struct Kronecker {
    /// Where the ends of the edges of a vertex begin, and in the end how many there are.
    first: Vec<u32>,
    /// Where the edges of the first vertex lead, those of the second, and so on.
    ends: Vec<u32>,
}

impl Kronecker {
    /// Draws a graph of up to 2³⁰ edges, twice from the first random number on: so it needs 4 B for each end of an edge, and 12 B
    /// for a vertex.
    pub fn draw(scale: u32, edgefactor: u32, source: &dyn Fn() -> Source) -> Self {
        let vertices = 1usize << scale;
        let count = edgefactor as usize * vertices;
        let mut first = vec![0; vertices + 1];
        for (one, other) in Edges::new(scale, source()).take(count) {
            first[one as usize] += 1;
            first[other as usize] += 1;
        }
        let mut sum = 0;
        for ends in &mut first {
            (sum, *ends) = (sum + *ends, sum);
        }
        let mut next = first.clone();
        let mut ends = vec![0; 2 * count];
        for (one, other) in Edges::new(scale, source()).take(count) {
            for (from, to) in [(one, other), (other, one)] {
                let place = &mut next[from as usize];
                ends[*place as usize] = to;
                *place += 1;
            }
        }
        Self { first, ends }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// Where the edges of a vertex lead.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.ends[self.first[vertex] as usize..self.first[vertex + 1] as usize]
    }

    /// The number of ends of edges at a vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.first[vertex as usize + 1] - self.first[vertex as usize]
    }
}

/// Edges without end.
struct Edges {
    scale: u32,
    /// Number of the vertex of each row and column of the matrix.
    numbers: Vec<u32>,
    source: Source,
}

impl Edges {
    fn new(scale: u32, mut source: Source) -> Self {
        let mut numbers: Vec<u32> = (0..1 << scale).collect();
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random::below(&mut source, last as u32 + 1) as usize);
        }
        Self { scale, numbers, source }
    }
}

impl Iterator for Edges {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let (mut row, mut column, mut bits) = (0, 0, 0);
        for step in 0..self.scale {
            // Each draw is good for two steps.
            bits = if step % 2 == 0 { (self.source)() } else { bits >> 32 };
            let [a, b, c] = QUARTERS.map(|bound| bits as u32 >= bound);
            row = row << 1 | usize::from(b);
            column = column << 1 | usize::from(a != b || c);
        }
        Some((self.numbers[row], self.numbers[column]))
    }
}
