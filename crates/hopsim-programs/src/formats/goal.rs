//! GOAL, the "group operation assembly language" (Hoefler, Siebert & Lumsdaine 2009, ICPP), as text: the form that `LogGOPSim`
//! and its schedule generators use. Times are in ns, sizes in bytes.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   a: calc 300                  // on the processor, stream 0
//!   b: send 8b to 1 tag 7 cpu 1  // on stream 1; a missing tag is 0
//!   b requires a                 // a is done before b begins
//! }
//! rank 1 {
//!   a: recv 8b from -1 tag -1    /* from anyone, with any tag */
//!   b: calc 50
//!   b irequires a                // a has started before b begins
//! }
//! ```
//!
//! One statement a line; labels, letters, digits and `_`, are known before they are used. Every rank has one block. `nic` other
//! than 0 is refused.

mod export;
mod messages;

pub use export::{unroll, write};
pub use messages::unroll_graph;

use super::text::{self, Fields, Lines, quoted};
use crate::error::ProgramError;
use crate::graph::{Clock, Dependency, Graph, Operation, RankGraph};
use crate::record::Rank;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::io::{self, BufRead, Write};

/// Reads a graph.
pub fn read(reader: impl BufRead) -> Result<Graph, ProgramError> {
    let mut statements = Statements::new(reader);
    let ranks = number_of_ranks(&mut statements)?;
    let mut blocks: FxHashMap<Rank, RankGraph> = FxHashMap::default();
    while statements.advance()? {
        let rank = beginning(statements.text(), ranks).map_err(|error| statements.locate(error))?;
        if blocks.contains_key(&rank) {
            let error = ProgramError::new("expected one block for each rank, got a second one");
            return Err(statements.locate(error).rank(rank));
        }
        let block = block(&mut statements, rank, ranks)?;
        blocks.insert(rank, block);
    }
    let block = |rank| {
        let missing = || ProgramError::new(format!("expected a block `rank {rank} {{`, got none")).rank(rank);
        blocks.remove(&rank).ok_or_else(missing)
    };
    let graphs = (0..ranks).map(block).collect::<Result<_, _>>()?;
    Ok(Graph { communicators: vec![(0..ranks).collect()], ranks: graphs, ..Graph::default() })
}

/// The number of ranks that a file says in the beginning.
pub(super) fn read_ranks(reader: impl BufRead) -> Result<u32, ProgramError> {
    number_of_ranks(&mut Statements::new(reader))
}

/// Lines without comments.
struct Statements<R> {
    lines: Lines<R>,
    /// The current line without its comments, if it has some.
    stripped: Option<Vec<u8>>,
    is_in_comment: bool,
}

impl<R: BufRead> Statements<R> {
    fn new(reader: R) -> Self {
        Self { lines: Lines::new(reader), stripped: None, is_in_comment: false }
    }

    /// Goes to the next line that has more than comments; false at the end.
    fn advance(&mut self) -> Result<bool, ProgramError> {
        loop {
            if !self.lines.advance()? {
                let unclosed = || self.lines.error("the file ends in a comment; expected `*/`");
                return if self.is_in_comment { Err(unclosed()) } else { Ok(false) };
            }
            let has_comment = self.is_in_comment || self.lines.text().contains(&b'/');
            self.stripped = has_comment.then(|| strip(self.lines.text(), &mut self.is_in_comment));
            if Fields::of(self.text()).next().is_some() {
                return Ok(true);
            }
        }
    }

    fn text(&self) -> &[u8] {
        self.stripped.as_deref().unwrap_or_else(|| self.lines.text())
    }

    fn locate(&self, error: ProgramError) -> ProgramError {
        error.line(self.lines.number)
    }
}

/// A line without its comments, which begins, and then ends, in one or not.
fn strip(mut line: &[u8], is_in_comment: &mut bool) -> Vec<u8> {
    let mut stripped = Vec::new();
    while let Some(&byte) = line.first() {
        let length = if *is_in_comment {
            *is_in_comment = !line.starts_with(b"*/");
            if *is_in_comment { 1 } else { 2 }
        } else if line.starts_with(b"//") {
            break;
        } else if line.starts_with(b"/*") {
            *is_in_comment = true;
            stripped.push(b' ');
            2
        } else {
            stripped.push(byte);
            1
        };
        line = &line[length..];
    }
    stripped
}

fn number_of_ranks<R: BufRead>(statements: &mut Statements<R>) -> Result<u32, ProgramError> {
    if !statements.advance()? {
        return Err(statements.locate(ProgramError::new("the file ends here; expected `num_ranks`")));
    }
    let mut fields = Fields::of(statements.text());
    let ranks =
        fields.keyword("num_ranks").and_then(|()| fields.number("the number of ranks", 1..=u32::MAX.into()));
    let ranks = ranks.and_then(|ranks| fields.end().map(|()| ranks as u32));
    ranks.map_err(|error| statements.locate(error))
}

/// The rank whose block begins in this line.
fn beginning(line: &[u8], ranks: u32) -> Result<Rank, ProgramError> {
    let line = line.trim_ascii_end();
    let open = line.strip_suffix(b"{");
    let mut fields = Fields::of(open.unwrap_or(line));
    fields.keyword("rank")?;
    let rank = fields.number("a rank", 0..=u64::from(ranks) - 1)? as Rank;
    if open.is_none() {
        fields.keyword("{")?;
    }
    fields.end().map(|()| rank)
}

/// What is known of a block so far.
struct Block {
    ranks: u32,
    graph: RankGraph,
    labels: FxHashMap<SmallVec<[u8; 16]>, u32>,
}

fn block<R: BufRead>(
    statements: &mut Statements<R>,
    rank: Rank,
    ranks: u32,
) -> Result<RankGraph, ProgramError> {
    let mut block = Block { ranks, graph: RankGraph::default(), labels: FxHashMap::default() };
    loop {
        let start = statements.lines.number;
        if !statements.advance()? {
            let error =
                ProgramError::new(format!("the file ends in the block; expected `}}` behind line {start}"));
            return Err(statements.locate(error).rank(rank));
        }
        if statements.text().trim_ascii() == b"}" {
            break;
        }
        let line = statements.lines.number;
        block.statement(statements.text(), line).map_err(|error| error.line(line).rank(rank))?;
    }
    block.finish().map_err(|error| error.rank(rank))
}

impl Block {
    fn statement(&mut self, line: &[u8], number: u64) -> Result<(), ProgramError> {
        if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            let label = self.new_label(line[..colon].trim_ascii())?;
            let operation = self.operation(Fields::of(&line[colon + 1..]), number)?;
            self.labels.insert(label, operation);
            return Ok(());
        }
        let mut fields = Fields::of(line);
        let first = fields.word("a statement")?;
        if matches!(first, b"send" | b"recv" | b"calc") {
            return self.operation(Fields::of(line), number).map(|_| ());
        }
        let started = match fields.next() {
            Some(b"requires") => false,
            Some(b"irequires") => true,
            _ => {
                return Err(ProgramError::new(format!(
                    "expected an operation (send, recv, calc), `LABEL requires LABEL`, `LABEL irequires LABEL` or `}}`, \
                     got {}",
                    quoted(line)
                )));
            }
        };
        let (operation, on) = (self.known(first)?, self.known(fields.word("a label")?)?);
        fields.end()?;
        self.graph.dependencies.push(Dependency { operation, on, started });
        Ok(())
    }

    fn known(&self, label: &[u8]) -> Result<u32, ProgramError> {
        let unknown =
            || ProgramError::new(format!("expected the label of an operation above, got {}", quoted(label)));
        self.labels.get(label).copied().ok_or_else(unknown)
    }

    fn new_label(&self, label: &[u8]) -> Result<SmallVec<[u8; 16]>, ProgramError> {
        let is_label = label.first().is_some_and(u8::is_ascii_alphabetic)
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if !is_label {
            let got = quoted(label);
            return Err(ProgramError::new(format!(
                "expected a label, a letter and then letters, digits or `_`, got {got}"
            )));
        }
        match self.labels.get(label) {
            None => Ok(label.into()),
            Some(&other) => {
                let line = self.graph.lines[other as usize];
                let label = quoted(label);
                Err(ProgramError::new(format!("expected a new label, got {label}, which line {line} has")))
            }
        }
    }

    fn operation(&mut self, mut fields: Fields<'_>, line: u64) -> Result<u32, ProgramError> {
        let any = u64::from(u32::MAX);
        let ranks = 0..=u64::from(self.ranks) - 1;
        let word = fields.word("an operation")?;
        let (operation, stream) = match word {
            b"send" => {
                let bytes = bytes(&mut fields)?;
                fields.keyword("to")?;
                let peer = fields.number("a rank", ranks)? as Rank;
                let options = Options::read(fields)?;
                let tag = options.tag.map_or(Ok(0), |tag| text::number(tag, "a tag", 0..=any - 1))?;
                (Operation::Send { peer, tag: tag as u32, bytes }, options.stream)
            }
            b"recv" => {
                let bytes = bytes(&mut fields)?;
                fields.keyword("from")?;
                let source = fields.word("a rank")?;
                let peer = or_any(source, |source| text::number(source, "a rank, or -1 for any", ranks))?;
                let options = Options::read(fields)?;
                let tag = options.tag.unwrap_or(b"0");
                let tag = or_any(tag, |tag| text::number(tag, "a tag, or -1 for any", 0..=any - 1))?;
                (Operation::Receive { peer, tag, bytes }, options.stream)
            }
            b"calc" => {
                let nanoseconds = fields.number("nanoseconds", 0..=u64::MAX)?;
                let options = Options::read(fields)?;
                if options.tag.is_some() {
                    return Err(ProgramError::new("expected no `tag` of a calc"));
                }
                (Operation::Compute { time: nanoseconds }, options.stream)
            }
            _ => {
                return Err(ProgramError::new(format!(
                    "expected `send`, `recv` or `calc`, got {}",
                    quoted(word)
                )));
            }
        };
        Ok(self.graph.push(operation, stream, Some(line)))
    }

    /// The block is complete.
    fn finish(self) -> Result<RankGraph, ProgramError> {
        let Some(circle) = self.graph.circle() else { return Ok(self.graph) };
        let labels: FxHashMap<u32, &[u8]> =
            self.labels.iter().map(|(label, &operation)| (operation, label.as_slice())).collect();
        let name = |operation: &u32| labels.get(operation).map_or(String::new(), |label| quoted(label));
        let names: Vec<String> = circle.iter().chain(circle.first()).map(name).collect();
        let line = self.graph.lines[circle[0] as usize];
        Err(ProgramError::new(format!(
            "operations wait for each other in a circle: {}; expected none",
            names.join(" → ")
        ))
        .line(line.into()))
    }
}

fn or_any(
    field: &[u8],
    number: impl FnOnce(&[u8]) -> Result<u64, ProgramError>,
) -> Result<Option<u32>, ProgramError> {
    if field == b"-1" { Ok(None) } else { number(field).map(|number| Some(number as u32)) }
}

/// A size such as `8b`; also `8 b`.
fn bytes(fields: &mut Fields<'_>) -> Result<u64, ProgramError> {
    const WHAT: &str = "bytes, such as `8b`";
    let word = fields.word(WHAT)?;
    if let Some(digits) = word.strip_suffix(b"b") {
        return text::number(digits, WHAT, 0..=u64::MAX);
    }
    let bytes = text::number(word, WHAT, 0..=u64::MAX)?;
    fields.keyword("b").map(|()| bytes)
}

/// What may stand behind an operation.
struct Options<'a> {
    tag: Option<&'a [u8]>,
    stream: u8,
}

impl<'a> Options<'a> {
    fn read(mut fields: Fields<'a>) -> Result<Self, ProgramError> {
        let (mut tag, mut stream, mut nic) = (None, None, None);
        while let Some(key) = fields.next() {
            let is_new = match key {
                b"tag" => tag.replace(fields.word("a tag")?).is_none(),
                b"cpu" => stream.replace(fields.number("a cpu", 0..=u8::MAX.into())?).is_none(),
                b"nic" => nic.replace(fields.number("the only nic supported", 0..=0)?).is_none(),
                _ => {
                    let got = quoted(key);
                    return Err(ProgramError::new(format!(
                        "expected `tag`, `cpu`, `nic` or the end of the line, got {got}"
                    )));
                }
            };
            if !is_new {
                return Err(ProgramError::new(format!("expected {} once", quoted(key))));
            }
        }
        Ok(Self { tag, stream: stream.unwrap_or(0) as u8 })
    }
}

/// Writes a graph. Operations are labelled by their numbers; a join becomes a calc of 0 ns. A graph with collective operations
/// is refused.
pub fn write_graph(graph: &Graph, mut writer: impl Write) -> io::Result<()> {
    without_clock(graph)?;
    writeln!(writer, "num_ranks {}", graph.ranks.len())?;
    graph.ranks.iter().zip(0..).try_for_each(|(graph, rank)| write_rank(rank, graph, &mut writer))
}

fn write_rank(rank: Rank, graph: &RankGraph, writer: &mut impl Write) -> io::Result<()> {
    writeln!(writer, "rank {rank} {{")?;
    for (operation, number) in graph.operations.iter().zip(0..) {
        write!(writer, "l{number}: ")?;
        match operation {
            Operation::Compute { time } => write!(writer, "calc {time}")?,
            Operation::Join => write!(writer, "calc 0")?,
            Operation::Send { peer, tag, bytes } => {
                write!(writer, "send {bytes}b to {peer}")?;
                write_tag(Some(*tag), writer)?;
            }
            Operation::Receive { peer, tag, bytes } => {
                write!(writer, "recv {bytes}b from {}", peer.map_or(-1, i64::from))?;
                write_tag(*tag, writer)?;
            }
            Operation::Collective(_) => return Err(without_collectives()),
        }
        match graph.stream(number) {
            0 => writeln!(writer)?,
            stream => writeln!(writer, " cpu {stream}")?,
        }
    }
    for Dependency { operation, on, started } in &graph.dependencies {
        writeln!(writer, "l{operation} {}requires l{on}", if *started { "i" } else { "" })?;
    }
    writeln!(writer, "}}")
}

fn write_tag(tag: Option<u32>, writer: &mut impl Write) -> io::Result<()> {
    match tag {
        Some(0) => Ok(()),
        Some(tag) => write!(writer, " tag {tag}"),
        None => write!(writer, " tag -1"),
    }
}

/// Refuses a graph whose times processors do not change.
pub(super) fn without_clock(graph: &Graph) -> io::Result<()> {
    if graph.clock == Clock::Nanoseconds {
        return Ok(());
    }
    let reason = "GOAL has computations in ns only; expected a program that is no table of times";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The refusal of a graph whose collective operations have not been made messages.
pub(super) fn without_collectives() -> io::Error {
    let reason = "GOAL has no collective operations; expected a graph without them";
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(test)]
pub(super) mod tests;
