//! What sources do about notifications. A scheme is a file, with its parameters and with what it knows of the reaction points, and
//! a row of `schemes!`.

pub mod aimd;
pub mod table;

use crate::time::Ticks;
use hopsim_random::Stream;

/// Service levels of a host.
pub(crate) const SERVICE_LEVELS: u32 = 16;

/// The schemes: name of the parameters, and file. The `Points` of a file are all reaction points, in the order in which they were
/// added.
macro_rules! schemes {
    ($($(#[$doc:meta])* $name:ident($module:ident),)*) => {
        /// What a reaction point does.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Reaction {
            $($(#[$doc])* $name($module::$name),)*
        }

        /// All reaction points.
        #[derive(Clone, Debug)]
        pub(crate) enum Scheme<'f> {
            $($name($module::Points<'f>),)*
        }

        impl<'f> Scheme<'f> {
            /// No reaction points; `streams` are the random streams of the hosts.
            pub fn new(reaction: &'f Reaction, streams: &mut [Stream]) -> Self {
                match reaction {
                    $(Reaction::$name(rules) => Self::$name($module::Points::new(rules, streams)),)*
                }
            }

            /// Adds a reaction point at a place: host · 16 + service level.
            pub fn add(&mut self, place: u32) {
                match self {
                    $(Self::$name(points) => points.add(place),)*
                }
            }

            /// The time from the start of a packet of a point, which takes `time` on the link, to the start of the next one.
            #[inline]
            pub fn gap(&self, point: usize, now: Ticks, time: Ticks) -> Ticks {
                match self {
                    $(Self::$name(points) => points.gap(point, now, time),)*
                }
            }

            /// A point has been notified.
            pub fn notify(&mut self, point: usize, now: Ticks) {
                match self {
                    $(Self::$name(points) => points.notify(point, now),)*
                }
            }

            /// The congestion control table index of a point; 0 if there is no table.
            pub fn index(&self, point: usize, now: Ticks) -> u16 {
                match self {
                    $(Self::$name(points) => points.index(point, now),)*
                }
            }

            /// For how many ticks before `now` the table index of a point was at its limit; 0 if there is no table.
            pub fn limited(&self, point: usize, now: Ticks) -> Ticks {
                match self {
                    $(Self::$name(points) => points.limited(point, now),)*
                }
            }
        }
    };
}

schemes! {
    /// A wait by an index into a table.
    Table(table),
    /// A rate that falls by a share and rises by steps.
    Aimd(aimd),
}
