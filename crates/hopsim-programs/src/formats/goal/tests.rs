use super::*;
use crate::collectives::Choices;
use crate::formats::{goal_binary, mpt};
use crate::trace::Trace;
use proptest::prelude::*;

fn refusal(text: &str) -> String {
    read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "fine".to_string())
}

#[test]
fn wrong_blocks_are_refused() {
    for (text, message) in [
        ("", "line 1: the file ends here; expected `num_ranks`"),
        ("// nothing\n", "line 2: the file ends here; expected `num_ranks`"),
        ("rank 0 {\n}\n", "line 1: expected `num_ranks`, got `rank`"),
        (
            "num_ranks 0\n",
            "line 1: expected the number of ranks, a whole number from 1 to 4294967295, got `0`",
        ),
        ("num_ranks 1 2\n", "line 1: expected the end of the line, got `2`"),
        ("num_ranks 1\n", "rank 0: expected a block `rank 0 {`, got none"),
        ("num_ranks 1\nrank 0\n", "line 2: expected `{`, got the end of the line"),
        ("num_ranks 1\nrank 1 {\n", "line 2: expected a rank, a whole number from 0 to 0, got `1`"),
        (
            "num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n",
            "line 4: rank 0: expected one block for each rank, got a second one",
        ),
        (
            "num_ranks 1\nrank 0 {\ncalc 5\n",
            "line 4: rank 0: the file ends in the block; expected `}` behind line 3",
        ),
        ("num_ranks 1\n/* rank 0 {\n}\n", "line 4: the file ends in a comment; expected `*/`"),
        ("num_ranks 1\nrank 0 {\n}\ncalc 5\n", "line 4: expected `rank`, got `calc`"),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
}

#[test]
fn wrong_statements_are_refused() {
    for (line, message) in [
        (
            "hello",
            "expected an operation (send, recv, calc), `LABEL requires LABEL`, `LABEL irequires LABEL` or `}`, got `hello`",
        ),
        ("b: jump 7", "expected `send`, `recv` or `calc`, got `jump`"),
        ("b:", "expected an operation, got the end of the line"),
        ("1b: calc 7", "expected a label, a letter and then letters, digits or `_`, got `1b`"),
        ("a: calc 7", "expected a new label, got `a`, which line 3 has"),
        ("a requires b", "expected the label of an operation above, got `b`"),
        ("a requires", "expected a label, got the end of the line"),
        ("a requires a a", "expected the end of the line, got `a`"),
        ("calc -1", "expected nanoseconds, a whole number from 0 to 18446744073709551615, got `-1`"),
        ("calc 5 tag 1", "expected no `tag` of a calc"),
        ("send 8 to 1", "expected `b`, got `to`"),
        (
            "send xb to 1",
            "expected bytes, such as `8b`, a whole number from 0 to 18446744073709551615, got `x`",
        ),
        ("send 8b from 1", "expected `to`, got `from`"),
        ("send 8b to", "expected a rank, got the end of the line"),
        ("send 8b to 2", "expected a rank, a whole number from 0 to 1, got `2`"),
        ("send 8b to 1 tag -1", "expected a tag, a whole number from 0 to 4294967294, got `-1`"),
        ("send 8b to 1 tag", "expected a tag, got the end of the line"),
        ("send 8b to 1 cpu 256", "expected a cpu, a whole number from 0 to 255, got `256`"),
        ("send 8b to 1 nic 1", "expected the only nic supported, a whole number from 0 to 0, got `1`"),
        ("send 8b to 1 cpu 1 cpu 1", "expected `cpu` once"),
        ("send 8b to 1 fast", "expected `tag`, `cpu`, `nic` or the end of the line, got `fast`"),
        ("recv 8b from -2", "expected a rank, or -1 for any, a whole number from 0 to 1, got `-2`"),
        (
            "recv 8b from 1 tag x",
            "expected a tag, or -1 for any, a whole number from 0 to 4294967294, got `x`",
        ),
    ] {
        let text = format!("num_ranks 2\nrank 0 {{\na: calc 1\n{line}\n}}\nrank 1 {{\n}}\n");
        assert_eq!(refusal(&text), format!("line 4: rank 0: {message}"), "{line}");
    }
}

#[test]
fn circles_are_printed() {
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\n\
                d requires c\nb requires a\nb requires c\nc irequires b\n}\n";
    let message =
        "line 4: rank 0: operations wait for each other in a circle: `b` → `c` → `b`; expected none";
    assert_eq!(refusal(text), message);
    let own = "num_ranks 1\nrank 0 {\na: calc 1\na irequires a\n}\n";
    assert_eq!(
        refusal(own),
        "line 3: rank 0: operations wait for each other in a circle: `a` → `a`; expected none"
    );
}

#[test]
fn comments_streams_and_wildcards_are_understood() {
    let text = "// a program\nnum_ranks 2 /* of\ntwo */\nrank 1 { // first\n}\n\n  rank 0{\nx : recv 8 b from -1 tag -1 cpu 2\n\
                send 7b to 1 nic 0 /* b: calc 5 */ tag 9\n/**/ calc 5\r\ny: calc 6 // z: calc 7\ny requires x\n}\n";
    let graph = read(text.as_bytes()).unwrap();
    let rank = RankGraph {
        operations: vec![
            Operation::Receive { peer: None, tag: None, bytes: 8 },
            Operation::Send { peer: 1, tag: 9, bytes: 7 },
            Operation::Compute { time: 5 },
            Operation::Compute { time: 6 },
        ],
        streams: vec![2, 0, 0, 0],
        lines: vec![8, 9, 10, 11],
        dependencies: vec![Dependency { operation: 3, on: 0, started: false }],
        collectives: Vec::new(),
    };
    assert_eq!(
        graph,
        Graph {
            communicators: vec![[0, 1].into()],
            ranks: vec![rank, RankGraph::default()],
            ..Graph::default()
        }
    );
}

/// What a rank is made of.
type Draws = (Vec<(u8, u32, u32, u64, u8, bool)>, Vec<(u32, u32, bool)>, bool);

/// Graphs without circles, of up to 4 ranks.
fn graphs() -> impl Strategy<Value = Graph> {
    let operation = (0u8..3, 0u32..4, 0u32..3, any::<u64>(), 0u8..3, any::<bool>());
    let dependency = (any::<u32>(), any::<u32>(), any::<bool>());
    let rank = (
        proptest::collection::vec(operation, 0..12),
        proptest::collection::vec(dependency, 0..12),
        any::<bool>(),
    );
    proptest::collection::vec(rank, 1..5).prop_map(|ranks| {
        let count = ranks.len() as u32;
        let graph = |(operations, dependencies, forward): Draws| {
            let mut graph = RankGraph::default();
            for (kind, peer, tag, size, stream, any) in operations {
                let peer = peer % count;
                let operation = match kind {
                    0 => Operation::Compute { time: size },
                    1 => Operation::Send { peer, tag, bytes: size },
                    _ => {
                        let peer = (!any).then_some(peer);
                        Operation::Receive { peer, tag: tag.checked_sub(1), bytes: size }
                    }
                };
                graph.push(operation, stream, None);
            }
            let operations = graph.operations.len() as u32;
            for (one, other, started) in dependencies {
                let (one, other) = (one % operations.max(1), other % operations.max(1));
                let (low, high) = (one.min(other), one.max(other));
                if low < high {
                    // Or all the other way round.
                    let (operation, on) = if forward { (high, low) } else { (low, high) };
                    graph.dependencies.push(Dependency { operation, on, started });
                }
            }
            graph
        };
        let ranks = ranks.into_iter().map(graph).collect();
        Graph { communicators: vec![(0..count).collect()], ranks, ..Graph::default() }
    })
}

/// Without lines, and with the dependencies in order.
fn normal(mut graph: Graph) -> Graph {
    for rank in &mut graph.ranks {
        rank.lines.clear();
        if rank.streams.iter().all(|&stream| stream == 0) {
            rank.streams.clear();
        }
        rank.dependencies.sort_by_key(|dependency| (dependency.on, dependency.started, dependency.operation));
    }
    graph
}

proptest! {
    #[test]
    fn text_and_binary_say_the_same(graph in graphs()) {
        let (mut text, mut binary) = (Vec::new(), Vec::new());
        write_graph(&graph, &mut text).unwrap();
        goal_binary::write(&graph, &mut binary).unwrap();
        prop_assert!(goal_binary::is_binary(&binary) && !goal_binary::is_binary(&text));
        let graph = normal(graph);
        prop_assert_eq!(&read(text.as_slice()).map(normal), &Ok(graph.clone()));
        prop_assert_eq!(goal_binary::read(&binary).map(normal), Ok(graph));
    }

    #[test]
    fn no_file_makes_a_reader_panic(graph in graphs(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (mut text, mut binary) = (Vec::new(), Vec::new());
        write_graph(&graph, &mut text).unwrap();
        goal_binary::write(&graph, &mut binary).unwrap();
        let places = (place.index(text.len()), place.index(binary.len()));
        text[places.0] = byte;
        binary[places.1] = byte;
        let _ = read(text.as_slice());
        let _ = read(&text[..places.0]);
        let _ = goal_binary::read(&binary);
        prop_assert!(goal_binary::read(&binary[..places.1]).is_err());
    }
}

fn trace(records: [&str; 2]) -> Trace {
    let head = "mpt 1\nname x\nranks 2\ncomm 0 2 0 1\ncomm 1 2 1 0\n";
    let block = |rank, records: &str| format!("rank {rank} {}\n{records}\n", records.lines().count());
    let text = format!("{head}{}{}end\n", block(0, records[0]), block(1, records[1]));
    mpt::read(text.as_bytes()).unwrap()
}

#[test]
fn a_trace_becomes_a_chain_of_operations() {
    let trace = trace([
        "c 5\ni 4 1 7 8 0\nj 5 1 0 16 1 *\nc 6\nw 5 4\ng allreduce 1 -1 32 32\ng barrier 0 -1 0 0\ns 0 4294967295 1 0",
        "r 0 7 8 0\ns 0 0 16 1\ng allreduce 1 -1 32 32\ng barrier 0 -1 0 0\nr 0 4294967295 1 0",
    ]);
    let mut text = Vec::new();
    write(&trace, &Choices::default(), &mut text).unwrap();
    let expected = "num_ranks 2\nrank 0 {\n\
        l0: calc 5\nl1: send 8b to 1 tag 7\nl2: recv 16b from 1\nl3: calc 6\nl4: calc 0\n\
        l5: recv 32b from 1 tag 1\nl6: send 32b to 1 tag 1\nl7: recv 0b from 1 tag 2\nl8: send 0b to 1 tag 2\n\
        l9: send 1b to 0 tag 3\n\
        l1 requires l0\nl2 irequires l1\nl3 irequires l2\nl4 requires l3\nl4 requires l2\nl4 requires l1\n\
        l5 requires l4\nl6 irequires l5\nl7 requires l5\nl7 requires l6\nl8 irequires l7\nl9 requires l7\n\
        l9 requires l8\n}\n\
        rank 1 {\n\
        l0: recv 8b from 0 tag 7\nl1: send 16b to 0\n\
        l2: recv 32b from 0 tag 1\nl3: send 32b to 0 tag 1\nl4: recv 0b from 0 tag 2\nl5: send 0b to 0 tag 2\n\
        l6: recv 1b from 0 tag 3\n\
        l1 requires l0\nl2 requires l1\nl3 irequires l2\nl4 requires l2\nl4 requires l3\nl5 irequires l4\n\
        l6 requires l4\nl6 requires l5\n}\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let graph = unroll(&trace, &Choices::default()).unwrap();
    assert_eq!(normal(read(expected.as_bytes()).unwrap()), normal(graph));
}

#[test]
fn collectives_that_the_algorithm_chosen_cannot_do_are_refused() {
    let text = "mpt 1\nname x\nranks 3\ncomm 0 3 0 1 2\nrank 0 1\ng reduce_scatter 0 -1 8 8\nrank 1 1\n\
                g reduce_scatter 0 -1 8 8\nrank 2 1\ng reduce_scatter 0 -1 8 8\nend\n";
    let trace = mpt::read(text.as_bytes()).unwrap();
    let choices = Choices::from_names([("reduce_scatter", "recursive_halving")]).unwrap();
    let error = unroll(&trace, &choices).unwrap_err().to_string();
    assert!(
        error.starts_with("line 6: rank 0: recursive_halving of reduce_scatter needs a number of members"),
        "{error}"
    );
    assert!(write(&trace, &choices, Vec::new()).is_err());
}
