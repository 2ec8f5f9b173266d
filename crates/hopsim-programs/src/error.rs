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
    /// Something wrong with the whole.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { line: None, rank: None, reason: reason.into() }
    }

    /// In this line.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Of this rank.
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
