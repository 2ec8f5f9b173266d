//! Files are written here byte by byte, from the field numbers of the schema.

use super::*;

/// A number, seven bits to a byte.
fn varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A field that is a number.
fn number(field: u64, number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(field << 3, &mut bytes);
    varint(number, &mut bytes);
    bytes
}

/// A field that has a length: a text, a message or a list of numbers.
fn long(field: u64, contents: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(field << 3 | 2, &mut bytes);
    varint(contents.len() as u64, &mut bytes);
    bytes.extend(contents);
    bytes
}

fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
    long(10, &[&long(1, name.as_bytes()), value].concat())
}

/// An attribute in field `int64_val`.
fn int(name: &str, value: u64) -> Vec<u8> {
    attribute(name, &number(9, value))
}

fn text(name: &str, value: &str) -> Vec<u8> {
    attribute(name, &long(29, value.as_bytes()))
}

fn node(id: u64, kind: u64, after: &[u64], fields: &[Vec<u8>]) -> Vec<u8> {
    let mut ids = Vec::new();
    for &id in after {
        varint(id, &mut ids);
    }
    let name = format!("n{id}");
    // What is not used: times when it began, inputs.
    let other = [number(6, 77), long(8, &long(1, b"[]"))].concat();
    [number(1, id), long(2, name.as_bytes()), number(3, kind), long(5, &ids), other, fields.concat()].concat()
}

/// A file of these nodes.
fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let metadata = long(1, b"0.0.4");
    let mut bytes = Vec::new();
    for message in std::iter::once(&metadata).chain(nodes) {
        varint(message.len() as u64, &mut bytes);
        bytes.extend(message);
    }
    bytes
}

const CPU: u64 = 27;

fn on_cpu() -> Vec<u8> {
    attribute("is_cpu_op", &number(CPU, 1))
}

#[test]
fn nodes_become_operations_on_streams() {
    let first = file(&[
        node(7, 1, &[], &[]),
        node(8, 4, &[7], &[number(7, 3), on_cpu()]),
        node(9, 4, &[8], &[number(7, 5), int("stream", 20)]),
        node(10, 2, &[8], &[number(7, 2), int("stream", 7)]),
        node(11, 5, &[9, 10], &[int("comm_size", 300), int("comm_dst", 1), int("comm_tag", 4)]),
        node(13, 7, &[11], &[int("comm_type", 6), int("comm_size", 64), text("pg_name", "")]),
        node(12, 7, &[], &[int("comm_type", 0), int("comm_size", 64), text("pg_name", "tp"), number(4, 7)]),
    ]);
    let second = file(&[
        node(1, 6, &[], &[int("comm_size", 300), int("comm_src", 0), attribute("comm_tag", &number(7, 4))]),
        node(2, 7, &[], &[int("comm_type", 0), int("comm_size", 64), text("pg_name", "tp")]),
        node(3, 7, &[], &[int("comm_type", 6), int("comm_size", 64)]),
    ]);
    let groups = BTreeMap::from([("tp".to_owned(), vec![1, 0])]);
    let graph = read(&[first, second], &Setting { groups, flops: None }).unwrap();
    graph.check().unwrap();
    let wait = |operation, on| Dependency { operation, on, started: false };
    let call =
        |kind, communicator, bytes| Collective { kind, communicator, root: None, bytes: Bytes::Same(bytes) };
    let expected = RankGraph {
        operations: vec![
            Operation::Join,
            Operation::Compute { time: 3_000 },
            Operation::Compute { time: 5_000 },
            Operation::Compute { time: 2_000 },
            Operation::Send { peer: 1, tag: 4, bytes: 300 },
            Operation::Collective(1),
            Operation::Collective(0),
        ],
        streams: vec![0, 0, 2, 1, 3, 3, 3],
        lines: Vec::new(),
        dependencies: vec![
            wait(1, 0),
            wait(2, 1),
            wait(3, 1),
            wait(4, 2),
            wait(4, 3),
            wait(5, 4),
            wait(6, 0),
        ],
        collectives: vec![call(Kind::Allreduce, 1, 64), call(Kind::Alltoall, 0, 32)],
    };
    assert_eq!(graph.ranks[0], expected);
    assert_eq!(graph.ranks[1].operations[0], Operation::Receive { peer: Some(0), tag: Some(4), bytes: 300 });
    assert_eq!(graph.communicators, [Arc::from([0, 1]), Arc::from([1, 0])]);
}

#[test]
fn every_collective_says_how_much_a_rank_brings_in() {
    let call = |number, bytes| {
        let own = || file(&[node(1, 7, &[], &[int("comm_type", number), int("comm_size", bytes)])]);
        let graph = read(&[own(), own(), own(), own()], &Setting::default()).unwrap();
        graph.check().unwrap();
        let Collective { kind, root, ref bytes, .. } = graph.ranks[2].collectives[0];
        (kind, root, bytes.clone())
    };
    for (number, expected) in [
        (0, (Kind::Allreduce, None, 400)),
        (1, (Kind::Reduce, Some(0), 400)),
        (2, (Kind::Allgather, None, 400)),
        (3, (Kind::Gather, Some(0), 400)),
        (4, (Kind::Scatter, Some(0), 100)),
        (5, (Kind::Bcast, Some(0), 400)),
        (6, (Kind::Alltoall, None, 100)),
        (7, (Kind::ReduceScatter, None, 100)),
        (8, (Kind::ReduceScatter, None, 100)),
        (9, (Kind::Barrier, None, 0)),
    ] {
        let (kind, root, bytes) = expected;
        assert_eq!(call(number, 400), (kind, root, Bytes::Same(bytes)), "{number}");
    }
}

#[test]
fn computations_without_duration_take_their_operations_at_the_rate_given() {
    let one = || [file(&[node(1, 4, &[], &[int("num_ops", 3_000)])])];
    let graph = read(&one(), &Setting { flops: Some(2e9), ..Setting::default() }).unwrap();
    assert_eq!(graph.ranks[0].operations, [Operation::Compute { time: 1_500 }]);
    let error = read(&one(), &Setting::default()).unwrap_err().to_string();
    let expected = "rank 0: node 1 (n1): has no duration; expected one, or `flops` beside the file, the operations per second";
    assert_eq!(error, expected);
}

#[test]
fn wrong_files_are_refused() {
    let refusal = |nodes: &[Vec<u8>]| {
        let graph = read(&[file(nodes), file(&[])], &Setting::default()).and_then(|graph| graph.check());
        graph.map_or_else(|error| error.to_string(), |()| "fine".into())
    };
    for (nodes, message) in [
        (vec![], "fine"),
        (
            vec![node(5, 4, &[], &[])],
            "rank 0: node 5 (n5): has no duration; expected one, or an attribute `num_ops`",
        ),
        (vec![node(5, 8, &[], &[])], "rank 0: node 5 (n5): expected a type from 1 to 7, got 8"),
        (vec![node(5, 1, &[9], &[])], "rank 0: node 5 (n5): waits for node 9, which is not in the file"),
        (
            vec![node(5, 1, &[], &[]), node(5, 1, &[], &[])],
            "rank 0: node 5 (n5): expected an id that no other",
        ),
        (
            vec![node(5, 5, &[], &[int("comm_size", 1)])],
            "rank 0: node 5 (n5): expected an attribute `comm_dst`, got none",
        ),
        (
            vec![node(5, 5, &[], &[int("comm_size", 1), int("comm_dst", 2)])],
            "rank 0: node 5 (n5): expected a whole number from 0 to 1 as attribute `comm_dst`, got Int64(2)",
        ),
        (
            vec![node(5, 5, &[], &[int("comm_size", 1), int("comm_dst", 1)])],
            "rank 0: of the messages to rank 1 from rank 0 with tag 0, 1 are sent and 0 received",
        ),
        (
            vec![node(5, 7, &[], &[int("comm_type", 0), int("comm_size", 1), text("pg_name", "dp")])],
            "rank 0: node 5 (n5): expected the name of a known process group, got \"dp\"; known: no `groups`",
        ),
        (
            vec![node(5, 7, &[], &[int("comm_type", 0), int("comm_size", 1)])],
            "rank 0: calls allreduce of 1 bytes as call 1 in communicator 0, where rank 1 calls nothing more",
        ),
        (
            vec![node(5, 1, &[6], &[]), node(6, 1, &[5], &[])],
            "rank 0: operations wait for each other in a circle: ",
        ),
    ] {
        let got = refusal(&nodes);
        assert!(got.starts_with(message), "{got}");
    }
    let whole = file(&[node(5, 4, &[], &[number(7, 3)])]);
    let cut = read(&[whole[..whole.len() - 2].to_vec()], &Setting::default()).unwrap_err().to_string();
    assert!(cut.starts_with("rank 0: message 1 of the file is cut short"), "{cut}");
    let text = read(&[b"mpt 1\nname x\n".to_vec()], &Setting::default()).unwrap_err().to_string();
    assert!(text.starts_with("rank 0: message 0 of the file is cut short: it has 12 of 109 bytes"), "{text}");
    let groups = BTreeMap::from([("tp".to_owned(), vec![0, 3])]);
    let outside = read(&[file(&[])], &Setting { groups, flops: None }).unwrap_err().to_string();
    assert_eq!(outside, "process group \"tp\" has rank 3; expected ranks from 0 to 0");
}
