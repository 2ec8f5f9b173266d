//! What is measured when.

use super::clock::{Clock, Time};
use crate::config::Experiment;
use crate::config::measure::{RecordStream, TimeConfig};
use crate::plan::MOST_ROWS;
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;

/// The streams with a row per interval.
const OF_INTERVALS: [RecordStream; 3] =
    [RecordStream::FlowSeries, RecordStream::QueueSeries, RecordStream::LinkSeries];

/// A run, in ticks from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Beginning of the window.
    pub warmup: Ticks,
    /// End of the window and the run.
    pub end: Ticks,
    /// Interval of the series, if there are any.
    pub interval: Option<Ticks>,
}

impl Span {
    /// Length of the window.
    pub fn window(&self) -> Ticks {
        self.end - self.warmup
    }
}

/// The times of a run, as a document says them.
pub struct SpanTimes {
    warmup: Time,
    window: Time,
    interval: Option<Time>,
    /// The times as text, for messages.
    written: TimeConfig,
}

/// Reads and checks what a document wants to measure.
pub fn read(experiment: &Experiment, clock: &mut Clock) -> Result<SpanTimes, ConfigError> {
    let measure = &experiment.measure;
    let written = measure.time.clone().unwrap_or_default();
    check_streams(experiment, written.interval.as_deref())?;
    let interval = written.interval.as_ref();
    let interval = interval.map(|interval| clock.positive(interval, "measure.time.interval")).transpose()?;
    Ok(SpanTimes {
        warmup: clock.time(&written.warmup, "measure.time.warmup")?,
        window: clock.positive(&written.window, "measure.time.window")?,
        interval,
        written,
    })
}

fn check_streams(experiment: &Experiment, interval: Option<&str>) -> Result<(), ConfigError> {
    let streams = &experiment.measure.streams;
    let of_programs: &[RecordStream] =
        if experiment.has_programs() { &RecordStream::OF_PROGRAMS } else { &[] };
    let known =
        [&RecordStream::OF_FABRICS[..], &[RecordStream::LinkSeries, RecordStream::Links], of_programs]
            .concat();
    if let Some(index) = streams.iter().position(|stream| !known.contains(stream)) {
        let names: Vec<String> = known.into_iter().map(RecordStream::name).collect();
        let reason = if RecordStream::OF_PROGRAMS.contains(&streams[index]) {
            "no job runs a program"
        } else {
            "an InfiniBand fabric does not have it"
        };
        return Err(ConfigError::new(format!("measure.streams.{index}"), reason)
            .value(format!("{:?}", streams[index].name()))
            .valid(names.join(", ")));
    }
    let series = streams.iter().find(|stream| OF_INTERVALS.contains(stream));
    match (series, interval) {
        (Some(series), None) => {
            let reason = format!("is missing: the stream {} has a row per interval", series.name());
            Err(ConfigError::new("measure.time.interval", reason).valid("a time as \"10 ms\""))
        }
        (None, Some(interval)) => {
            let [names @ .., last] = OF_INTERVALS.map(RecordStream::name);
            Err(ConfigError::new("measure.time.interval", "no stream has a row per interval")
                .value(format!("{interval:?}"))
                .valid(format!("no such key, or measure.streams with {} or {last}", names.join(", "))))
        }
        _ => Ok(()),
    }
}

impl SpanTimes {
    /// The run in ticks. A run of programs begins at 0 and takes `longest` at most, whatever window there is.
    pub fn span(&self, clock: &Clock, longest: Option<Ticks>) -> Result<Span, ConfigError> {
        let (warmup, end) = if let Some(longest) = longest {
            (0, longest)
        } else {
            let warmup = clock.ticks(&self.warmup)?;
            (warmup, warmup + clock.ticks(&self.window)?)
        };
        let interval = self.interval.as_ref().map(|interval| clock.ticks(interval)).transpose()?;
        if interval.is_some_and(|interval| interval > end) {
            let text = self.written.interval.clone().unwrap_or_default();
            return Err(ConfigError::new(
                "measure.time.interval",
                "the run ends before the first interval does",
            )
            .value(format!("{text:?}"))
            .valid(match longest {
                Some(_) => "a shorter time, or more cycles in measure.max_cycles".into(),
                None => format!("at most {} and {}", self.written.warmup, self.written.window),
            }));
        }
        Ok(Span { warmup, end, interval })
    }
}

/// Refuses series that are too long for so many flows.
pub fn check_rows(experiment: &Experiment, span: &Span, flows: usize) -> Result<(), ConfigError> {
    let rows = span.interval.map_or(0, |interval| (span.end / interval).saturating_mul(flows as u64));
    if rows <= u64::from(MOST_ROWS) {
        return Ok(());
    }
    let text = experiment.measure.time.as_ref().and_then(|time| time.interval.clone()).unwrap_or_default();
    let reason = format!("the series of {flows} flows would have more than {MOST_ROWS} rows");
    Err(ConfigError::new("measure.time.interval", reason).value(format!("{text:?}")).valid(
        if experiment.has_programs() {
            "a longer time, or fewer cycles in measure.max_cycles".into()
        } else {
            format!("at least {} times as long", rows.div_ceil(u64::from(MOST_ROWS)))
        },
    ))
}
