//! Projective planes: q² + q + 1 points, and as many lines of q + 1 points each; any two points are on one line, any two lines meet in one
//! point. A point and a line are three elements of the field of q elements each, and a point is on the lines to which it is orthogonal.

use super::family::check_routers;
use super::field::Field;
use crate::error::ConfigError;
use std::ops::RangeInclusive;

/// The field of q elements, for a network of so many routers as `routers` says of the number of points. `orders` are the powers of primes that do.
pub fn order(
    q: u32,
    orders: RangeInclusive<u32>,
    routers: impl Fn(u64) -> u64,
) -> Result<Field, ConfigError> {
    let most = *orders.end();
    let valid = || format!("powers of primes up to {most}, as {}", Field::nearest(q, most, |_| true));
    let points = u64::from(q).pow(2).saturating_add(u64::from(q) + 1);
    check_routers(routers(points), "q", &q, valid())?;
    Field::new(q)
        .ok_or_else(|| ConfigError::new("q", "there is no field of so many elements").value(q).valid(valid()))
}

/// The numbers of the points on every line, by number: of those that are orthogonal to a vector. A vector is one whose first element that is not
/// 0 is 1; (1, y, z) has number y·q + z, (0, 1, z) q² + z, and (0, 0, 1) q² + q.
pub fn lines(field: &Field) -> Vec<Vec<u32>> {
    let q = field.q();
    let inverse = |of: u32| (1..q).find(|&other| field.product(of, other) == 1).unwrap_or(0);
    let inverses: Vec<u32> = (0..q).map(inverse).collect();
    let affine = (0..q).flat_map(|y| (0..q).map(move |z| [1, y, z]));
    let vectors = affine.chain((0..q).map(|z| [0, 1, z])).chain([[0, 0, 1]]);
    vectors.map(|vector| line(field, &inverses, vector)).collect()
}

fn line(field: &Field, inverses: &[u32], [a, b, c]: [u32; 3]) -> Vec<u32> {
    let q = field.q();
    // The only x with constant + factor · x = 0.
    let root =
        |constant: u32, factor: u32| field.product(field.negative(constant), inverses[factor as usize]);
    if c != 0 {
        let affine = (0..q).map(|y| y * q + root(field.sum(a, field.product(b, y)), c));
        return affine.chain([q * q + root(b, c)]).collect();
    }
    let points = if b == 0 { q * q..q * q + q } else { root(a, b) * q..(root(a, b) + 1) * q };
    points.chain([q * q + q]).collect()
}
