//! What sources do about notifications. A reaction is a file, with what the document may say, its parameters and what it knows of
//! the reaction points, and a row of `reactions!`.

pub mod aimd;
pub mod table;

use crate::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service levels of a host.
pub(crate) const SERVICE_LEVELS: u32 = 16;

/// The reactions in the engine: name of the parameters, and file. The `Points` of a file are all reaction points, in the order in
/// which they were added.
macro_rules! schemes {
    ($($name:ident($module:ident),)*) => {
        /// What a reaction point does.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Reaction {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name),)*
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

/// The reactions: what the document says of each, and its file. The keys of the table stand beside `reaction`; those of any other one
/// are the `Config` of its file.
macro_rules! reactions {
    ($(#[$of_table:meta])* Table(table), $($(#[$doc:meta])* $name:ident($module:ident),)*) => {
        /// What a source does about notifications.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[schemars(rename = "Reaction")]
        pub enum ReactionConfig {
            $(#[$of_table])*
            Table,
            $($(#[$doc])* $name($module::Config),)*
        }

        impl ReactionConfig {
            /// The times of another reaction than the table, all above 0, with their keys in congestion control.
            pub fn times(&self) -> Vec<(String, &str)> {
                match self {
                    Self::Table => Vec::new(),
                    $(Self::$name(config) => keyed(stringify!($module), config.times()),)*
                }
            }

            /// The reaction, with its times in ticks and what the document says of the table; errors have keys of congestion control.
            pub fn build(&self, table: &table::Config<'_>, times: &[Ticks]) -> Result<Reaction, ConfigError> {
                match self {
                    Self::Table => table.build(all(times)).map(Reaction::Table),
                    $(Self::$name(config) => {
                        let rules = config.build(all(times)).map_err(|error| error.within(stringify!($module)));
                        rules.map(Reaction::$name).map_err(|error| error.within("reaction"))
                    })*
                }
            }
        }

        schemes! {
            Table(table),
            $($name($module),)*
        }
    };
}

/// The times of a reaction with their keys in congestion control.
fn keyed<'t, const N: usize>(module: &str, times: [(&str, &'t str); N]) -> Vec<(String, &'t str)> {
    times.map(|(key, text)| (format!("reaction.{module}.{key}"), text)).to_vec()
}

/// As many times as a reaction has.
fn all<const N: usize>(times: &[Ticks]) -> [Ticks; N] {
    times.try_into().unwrap_or_else(|_| unreachable!("these are the times that it asked for"))
}

reactions! {
    /// The source waits by a table, whose index (CCTI) notifications raise and a timer lowers.
    Table(table),
    /// The source keeps to a rate, which falls by a share of itself with every notification and rises in even steps.
    Aimd(aimd),
}
