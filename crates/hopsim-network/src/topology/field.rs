//! Finite fields: see [`Field`].

/// The field of q elements, q a power p^n of a prime.
///
/// Elements are the polynomials of degree below n over the integers modulo p, and the number of an element is its coefficients as digits
/// in base p, that of x^0 the lowest: so the integers modulo p where n is 1. Products are taken modulo a polynomial of degree n with
/// leading coefficient 1 that is no product of others: of these the one whose number is least.
#[derive(Clone, Debug)]
pub struct Field {
    q: u32,
    p: u32,
    /// What x^n is: the negative of the polynomial modulo which products are taken, without its leading term.
    wrap: u32,
}

impl Field {
    /// The field of so many elements, `None` if there is none: the number is no power of a prime.
    pub fn new(q: u32) -> Option<Self> {
        let p = (2..=q).find(|p| q.is_multiple_of(*p))?;
        let degree = (1..=16).find(|&n| p.pow(n) >= q).filter(|&n| p.pow(n) == q)?;
        let zero = Self { q, p, wrap: 0 };
        let modulus = (0..q).find(|&low| degree == 1 || zero.is_irreducible(q + low))?;
        Some(Self { wrap: if degree == 1 { 0 } else { zero.negative(modulus) }, ..zero })
    }

    /// The numbers up to `most` of which there are fields, next below and next above `q`, in words; `accepts` says which of them will do.
    pub fn nearest(q: u32, most: u32, accepts: impl Fn(u32) -> bool) -> String {
        let will_do = |&number: &u32| Self::new(number).is_some() && accepts(number);
        let below = (2..q.min(most + 1)).rev().find(will_do);
        let above = (q.saturating_add(1)..=most).find(will_do);
        let near: Vec<String> = [below, above].into_iter().flatten().map(|q| q.to_string()).collect();
        near.join(" or ")
    }

    /// Number of elements.
    pub fn q(&self) -> u32 {
        self.q
    }

    /// The sum of two elements.
    pub fn sum(&self, one: u32, other: u32) -> u32 {
        if one == 0 && other == 0 {
            return 0;
        }
        let p = self.p;
        (one % p + other % p) % p + p * self.sum(one / p, other / p)
    }

    /// The element that gives 0 with another one.
    pub fn negative(&self, of: u32) -> u32 {
        if of == 0 { 0 } else { (self.p - of % self.p) % self.p + self.p * self.negative(of / self.p) }
    }

    /// The first element less the other one.
    pub fn difference(&self, one: u32, other: u32) -> u32 {
        self.sum(one, self.negative(other))
    }

    /// The product of two elements.
    pub fn product(&self, one: u32, other: u32) -> u32 {
        if other == 0 {
            return 0;
        }
        // Horner's rule: the digits of the other from the highest on.
        let higher = self.times_x(self.product(one, other / self.p));
        self.sum(higher, self.times(one, other % self.p))
    }

    /// The first element of which all but 0 are powers.
    pub fn primitive(&self) -> u32 {
        let order = |element: u32| {
            let powers = std::iter::successors(Some(element), |&power| Some(self.product(power, element)));
            1 + powers.take_while(|&power| power != 1).count() as u32
        };
        (1..self.q).find(|&element| order(element) == self.q - 1).unwrap_or(1)
    }

    /// The powers x^0 … x^(q − 2) of an element.
    pub fn powers(&self, element: u32) -> Vec<u32> {
        let powers = std::iter::successors(Some(1), |&power| Some(self.product(power, element)));
        powers.take(self.q as usize - 1).collect()
    }

    /// An element taken so many times, fewer than p.
    fn times(&self, element: u32, digit: u32) -> u32 {
        if element == 0 {
            0
        } else {
            element % self.p * digit % self.p + self.p * self.times(element / self.p, digit)
        }
    }

    /// An element times x.
    fn times_x(&self, element: u32) -> u32 {
        if self.q == self.p {
            return 0;
        }
        let highest = self.q / self.p;
        let (leading, rest) = (element / highest, element % highest);
        self.sum(rest * self.p, self.times(self.wrap, leading))
    }

    /// Whether a polynomial of degree n, leading coefficient 1, is divided by none of lower degree but constants.
    fn is_irreducible(&self, polynomial: u32) -> bool {
        (self.p..self.q).all(|divisor| self.remainder(polynomial, divisor) != 0)
    }

    /// What is left of a polynomial when another one has been taken from it as often as it can.
    fn remainder(&self, mut polynomial: u32, divisor: u32) -> u32 {
        let magnitude =
            |polynomial: u32| (0..=16).take_while(|&n| self.p.pow(n) <= polynomial).count() as u32;
        while magnitude(polynomial) >= magnitude(divisor) {
            let shift = self.p.pow(magnitude(polynomial) - magnitude(divisor));
            polynomial = self.difference(polynomial, divisor * shift);
        }
        polynomial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u32; 20] = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 43, 49];

    #[test]
    fn there_is_a_field_of_every_power_of_a_prime_and_of_no_other_number() {
        let found: Vec<u32> = (0..50).filter(|&q| Field::new(q).is_some()).collect();
        assert_eq!(found, [&SIZES[..18], &[37, 41, 43, 47, 49]].concat());
    }

    #[test]
    fn sums_and_products_obey_the_laws_of_a_field() {
        for q in SIZES {
            let field = Field::new(q).unwrap();
            let inverses = |one: u32| (0..q).filter(|&other| field.product(one, other) == 1).count();
            for one in 0..q {
                assert_eq!(field.sum(one, field.negative(one)), 0);
                assert_eq!((field.sum(one, 0), field.product(one, 1), field.product(one, 0)), (one, one, 0));
                assert_eq!(inverses(one), usize::from(one != 0), "of {one} in {q}");
                for other in 0..q {
                    assert_eq!(field.sum(one, other), field.sum(other, one));
                    assert_eq!(field.product(one, other), field.product(other, one));
                    for third in (0..q).step_by(1 + q as usize / 7) {
                        let (sum, product) = (field.sum(one, other), field.product(one, other));
                        let apart = field.sum(field.product(one, third), field.product(other, third));
                        assert_eq!(field.product(sum, third), apart);
                        assert_eq!(
                            field.product(product, third),
                            field.product(one, field.product(other, third))
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_field_of_a_prime_number_of_elements_is_the_integers_modulo_that_number() {
        let field = Field::new(13).unwrap();
        for (one, other) in (0..13).flat_map(|one| (0..13).map(move |other| (one, other))) {
            assert_eq!(field.sum(one, other), (one + other) % 13);
            assert_eq!(field.product(one, other), one * other % 13);
            assert_eq!(field.difference(one, other), (13 + one - other) % 13);
        }
    }

    #[test]
    fn the_powers_of_the_primitive_element_are_all_but_zero() {
        for q in SIZES {
            let field = Field::new(q).unwrap();
            let mut powers = field.powers(field.primitive());
            powers.sort_unstable();
            assert_eq!(powers, (1..q).collect::<Vec<_>>());
        }
    }

    #[test]
    fn products_are_taken_modulo_the_first_polynomial_that_is_no_product() {
        // x^2 + x + 1, x^3 + x + 1, x^2 + 1 and x^2 + 2 (of x^2 + 1 = (x + 2)(x + 3) in base 5).
        for (q, x, square_or_cube) in [(4, 2, 3), (8, 2, 3), (9, 3, 2), (25, 5, 3)] {
            let field = Field::new(q).unwrap();
            let square = field.product(x, x);
            let found = if q == 8 { field.product(square, x) } else { square };
            assert_eq!(found, square_or_cube, "in the field of {q}");
        }
    }

    #[test]
    fn the_nearest_numbers_that_will_do_are_named() {
        assert_eq!(Field::nearest(6, 43, |_| true), "5 or 7");
        assert_eq!(Field::nearest(10, 43, |q| q % 4 == 1), "9 or 13");
        assert_eq!(Field::nearest(90, 43, |_| true), "43");
        assert_eq!(Field::nearest(0, 43, |_| true), "2");
    }
}
