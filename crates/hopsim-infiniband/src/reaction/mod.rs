//! What sources do about notifications. A reaction is a file, with what the document may say, its parameters and what it knows of
//! the reaction points, and a row of `reactions!`.

pub mod aimd;
pub mod dcqcn;
pub mod hpcc;
pub mod nscc;
pub mod rates;
pub mod swift;
pub mod table;
pub mod timely;

use crate::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service levels of a host.
pub(crate) const SERVICE_LEVELS: u32 = 16;

/// What a source has to hear of to react.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Marks, by notification packets or acknowledgements.
    Marks,
    /// Acknowledgements, of any number of packets.
    Acknowledgements,
    /// An acknowledgement of every packet, for which those of a window wait.
    Windows,
    /// What a window needs, and in each acknowledgement what switches have noted in the packet.
    Telemetry,
}

impl Needs {
    /// Whether packets wait for acknowledgements.
    pub fn has_windows(self) -> bool {
        matches!(self, Self::Windows | Self::Telemetry)
    }
}

/// What a switch notes in a data packet whose head goes onto a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The port to the link.
    pub port: u32,
    /// When the head goes onto the link.
    pub at: Ticks,
    /// The bytes of the packets that wait for the link behind it.
    pub waiting: u64,
    /// The bytes of the packets that have gone onto the link before it.
    pub sent: u64,
    /// The time of a byte on the link.
    pub byte: Ticks,
}

/// What a point has under way, and would send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// Bytes that are not acknowledged.
    pub under_way: u64,
    /// The packet that waits \[bytes\].
    pub bytes: u32,
    /// The longest packet \[bytes\].
    pub mtu: u32,
}

/// What an acknowledgement tells the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo<'n> {
    /// Whether one of the packets that it is about was marked.
    pub marked: bool,
    /// The time from the start of the last of these packets to now: the round trip.
    pub round_trip: Ticks,
    /// The bytes of these packets.
    pub bytes: u64,
    /// The longest packet \[bytes\].
    pub mtu: u32,
    /// What switches have noted in the last of these packets, in the order of its way.
    pub notes: &'n [Note],
}

/// All reaction points of a reaction, in the order in which they were added.
pub(crate) trait ReactionPoints {
    /// Adds a reaction point at a place: host · 16 + service level. The longest packet takes so long on the link of the host.
    fn add(&mut self, place: u32, longest: Ticks);

    /// A packet of a point starts, which has so many bytes and takes so long on the link: the time to the start of the next one.
    fn gap(&mut self, point: usize, now: Ticks, length: (u64, Ticks)) -> Ticks;

    /// A point has been notified of marks.
    fn notify(&mut self, point: usize, now: Ticks);

    /// Packets of a point have been acknowledged.
    fn acknowledged(&mut self, point: usize, now: Ticks, echo: Echo<'_>) {
        if echo.marked {
            self.notify(point, now);
        }
    }

    /// Whether a point may send a packet, where others wait for acknowledgements.
    fn has_room(&self, _point: usize, _flight: Flight) -> bool {
        true
    }

    /// When a point may send again, if acknowledgements change that.
    fn ready(&self, _point: usize) -> Option<Ticks> {
        None
    }

    /// The congestion control table index of a point; 0 if there is no table.
    fn index(&self, _point: usize, _now: Ticks) -> u16 {
        0
    }

    /// For how many ticks before `now` the table index of a point was at its limit; 0 if there is no table.
    fn limited(&self, _point: usize, _now: Ticks) -> Ticks {
        0
    }
}

/// The reactions in the engine: name of the parameters, and file, whose `Points` are all reaction points.
macro_rules! schemes {
    ($($name:ident($module:ident),)*) => {
        /// What a reaction point does.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Reaction {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name),)*
        }

        impl Reaction {
            /// What the reaction needs to hear of.
            pub fn needs(&self) -> Needs {
                match self {
                    $(Self::$name(_) => $module::NEEDS,)*
                }
            }
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

            /// See [`ReactionPoints::add`].
            pub fn add(&mut self, place: u32, longest: Ticks) {
                match self {
                    $(Self::$name(points) => points.add(place, longest),)*
                }
            }

            /// See [`ReactionPoints::gap`].
            #[inline]
            pub fn gap(&mut self, point: usize, now: Ticks, length: (u64, Ticks)) -> Ticks {
                match self {
                    $(Self::$name(points) => points.gap(point, now, length),)*
                }
            }

            /// See [`ReactionPoints::notify`].
            pub fn notify(&mut self, point: usize, now: Ticks) {
                match self {
                    $(Self::$name(points) => points.notify(point, now),)*
                }
            }

            /// See [`ReactionPoints::acknowledged`].
            pub fn acknowledged(&mut self, point: usize, now: Ticks, echo: Echo<'_>) {
                match self {
                    $(Self::$name(points) => points.acknowledged(point, now, echo),)*
                }
            }

            /// See [`ReactionPoints::has_room`].
            pub fn has_room(&self, point: usize, flight: Flight) -> bool {
                match self {
                    $(Self::$name(points) => points.has_room(point, flight),)*
                }
            }

            /// See [`ReactionPoints::ready`].
            pub fn ready(&self, point: usize) -> Option<Ticks> {
                match self {
                    $(Self::$name(points) => points.ready(point),)*
                }
            }

            /// See [`ReactionPoints::index`].
            pub fn index(&self, point: usize, now: Ticks) -> u16 {
                match self {
                    $(Self::$name(points) => points.index(point, now),)*
                }
            }

            /// See [`ReactionPoints::limited`].
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
            /// The reactions that need nothing but what stands in `reaction`: all but the table.
            pub const OTHERS: &[&str] = &[$(stringify!($module),)*];

            /// What the reaction needs to hear of.
            pub fn needs(&self) -> Needs {
                match self {
                    Self::Table => table::NEEDS,
                    $(Self::$name(_) => $module::NEEDS,)*
                }
            }

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
fn keyed<'t>(
    module: &str,
    times: impl IntoIterator<Item = (&'static str, &'t str)>,
) -> Vec<(String, &'t str)> {
    times.into_iter().map(|(key, text)| (format!("reaction.{module}.{key}"), text)).collect()
}

/// As many times as a reaction has.
fn all<'t, T: TryFrom<&'t [Ticks]>>(times: &'t [Ticks]) -> T {
    times.try_into().unwrap_or_else(|_| unreachable!("these are the times that it asked for"))
}

reactions! {
    /// The source waits by a table, whose index (CCTI) notifications raise and a timer lowers.
    Table(table),
    /// The source keeps to a rate, which falls by a share of itself with every notification and rises in even steps.
    Aimd(aimd),
    /// The source keeps to a rate as with DCQCN, which falls by a share that notifications raise, and recovers by a timer and a counter of
    /// bytes.
    Dcqcn(dcqcn),
    /// The source keeps to a rate as with TIMELY, which rises and falls with the round trips that acknowledgements tell of.
    Timely(timely),
    /// The source keeps to a window as with Swift, which rises while round trips are shorter than a target and falls when they are longer.
    Swift(swift),
    /// The source keeps to a window as with NSCC, which marks and round trips together raise and lower.
    Nscc(nscc),
    /// The source keeps to a rate and a window as with HPCC, which follow what switches note in packets of how much is on their links.
    Hpcc(hpcc),
}
