//! Why a program is refused.

use std::fmt;

/// A mistake in a program: where it is, what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Line of the file, from 1, if one is meant.
    pub line: Option<u64>,
    /// Rank concerned, if one is meant.
    pub rank: Option<u32>,
    /// What is wrong, and what was expected.
    pub reason: String,
}

impl ProgramError {
    /// A mistake in the whole program.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { line: None, rank: None, reason: reason.into() }
    }

    /// The mistake in this line.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The mistake in this rank.
    #[must_use]
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = Some(rank);
        self
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(rank) = self.rank {
            write!(f, "rank {rank}: ")?;
        }
        write!(f, "{}", self.reason)
    }
}

impl std::error::Error for ProgramError {}

/// A parameter of a program that cannot be: its key, its value, why not, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the parameter, as in the field that holds it.
    pub key: &'static str,
    /// The value as a user would write it.
    pub value: String,
    /// Why the value is refused.
    pub reason: String,
    /// What would be valid.
    pub valid: String,
}

impl Refusal {
    /// The refusal of a parameter with all its parts.
    pub fn new(
        key: &'static str,
        value: impl fmt::Display,
        reason: impl Into<String>,
        valid: impl Into<String>,
    ) -> Self {
        Self { key, value: value.to_string(), reason: reason.into(), valid: valid.into() }
    }

    /// Refuses a number that is not in this range.
    pub(crate) fn unless_within(
        key: &'static str,
        value: impl Into<u64>,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<(), Self> {
        let value = value.into();
        let (least, most) = range.into_inner();
        let reason = if value < least { "it is too small" } else { "it is too large" };
        let is_within = (least..=most).contains(&value);
        is_within.then_some(()).ok_or_else(|| Self::new(key, value, reason, format!("{least} to {most}")))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, reason, valid } = self;
        write!(f, "{key} = {value}: {reason}; valid: {valid}")
    }
}

impl std::error::Error for Refusal {}
