//! Random numbers, which whoever runs a search provides.

use crate::record::Rank;

/// What random numbers are for. Each has a source of its own, so that what one draws never shifts the numbers of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawPurpose {
    /// The root and its degree.
    Search,
    /// The graph, where there is one.
    Graph,
    /// The numbers of queries of this rank.
    Volume(Rank),
    /// The destinations of this rank's messages.
    Destinations(Rank),
}

/// Gives 64 uniform bits whenever it is called.
pub type Source = Box<dyn FnMut() -> u64 + Send>;

/// A uniform real in the open interval (0, 1).
pub fn unit(source: &mut Source) -> f64 {
    ((source() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A uniform integer in 0 … n − 1; its bias is below n / 2⁶⁴.
pub fn below(source: &mut Source, n: u32) -> u32 {
    ((u128::from(source()) * u128::from(n)) >> 64) as u32
}

/// A normal deviate of mean 0 and deviation 1 (Box & Muller 1958, "A note on the generation of random normal deviates", Annals
/// of Mathematical Statistics 29:2), of two uniform reals. libm's functions give the same on every machine.
pub fn normal(source: &mut Source) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit(source)));
    radius * libm::cos(2.0 * std::f64::consts::PI * unit(source))
}
