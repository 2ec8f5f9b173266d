"""The JSON Schema and `check` say the same of a document, whatever was done to it.

What the schema refuses is refused; and what is refused for its keys, kinds of values or names the schema
refuses, too. Beyond that the simulator refuses what only several keys together make wrong.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Iterable
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]

from hopsim import _core
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.kinds import is_list, is_table
from hopsim.vocabulary.catalogue import Catalogue
from hopsim.vocabulary.editor_schema import editor_schema


def is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(_: object, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# TOML tells 1 from 1.0, as the simulator does.
TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": is_integer, "number": is_number})
SCHEMA: Any = extend(Draft202012Validator, type_checker=TYPES)(editor_schema())  # pyright: ignore

UNITS = {"cycle": "1 ns", "phit": "4 B"}
TRAFFIC = {"pattern": "uniform", "process": {"bernoulli": {"load": 0.2}}}
DOCUMENTS: list[dict[str, Any]] = [
    {"load": 0.1, "topology": {"mesh": {"sides": [2, 2]}}, "measure": {"cycles": 100, "seed": 3}},
    {
        "load": 0.1,
        "topology": {"mesh": {"sides": [2, 2]}},
        "measure": {"cycles": 100, "seed": 3},
        "sweep": {"product": {"load": [0.1, 0.2], "measure.seed": [1], "measure.cycles": [100]}},
    },
    {
        "load": 0.1,
        "topology": {"dragonfly": {"p": 1, "a": 2, "h": 1}},
        "routing": {"valiant": {"policy": "crg"}},
        "router": {"cioq": {"vcs": {"local": 4, "global": 2}, "allocator": {"output_arbiter": "age"}}},
        "sweep": {"product": {"routing": ["minimal", "valiant"], "router": ["input_queued"]}},
    },
    {
        "topology": {"ring": {"routers": 6}},
        "router": {"input_queued": {}},
        "nic": {"control": {"sat": {"l": 2, "k": 2}}},
        "jobs": [
            {"placement": {"list": [0, 1]}, "traffic": TRAFFIC | {"packet_length": 4}},
            {
                "name": "b",
                "placement": {"random_nodes": {"count": 2}},
                "traffic": TRAFFIC
                | {"packet_lengths": [{"length": 1, "weight": 3}, {"length": 4, "weight": 0.5}]},
            },
            {
                "placement": {"list": [4, 5]},
                "traffic": {"packet_list": [{"cycle": 1, "source": 4, "destination": 5, "length": 2}]},
            },
        ],
        "sweep": {"zip": {"links.network.latency": [1, 2], "jobs.0.traffic.packet_length": [4, 8]}},
    },
    {
        "units": UNITS,
        "topology": {"fat_tree": {"k": 2, "levels": 2}},
        "jobs": [{"program": {"collective": {"kind": "barrier"}}, "host": {"packet_length": 4}}],
    },
    {
        "router": "infiniband",
        "topology": {"fat_tree": {"k": 2, "levels": 1}},
        "jobs": [{"flows": [{"source": 0, "destination": 1}]}],
        "measure": {"time": {"window": "20 us"}},
    },
    {
        "router": {"ethernet": {"mtu": 1024, "flow_control": {"pfc": {"quanta": 70}}}},
        "topology": {"fat_tree": {"k": 2, "levels": 1}},
        "jobs": [{"flows": [{"source": 0, "destination": 1}]}],
        "measure": {"time": {"window": "20 us"}},
    },
]
PATHS = [path.split(".") for path in sorted(Catalogue().nodes) if not path.startswith("sweep")]
VALUES: list[Any] = [
    -1,
    0,
    1,
    2,
    7,
    300,
    70_000,
    2**33,
    0.5,
    1.5,
    -0.5,
    True,
    "",
    "x",
    "minimal",
    "1 us",
    [],
    {},
]
TABLES: list[Any] = [[1], [0.5], ["x"], [{}], {"x": 1}, {"load": 0.5}, {"minimal": {}}, [[1, 2]]]

# Why a document has not the shape that the schema states. What is missing may be needed for another key.
OF_SHAPE = re.compile(
    r": (unknown key|no such choice|must be (a|an|true|one)\b|must not be negative|must be an integer"
    r"|`\w+` (has no parameters|needs)|a second choice|names none)"
)
COUNT = int(os.environ.get("HOPSIM_SCHEMA_DOCUMENTS", "2000"))


def places(node: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all values but those of the sweep."""
    items: Iterable[tuple[str | int, Any]] = ()
    if is_table(node):
        items = node.items()
    elif is_list(node):
        items = enumerate(node)
    found: list[tuple[str | int, ...]] = []
    for key, value in items:
        if above or key != "sweep":
            found += [(*above, key), *places(value, (*above, key))]
    return found


def damage(document: dict[str, Any], draw: random.Random) -> None:
    """Replace, rename, take away or add a key."""
    path = draw.choice(places(document))
    node: Any = document
    for part in path[:-1]:
        node = node[part]
    kind = draw.random()
    if kind < 0.35:
        node[path[-1]] = copy.deepcopy(draw.choice(VALUES + TABLES))
    elif kind < 0.45:
        del node[path[-1]]
    elif kind < 0.55 and isinstance(node, dict):
        node[f"{path[-1]}{draw.choice(['x', '_', ''])}"] = node.pop(path[-1])
    else:
        add(document, draw)


def add(document: dict[str, Any], draw: random.Random) -> None:
    """Put some value at a key that the document may have."""
    node: Any = document
    *tables, name = draw.choice(PATHS)
    for table in tables:
        below: Any = node.setdefault(table, [{}] if table == "jobs" else {})  # pyright: ignore
        node = below[0] if is_list(below) and below else below  # pyright: ignore
        if not isinstance(node, dict):
            return
    node[name] = copy.deepcopy(draw.choice(VALUES + TABLES))


def refusal(document: dict[str, Any]) -> str | None:
    try:
        Experiment.of(document).points()
    except ConfigError as error:
        return str(error)
    return None


def test_the_schema_and_check_agree() -> None:
    """Set HOPSIM_SCHEMA_DOCUMENTS to try more documents than a test has time for."""
    draw = random.Random(7)
    accepted, disagreements = 0, list[str]()
    for _ in range(COUNT):
        document = copy.deepcopy(draw.choice(DOCUMENTS))
        for _ in range(draw.choice([0, 1, 1, 1, 2])):
            if places(document):
                damage(document, draw)
        said = refusal(document)
        marked: list[str] = [error.message for error in SCHEMA.iter_errors(document)]
        accepted += said is None
        of_shape = said is not None and OF_SHAPE.search(said) is not None
        if (said is None and marked) or (of_shape and not marked):
            disagreements.append(f"{json.dumps(document)}\n  check: {said}\n  schema: {marked[:1]}")
    assert not disagreements, "\n".join([str(len(disagreements)), *disagreements[:20]])
    assert COUNT / 10 < accepted < COUNT * 9 / 10


def test_a_document_is_looked_at_by_the_same_schema() -> None:
    """Short forms and sweeps are all that the schema for editors adds."""
    assert json.loads(_core.schema())["properties"].keys() == editor_schema()["properties"].keys()
