//! Mistakes in an experiment document.

use hopsim_memory::Shortage;
use std::fmt;
use std::ops::RangeInclusive;

/// A mistake in the experiment document: which key, which value, why, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Dotted path of the key, e.g. `router.cioq.vcs.local`.
    pub path: String,
    /// The offending value as written, if there is one.
    pub value: Option<String>,
    /// Why the value is refused.
    pub reason: String,
    /// What would be valid.
    pub valid: Option<String>,
    /// Where the value came from.
    pub origin: Origin,
}

/// Where a value of the document came from. Lines and columns count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A default, or not known.
    #[default]
    Unknown,
    /// The text of the document.
    Text {
        /// Line of the key, or of the nearest table above it.
        line: u32,
        /// Column.
        column: u32,
    },
    /// The sweep of the document.
    Sweep {
        /// Line of the swept key.
        line: u32,
        /// Column.
        column: u32,
    },
    /// The command line or a function call.
    Override,
}

impl ConfigError {
    /// An error at `path` for `reason`.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), value: None, reason: reason.into(), valid: None, origin: Origin::Unknown }
    }

    /// A network for which there is no room.
    pub fn too_large(shortage: Shortage) -> Self {
        Self::new("topology", shortage.to_string())
    }

    /// The error with the offending value.
    #[must_use]
    pub fn value(mut self, value: impl fmt::Display) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// The error with what would be valid.
    #[must_use]
    pub fn valid(mut self, valid: impl Into<String>) -> Self {
        self.valid = Some(valid.into());
        self
    }

    /// The error with the unit of what would be valid.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> Self {
        self.valid = self.valid.map(|valid| format!("{valid} {unit}"));
        self
    }

    /// The error with the name that was probably meant, if there is one.
    #[must_use]
    pub fn suggestion(mut self, meant: Option<&str>) -> Self {
        if let Some(meant) = meant {
            self.reason = format!("{}; did you mean {meant}?", self.reason);
        }
        self
    }

    /// The error with `prefix` before its path, for a mechanism that does not know where it stands in the document.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.path = if self.path.is_empty() { prefix.into() } else { format!("{prefix}.{}", self.path) };
        self
    }
}

/// Refuses the value of a key out of its range, which the schema reads, too.
pub fn within<T: PartialOrd + fmt::Display>(
    range: RangeInclusive<T>,
    value: T,
    key: impl Into<String>,
) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, "out of range").value(value).valid(valid(&range)))
}

/// A range in words.
pub fn valid<T: fmt::Display>(range: &RangeInclusive<T>) -> String {
    format!("{} … {}", range.start(), range.end())
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Origin::Text { line, column } | Origin::Sweep { line, column } = self.origin {
            write!(f, "line {line}, column {column}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}", self.path)?;
            if let Some(value) = &self.value {
                write!(f, " = {value}")?;
            }
            match self.origin {
                Origin::Override => write!(f, " (override)")?,
                Origin::Sweep { .. } => write!(f, " (from the sweep)")?,
                Origin::Text { .. } | Origin::Unknown => {}
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.reason)?;
        match &self.valid {
            Some(valid) if self.reason.ends_with('?') => write!(f, " Valid: {valid}"),
            Some(valid) => write!(f, "; valid: {valid}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}
