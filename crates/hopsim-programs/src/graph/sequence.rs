//! Graphs in which every operation follows the one before it, as traces.

use super::{Clock, Graph, Operation, RankGraph};
use crate::error::ProgramError;
use crate::record::{Message, Record};
use crate::trace::{Tape, Trace};
use smallvec::SmallVec;

/// A graph as a trace, see [`Graph::sequence`].
pub fn sequence(graph: &Graph, name: &str) -> Result<Trace, ProgramError> {
    if graph.clock != Clock::Nanoseconds {
        return Err(ProgramError::new("a table of times is no sequence of calls; expected a graph"));
    }
    let tape = |(own, rank)| Chain::new(own).tape().map_err(|error: ProgramError| error.rank(rank));
    let ranks = graph.ranks.iter().zip(0..).map(tape).collect::<Result<_, _>>()?;
    Ok(Trace { name: name.into(), info: Vec::new(), communicators: graph.communicators.clone(), ranks })
}

/// How far an operation is known to be when the next one begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Nothing waits for the end of the operation yet.
    Open,
    /// The operation is an open request of this number.
    Request(u32),
    /// The operation is over.
    Done,
}

/// The operations of a rank while they become records.
struct Chain<'a> {
    own: &'a RankGraph,
    known: Vec<Known>,
    tape: Tape,
    /// Numbers of requests that are open.
    open: Vec<bool>,
}

impl<'a> Chain<'a> {
    fn new(own: &'a RankGraph) -> Self {
        Self { own, known: vec![Known::Open; own.operations.len()], tape: Tape::new(0), open: Vec::new() }
    }

    fn tape(mut self) -> Result<Tape, ProgramError> {
        let mut awaited = self.awaited()?;
        for operation in 0..self.own.operations.len() {
            let awaited = std::mem::take(&mut awaited[operation]);
            self.begin(operation, &awaited)?;
        }
        let last = self.own.operations.len();
        if last > 0 {
            self.settle(last - 1, true)?;
        }
        self.wait(
            (0..last).filter(|&operation| matches!(self.known[operation], Known::Request(_))).collect(),
        );
        self.tape.shrink();
        Ok(self.tape)
    }

    /// The operations that must be done before each operation. Refuses operations that may begin before the one that stands
    /// before them.
    fn awaited(&self) -> Result<Vec<Vec<usize>>, ProgramError> {
        let count = self.own.operations.len();
        let mut follows = vec![false; count];
        let mut awaited = vec![Vec::new(); count];
        for dependency in &self.own.dependencies {
            let (operation, on) = (dependency.operation as usize, dependency.on as usize);
            if on > operation {
                return Err(self.located("waits for one that stands behind it", operation));
            }
            follows[operation] |= on + 1 == operation;
            if !dependency.started {
                awaited[operation].push(on);
            }
        }
        match (1..count).find(|&operation| !follows[operation]) {
            Some(operation) => Err(self.located("does not wait for the one before it", operation)),
            None => Ok(awaited),
        }
    }

    fn located(&self, reason: &str, operation: usize) -> ProgramError {
        let reason = format!(
            "operation {operation} {reason}; a trace has operations of one stream, each of which waits until the one before it \
             has started or is done"
        );
        super::located(reason, self.own, operation as u32)
    }

    /// An operation begins when these are done.
    fn begin(&mut self, operation: usize, awaited: &[usize]) -> Result<(), ProgramError> {
        if self.own.stream(operation as u32) > 0 {
            return Err(self.located("is on another stream than 0", operation));
        }
        let open: Vec<usize> = awaited.iter().copied().filter(|&on| self.known[on] != Known::Done).collect();
        if let Some(before) = operation.checked_sub(1) {
            let computes = matches!(self.own.operations[before], Operation::Compute { .. });
            self.settle(before, open == [before] || computes && open.contains(&before))?;
            let open = open.into_iter().filter(|&on| self.known[on] != Known::Done).collect();
            self.wait(open);
        }
        Ok(())
    }

    /// Writes the record of an operation that the next one follows, which may be when it is done.
    fn settle(&mut self, operation: usize, done: bool) -> Result<(), ProgramError> {
        let refused = |reason| self.located(reason, operation);
        let request =
            (!done).then(|| self.open.iter().position(|open| !open).unwrap_or(self.open.len()) as u32);
        let message = |peer, tag, bytes| Message { peer, tag, bytes, communicator: 0 };
        let record = match self.own.operations[operation] {
            Operation::Join | Operation::Compute { time: 0 } => {
                self.known[operation] = Known::Done;
                return Ok(());
            }
            Operation::Compute { .. } if !done => return Err(refused("goes on beside the one behind it")),
            Operation::Compute { time } => Record::Compute { nanoseconds: time },
            Operation::Send { peer, tag, bytes } => {
                Record::Send { message: message(peer, tag, bytes), request }
            }
            Operation::Receive { peer: Some(peer), tag: Some(tag), bytes } => {
                Record::Receive { message: message(peer, tag, bytes), any_source: false, request }
            }
            Operation::Receive { .. } => return Err(refused("receives from any source or with any tag")),
            Operation::Collective(_) => return Err(refused("is a collective operation in a graph")),
        };
        self.tape.push(&record);
        self.known[operation] = request.map_or(Known::Done, Known::Request);
        if let Some(request) = request {
            self.open.resize(self.open.len().max(request as usize + 1), false);
            self.open[request as usize] = true;
        }
        Ok(())
    }

    /// Waits for operations that do not block.
    fn wait(&mut self, operations: Vec<usize>) {
        let mut requests = SmallVec::new();
        for operation in operations {
            if let Known::Request(request) = self.known[operation] {
                requests.push(request);
                self.open[request as usize] = false;
                self.known[operation] = Known::Done;
            }
        }
        if !requests.is_empty() {
            self.tape.push(&Record::Wait { requests });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::collectives::Choices;
    use crate::formats::{Contents, Format, goal};
    use crate::host::Cycle;
    use crate::host::rules::Rules;
    use crate::ideal::{Ejection, Ideal, Latency, Network};
    use crate::program::Program;
    use std::sync::Arc;

    /// When each rank is done on a network with a latency, with sends that are done when injected.
    fn finishes(program: &Program) -> Vec<Cycle> {
        let rules = Arc::new(Rules {
            send_completes: crate::host::rules::SendCompletes::Injected,
            ..Rules::default()
        });
        let network =
            Network { latency: Latency::Constant(50), cycles_per_phit: 1, ejection: Ejection::Unlimited };
        let hosts = (0..program.ranks()).map(|rank| program.host(rank, &rules)).collect();
        let mut ideal = Ideal::new(network, hosts, 0);
        ideal.advance(Cycle::MAX, |_, _| ());
        assert_eq!(ideal.verdict(), Ok(()));
        ideal.hosts().iter().map(|host| host.figures().finish).collect()
    }

    #[test]
    fn a_trace_is_the_same_after_it_was_a_graph() {
        let text = "mpt 1\nname x\nranks 3\ncomm 0 3 0 1 2\n\
            rank 0 8\nc 100\ni 0 1 5 4096 0\nj 1 2 5 64 0\nc 30\nw 0 1\nc 7\ng allreduce 0 -1 8 8\ns 2 0 8 0\n\
            rank 1 7\nr 0 5 4096 0\nc 9\ni 4 1 1 8 0\nj 2 1 1 8 0\ng allreduce 0 -1 8 8\nc 11\nw 2 4\n\
            rank 2 6\nc 60\ni 0 0 5 64 0\nc 300\nw 0\ng allreduce 0 -1 8 8\nr 0 0 8 0\nend\n";
        let Contents::Trace(trace) = Format::Mpt.read(text.as_bytes()).unwrap() else { panic!("a trace") };
        let graph = goal::unroll(&trace, &Choices::default()).unwrap();
        let back = graph.sequence("x").unwrap();
        back.check().unwrap();
        let [trace, graph, back] =
            [Contents::Trace(trace), Contents::Graph(graph), Contents::Trace(back)].map(Contents::program);
        assert_eq!(finishes(&trace), finishes(&graph));
        assert_eq!(finishes(&trace), finishes(&back));
    }

    #[test]
    fn what_is_no_sequence_is_refused() {
        let refusal = |text: &str| {
            let text = format!("num_ranks 1\nrank 0 {{\na: calc 5\n{text}\n}}\n");
            let graph = goal::read(text.as_bytes()).unwrap();
            graph.sequence("x").map_or_else(|error| error.to_string(), |_| "fine".into())
        };
        let expected = |line: u32, reason: &str| {
            format!(
                "line {line}: rank 0: operation {reason}; a trace has operations of one stream, each of which waits until the \
                 one before it has started or is done"
            )
        };
        assert_eq!(refusal("b: calc 6\nb requires a"), "fine");
        assert_eq!(refusal("b: calc 6"), expected(4, "1 does not wait for the one before it"));
        assert_eq!(refusal("b: calc 6\nb irequires a"), expected(3, "0 goes on beside the one behind it"));
        assert_eq!(refusal("b: calc 6 cpu 1\nb requires a"), expected(4, "1 is on another stream than 0"));
        assert_eq!(refusal("b: calc 6\na requires b"), expected(3, "0 waits for one that stands behind it"));
        let any = "b: recv 8b from -1\nb requires a";
        assert_eq!(refusal(any), expected(4, "1 receives from any source or with any tag"));
    }
}
