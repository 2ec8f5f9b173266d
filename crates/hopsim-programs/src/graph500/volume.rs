//! How many queries every rank sends in every level.
//!
//! s is the scale, f the edgefactor, n the number of ranks, d the degree of the root, x = ln d and l the level. All queries are
//! T = ⌊2^(s+1) f (n − 1) / n⌋ (equation 2.1, summed over the ranks), of which Q are left.
//!
//! - Level 0: the root alone sends ⌈d (n − 1) / n⌉, and T at most.
//! - Level l ≥ 1: the mean over all ranks is Ē = min([`Fit::mean`], Q n / (n − 1)); every rank draws E from the normal
//!   distribution with that mean and [`Fit::deviation`], again while it is negative, and wants to send ⌊E (n − 1) / n² + ½⌋.
//!   Where all of them want more than Q, each has its share of it: so a search never sends more than T (thesis, §2.2.1 to 2.3.1).
//!
//! The search ends after level l if Q = 0, if l + 1 is the largest number of levels, or if l ≥ 5 and Q ≤ T / 10.
//!
//! The thesis says nothing of negative draws; `FOGSim` draws again, which raises the means of levels whose deviation is large.

use super::breadth_first::Bundle;
use super::random::{self, DrawPurpose, Source};
use super::{Equations, Parameters, breadth_first};
use crate::record::Rank;
use libm::{exp, exp2, log, pow};

/// A fit of the thesis: scale and edgefactor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The form of the equations.
    pub equations: Equations,
    /// The scale s.
    pub scale: u32,
    /// The edgefactor f.
    pub edgefactor: u32,
}

impl Fit {
    /// exp(A x² + B x + C), x the logarithm of the root's degree: queries of level l ≥ 1, those to the own rank included
    /// (equations 2.5 to 2.8).
    pub fn mean(self, level: u32, degree: f64) -> f64 {
        let (s, f, l, x) = self.numbers(level, degree);
        let square = -0.133 + 0.0046 * s + exp(0.01257 * f - 0.1829 * s - exp(1.75 - 0.7 * l));
        let linear = 2.0 - l * (0.91 + 0.002 * f - 0.012 * s);
        // Height of a bell over the levels, its place, and twice the square of its width.
        let (height, place, width) = match self.equations {
            Equations::Thesis => (-0.81 + 0.8411 * log(s), 2.8, 30.0),
            Equations::Fogsim => (-1.105 + 1.01 * log(s), 3.2, 8.0),
        };
        let bell = exp(-(l - place) * (l - place) / width);
        let constant = exp(1.0 + (1.0 + 0.004 * f) * height * bell);
        exp(square * x * x + linear * x + constant)
    }

    /// Deviation of the queries of level l ≥ 1 (equations 2.9 to 2.17).
    pub fn deviation(self, level: u32, degree: f64) -> f64 {
        exp(match level {
            0 | 1 => self.early(1, degree),
            2 => self.early(1, degree).max(self.early(2, degree)),
            3 => self.early(2, degree).max(self.late(4, degree)),
            _ => self.late(level, degree),
        })
    }

    /// f₁(l): logarithm of the deviation of a level before the peak.
    fn early(self, level: u32, degree: f64) -> f64 {
        let (s, f, l, x) = self.numbers(level, degree);
        let square = 0.002 * s - 0.14 - (0.015 * s - 0.285) * (0.56 + 0.033 * f) * (l - 1.0);
        let linear = 0.97 - (l - 1.0) * (4.438 - 0.168 * s) * (0.83 + 0.01 * f);
        let constant = ((2.1 + l) * (5.35 + 0.093 * s) - 13.625) * (1.23 - (2.9 + 0.69 * l) / f);
        square * x * x + linear * x + constant
    }

    /// f₂(l): logarithm of the deviation of a level behind the peak.
    fn late(self, level: u32, degree: f64) -> f64 {
        let (s, f, l, _) = self.numbers(level, degree);
        let exponent = exp2(l) * (0.011 + 0.00012 * f) * exp(1.7 - s / 10.0);
        let floor = 1.0 - exp((1.0 - 0.012 * f) * (9.55 - 1.3 * l - s * (0.6 - 0.1 * l)));
        let height = 13.0 * (0.062 * s - 0.046) * (2.0 - 0.24 * l) - floor;
        height / pow(degree, exponent) + floor
    }

    /// The numbers s, f, l, x.
    fn numbers(self, level: u32, degree: f64) -> (f64, f64, f64, f64) {
        (f64::from(self.scale), f64::from(self.edgefactor), f64::from(level), log(degree))
    }
}

/// More queries of a rank in a level than any search has: keeps sums in their range whatever the fits give.
const MOST: f64 = (1u64 << 52) as f64;

/// What has been drawn of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// The rank that the search begins at.
    pub root: Rank,
    /// Degree of the vertex that the search begins at.
    pub degree: u32,
    /// The number of queries, by level, by rank.
    pub queries: Vec<Vec<u64>>,
    /// Of a graph the messages that carry them, by level, by rank, in order.
    pub bundles: Option<Vec<Vec<Vec<Bundle>>>>,
}

impl Volume {
    /// Draws the root, its degree unless it is given, and the queries of every rank.
    pub(super) fn draw(parameters: &Parameters, source: &dyn Fn(DrawPurpose) -> Source) -> Self {
        let Parameters { ranks, scale, edgefactor, max_levels, .. } = *parameters;
        let Some(equations) = parameters.equations else {
            return breadth_first::volume(parameters, source);
        };
        let mut search = source(DrawPurpose::Search);
        let root = random::below(&mut search, ranks);
        let degree = parameters.root_degree.unwrap_or_else(|| draw_degree(&mut search, scale));
        let fit = Fit { equations, scale, edgefactor };
        let n = f64::from(ranks);
        let all = bound(parameters);
        let mut sources: Vec<Source> = (0..ranks).map(|rank| source(DrawPurpose::Volume(rank))).collect();
        let mut first = vec![0; ranks as usize];
        first[root as usize] = (u64::from(degree) * u64::from(ranks - 1)).div_ceil(ranks.into()).min(all);
        let (mut left, mut queries) = (all - first[root as usize], vec![first]);
        for level in 1..max_levels {
            if left == 0 || (level > 5 && left <= all / 10) {
                break;
            }
            let mean = fit.mean(level, degree.into()).min(left as f64 * n / (n - 1.0));
            let deviation = fit.deviation(level, degree.into());
            let own = |source: &mut Source| {
                let drawn = draw_positive(source, mean, deviation);
                libm::floor(drawn * (n - 1.0) / (n * n) + 0.5).min(MOST) as u64
            };
            let mut drawn: Vec<u64> = sources.iter_mut().map(own).collect();
            left -= cut(&mut drawn, left);
            queries.push(drawn);
        }
        Self { root, degree, queries, bundles: None }
    }
}

/// T: queries of a search in which every edge is followed both ways (equation 2.1, summed over the ranks). Below 2⁵².
pub fn bound(parameters: &Parameters) -> u64 {
    let Parameters { ranks, scale, edgefactor, .. } = *parameters;
    let ends = u128::from(edgefactor) << (scale + 1);
    (ends * u128::from(ranks - 1) / u128::from(ranks)) as u64
}

/// Leaves every rank its share of `left` where they want more than that. Returns what all of them send.
fn cut(wanted: &mut [u64], left: u64) -> u64 {
    let all: u128 = wanted.iter().map(|&wanted| u128::from(wanted)).sum();
    if all <= u128::from(left) {
        return all as u64;
    }
    let (mut sum, mut sent) = (0, 0);
    for queries in wanted {
        sum += u128::from(*queries);
        let until = (u128::from(left) * sum / all) as u64;
        (*queries, sent) = (until - sent, until);
    }
    left
}

/// A normal deviate, drawn again while it is negative. The mean is positive.
fn draw_positive(source: &mut Source, mean: f64, deviation: f64) -> f64 {
    loop {
        let drawn = mean + deviation * random::normal(source);
        if drawn >= 0.0 || drawn.is_nan() {
            return drawn;
        }
    }
}

/// The degree of the root, lognormal (equations 2.18 and 2.19).
fn draw_degree(source: &mut Source, scale: u32) -> u32 {
    let s = f64::from(scale);
    let logarithm = s * (log(0.3604) + 1.066_170_4) + 0.079_313_065 * s * random::normal(source);
    (libm::ceil(exp(logarithm)) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn ranks_that_want_more_than_is_left_get_their_shares_of_it() {
        let mut wanted = [3, 1, 0, 4];
        assert_eq!((cut(&mut wanted, 8), wanted), (8, [3, 1, 0, 4]));
        // Sums 3, 4, 4, 8 times 5 / 8: 1, 2, 2, 5.
        assert_eq!((cut(&mut wanted, 5), wanted), (5, [1, 1, 0, 3]));
        // Sums and products beyond 64 bits.
        let mut wanted = [1 << 52; 4];
        assert_eq!((cut(&mut wanted, 1 << 50), wanted), (1 << 50, [1 << 48; 4]));
    }
}
