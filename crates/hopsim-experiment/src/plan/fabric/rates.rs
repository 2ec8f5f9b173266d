//! Rates of links.

use crate::plan::quantity::{Unit, positive};
use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;

/// What a lane carries \[Gb/s of data\], as a fraction: InfiniBand Architecture Specification, volume 2.
const SPEEDS: [(&str, u64, u64); 8] = [
    ("SDR", 2, 1),
    ("DDR", 4, 1),
    ("QDR", 8, 1),
    ("FDR", 150, 11),
    ("EDR", 25, 1),
    ("HDR", 50, 1),
    ("NDR", 100, 1),
    ("XDR", 200, 1),
];

/// Lanes of a link.
const WIDTHS: [(&str, u64); 4] = [("1x", 1), ("4x", 4), ("8x", 8), ("12x", 12)];

const UNITS: [Unit; 3] = [("Mb/s", 1, 1_000), ("Gb/s", 1, 1), ("Tb/s", 1_000, 1)];

/// What a link carries \[Gb/s of data\]: of a width and a speed, or as it is written.
pub fn read(text: &str, path: &str) -> Result<Fraction, ConfigError> {
    let named = || {
        let (width, speed) = text.trim().split_once(char::is_whitespace)?;
        let (_, lanes) = WIDTHS.into_iter().find(|(name, _)| *name == width)?;
        let (_, numerator, denominator) = SPEEDS.into_iter().find(|(name, ..)| *name == speed.trim())?;
        Fraction::new(lanes * numerator, denominator)
    };
    named().map_or_else(|| positive(text, &UNITS, path), Ok).map_err(|refused| {
        let (widths, speeds) = (WIDTHS.map(|width| width.0), SPEEDS.map(|speed| speed.0));
        ConfigError { reason: "is a rate that no link has".into(), ..refused }.valid(format!(
            "{} and {}, as \"4x DDR\"; or a number above 0 and Mb/s, Gb/s, Tb/s, as \"13 Gb/s\"",
            widths.join(", "),
            speeds.join(", ")
        ))
    })
}
