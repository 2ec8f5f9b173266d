//! Which format a file is in, and what is in it.

use super::{dimemas, goal, goal_binary, mpt, paraver, table};
use crate::collectives::Choices;
use crate::error::ProgramError;
use crate::graph::Graph;
use crate::info::{self, Info};
use crate::program::Program;
use crate::trace::Trace;
use std::io::{self, Write};
use std::sync::Arc;

/// The formats of programs in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Traces of MPI calls as text, see [`mpt`].
    Mpt,
    /// Traces for Dimemas, see [`dimemas`].
    Dimemas,
    /// Traces for Paraver, see [`paraver`].
    Paraver,
    /// GOAL as text, see [`goal`].
    Goal,
    /// GOAL in binary form, see [`goal_binary`].
    GoalBinary,
    /// Tables of explicit traffic, see [`table`].
    Table,
}

/// A program as its file says it.
#[derive(Clone, Debug)]
pub enum Contents {
    /// A sequence of calls for each rank.
    Trace(Trace),
    /// A graph of operations for each rank.
    Graph(Graph),
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Mpt, Self::Dimemas, Self::Paraver, Self::Goal, Self::GoalBinary, Self::Table];

    /// What users call the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpt => "mpt",
            Self::Dimemas => "dimemas",
            Self::Paraver => "paraver",
            Self::Goal => "goal",
            Self::GoalBinary => "goal-binary",
            Self::Table => "table",
        }
    }

    /// The format that users call so.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of a file that begins like this; text without any sign of a format is taken for mpt.
    pub fn of(contents: &[u8]) -> Self {
        if goal_binary::is_binary(contents) {
            return Self::GoalBinary;
        }
        if contents.starts_with(b"#DIMEMAS") {
            return Self::Dimemas;
        }
        if contents.starts_with(paraver::BEGINNING) {
            return Self::Paraver;
        }
        if goal::read_ranks(contents).is_ok() {
            return Self::Goal;
        }
        if table::is_table(contents) { Self::Table } else { Self::Mpt }
    }

    /// Reads a file, and refuses what cannot be executed.
    pub fn read(self, contents: &[u8]) -> Result<Contents, ProgramError> {
        match self {
            Self::Mpt => Contents::of_trace(mpt::read(contents)?),
            Self::Dimemas => Contents::of_trace(dimemas::read(contents)?),
            Self::Paraver => Contents::of_trace(paraver::read(contents)?),
            Self::Goal => Contents::of_graph(goal::read(contents)?),
            Self::GoalBinary => Contents::of_graph(goal_binary::read(contents)?),
            Self::Table => Contents::of_graph(table::read(contents)?),
        }
    }
}

impl Contents {
    fn of_trace(trace: Trace) -> Result<Self, ProgramError> {
        trace.check()?;
        Ok(Self::Trace(trace))
    }

    /// A graph, if it can be executed.
    pub fn of_graph(graph: Graph) -> Result<Self, ProgramError> {
        graph.check()?;
        Ok(Self::Graph(graph))
    }

    /// The totals of the program.
    pub fn info(&self) -> Info {
        match self {
            Self::Trace(trace) => info::of_trace(trace),
            Self::Graph(graph) => info::of_graph(graph),
        }
    }

    /// Writes the program in a format, with what that can say: see the writers. Collective operations become the messages of the
    /// algorithms chosen where a format has none. A graph gets a name where a format has one.
    pub fn write(
        &self,
        (format, name): (Format, &str),
        choices: &Choices,
        writer: impl Write,
    ) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        // In a graph a message may be received with other bytes than it is sent with, in a sequence not.
        let sequence = |graph: &Graph| {
            let sequence = graph.sequence(name)?;
            sequence.check()?;
            Ok(sequence)
        };
        match (self, format) {
            (_, Format::Table) => Err(invalid(ProgramError::new(
                "tables have no dependencies; expected mpt, dimemas, goal or goal-binary",
            ))),
            (_, Format::Paraver) => Err(invalid(ProgramError::new(
                "a file for Paraver has the times of a run, and a program has none; expected mpt, dimemas, goal or goal-binary",
            ))),
            (Self::Trace(trace), Format::Mpt) => mpt::write(trace, writer),
            (Self::Trace(trace), Format::Dimemas) => dimemas::write(trace, writer),
            (Self::Trace(trace), Format::Goal) => goal::write(trace, choices, writer),
            (Self::Trace(trace), Format::GoalBinary) => {
                goal_binary::write(&goal::unroll(trace, choices).map_err(invalid)?, writer)
            }
            (Self::Graph(graph), Format::Mpt) => mpt::write(&sequence(graph).map_err(invalid)?, writer),
            (Self::Graph(graph), Format::Dimemas) => {
                dimemas::write(&sequence(graph).map_err(invalid)?, writer)
            }
            (Self::Graph(graph), Format::Goal) => {
                goal::write_graph(&goal::unroll_graph(graph, choices).map_err(invalid)?, writer)
            }
            (Self::Graph(graph), Format::GoalBinary) => {
                goal_binary::write(&goal::unroll_graph(graph, choices).map_err(invalid)?, writer)
            }
        }
    }

    /// The program, ready to be run.
    pub fn program(self) -> Program {
        match self {
            Self::Trace(trace) => Program::Script(Arc::new(trace)),
            Self::Graph(graph) => Program::Graph(Arc::new(graph)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_how_they_begin() {
        for (text, format) in [
            ("mpt 1\nname x\n", Format::Mpt),
            ("#DIMEMAS:\"x\":1,0:2(1,1),1\n", Format::Dimemas),
            ("#Paraver (1/1/70 at 0:0):0_ns:0:1:1(1:1)\n", Format::Paraver),
            ("// made by hand\n/* so */ num_ranks 2\nrank 0 {\n", Format::Goal),
            ("# a table\n\nsource,destination,bytes,time_ns\n", Format::Table),
            ("time_cycle,source,destination,bytes\n", Format::Mpt),
            ("\u{7f}\u{10}\0\0\0\0\0\0", Format::GoalBinary),
            ("", Format::Mpt),
        ] {
            assert_eq!(Format::of(text.as_bytes()), format, "{text}");
        }
        assert!(Format::ALL.into_iter().all(|format| Format::from_name(format.name()) == Some(format)));
    }

    #[test]
    fn what_cannot_be_executed_is_refused() {
        let error = Format::Goal.read(b"num_ranks 1\nrank 0 {\nsend 8b to 0\n}\n").unwrap_err();
        assert!(error.to_string().starts_with("line 3: rank 0: of the messages to rank 0"), "{error}");
    }

    #[test]
    fn a_graph_becomes_a_sequence_only_if_that_can_be_read_again() {
        let goal = |bytes| {
            format!("num_ranks 2\nrank 0 {{\nsend 8b to 1\n}}\nrank 1 {{\nrecv {bytes}b from 0\n}}\n")
        };
        let write = |bytes, format| {
            let contents = Format::Goal.read(goal(bytes).as_bytes()).unwrap();
            contents.write((format, "x"), &Choices::default(), Vec::new()).map_err(|error| error.to_string())
        };
        for format in [Format::Mpt, Format::Dimemas] {
            assert_eq!(write(8, format), Ok(()));
            let refused = write(16, format).unwrap_err();
            assert!(refused.contains("8 bytes") && refused.contains("16 where it is received"), "{refused}");
        }
        assert_eq!(write(16, Format::GoalBinary), Ok(()));
    }
}
