"""Every kind of bad input: exit status 2 and one message with place, key, value, reason, what is valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import TINY, Command

# What is given to --set -> parts of the message, in order.
OVERRIDES = {
    "topolgy.x=1": ("topolgy", "unknown key", "did you mean `topology`?"),
    "measure.warmp=5": (
        "measure.warmp = 5",
        "unknown key",
        "did you mean `warmup`?",
        "Valid: warmup, cycles",
    ),
    "measure.warmup=many": ('measure.warmup = "many"', "no such choice", "valid: 0 … 3000000000 or auto"),
    "measure.warmup=1.5": ("measure.warmup = 1.5", "must be an integer"),
    "measure.warmup=-1": ("measure.warmup = -1", "must not be negative"),
    "measure.batches=0": ("measure.batches = 0", "valid: 1 …"),
    "load=1.5": ("load = 1.5", "share of the link rate", "valid: 0 … 1 phits/(node·cycle)"),
    "topology.dragonfly.groups=9": ("topology.dragonfly.groups = 9", "a group has a·h = 2", "valid: 2 … 3"),
    "topology.dragonfly.a=0": ("topology.dragonfly.a = 0", "valid: 1 …"),
    "topology.torus={}": (
        "topology.torus",
        "a second choice beside `dragonfly`",
        "valid: one of dragonfly, mesh",
    ),
    "topology.butterfly={}": (
        "topology.butterfly",
        "valid: dragonfly, mesh, torus, ring, ideal, hyperx, fat_tree",
    ),
    "routing=valaint": (
        'routing = "valaint"',
        "did you mean `valiant`?",
        "Valid: minimal, adaptive, ecmp, k_shortest_paths, fat_paths, table, polarized, o1turn, up_down",
    ),
    "routing.valiant.policy=xyz": ("routing.valiant.policy", "valid: rrg, crg, nrg"),
    "router.cioq.vcs.local=1": ("router.cioq.vcs.local = 1", "free of deadlock", "valid: 2 … 16"),
    "router.cioq.buffers.output=4": (
        "router.cioq.buffers.output = 4",
        "whole packet of 8 phits",
        "valid: at least 8",
    ),
    "jobs.0.traffic.packet_length=5000": ("jobs.0.traffic.packet_length = 5000", "valid: 1 … 4096"),
    "jobs.0.traffic.pattern=ADV+7": (
        "jobs.0.traffic.pattern.adversarial.offset = 7",
        "3 groups",
        "valid: 1 … 2",
    ),
    'measure.streams=["nodez"]': ('measure.streams.0 = "nodez"', "did you mean `nodes`?"),
    "sweep.product.load=[0.1, 2]": ("load = 2", "valid: 0 … 1"),
    'sweep.zip={load=[0.1], "measure.seed"=[1, 2]}': ("sweep.zip", "length 2", "length 1", "equal length"),
    "jobs.0.placement={nodes={first=0, count=99}}": ("jobs.0.placement.nodes", "the network has 6 nodes"),
    "jobs.3.name=x": ("jobs.3.name", "1 element"),
    "links.local.latency=0": ("links.local.latency = 0", "valid: 1 … 60000"),
    "..=1": ("..", "is not a dotted path", "valid: keys joined by dots"),
    "load": ("--set load", "must be path=value"),
}

# A line of the document -> what replaces it, and parts of the message.
LINES = {
    "load = 0.3": ("load = 1.5", ("line 2, column 1: load = 1.5", "valid: 0 … 1")),
    "[topology.dragonfly]": ("[topology.dragonfly", ("line 3, column", "not TOML", "expected `]`")),
    "h = 1": ("h = 'one'", ("line 6, column 1: topology.dragonfly.h", "must be an integer, not a string")),
    "warmup = 100": ("warmpu = 100", ("line 8, column 1: measure.warmpu = 100", "did you mean `warmup`?")),
}


def assert_in_order(message: str, parts: tuple[str, ...]) -> None:
    place = 0
    for part in parts:
        assert part in message[place:], f"{part!r} not in {message[place:]!r}"
        place = message.index(part, place) + len(part)


@pytest.mark.parametrize("assignment", OVERRIDES)
def test_an_override_is_refused_with_key_value_reason_and_what_is_valid(
    hopsim: Command, tiny: Path, assignment: str
) -> None:
    refused = hopsim("run", tiny, "--json", "-", "--set", assignment, status=2)
    assert refused.stdout == ""
    assert refused.stderr.startswith("hopsim: ")
    assert refused.stderr.count("\n") == 1
    assert_in_order(refused.stderr, OVERRIDES[assignment])


@pytest.mark.parametrize("line", LINES)
def test_a_file_is_refused_with_line_and_column(hopsim: Command, tmp_path: Path, line: str) -> None:
    wrong, parts = LINES[line]
    (tmp_path / "bad.toml").write_text(TINY.replace(line, wrong))
    for command in ("run", "check"):
        refused = hopsim(command, "bad.toml", status=2)
        assert_in_order(refused.stderr, ("hopsim: bad.toml: ", *parts))
        assert refused.stderr.count("\n") == 1


def test_an_empty_document_says_what_is_missing(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    refused = hopsim("run", "empty.toml", status=2)
    assert_in_order(refused.stderr, ("empty.toml: topology: is missing", "[topology.dragonfly]"))


def test_a_missing_load_is_asked_for(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "quiet.toml").write_text(TINY.replace("load = 0.3", ""))
    refused = hopsim("run", "quiet.toml", status=2)
    assert_in_order(refused.stderr, ("bernoulli.load: is missing", "the shorthand `load`"))


def test_a_missing_file_is_refused(hopsim: Command) -> None:
    refused = hopsim("run", "none.toml", status=2)
    assert_in_order(
        refused.stderr, ("none.toml: cannot read the experiment: No such file", "presets: dragonfly1056")
    )


def test_the_name_of_a_file_is_guessed(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "quiet.toml").write_text(TINY)
    refused = hopsim("run", "quite.toml", status=2)
    assert refused.stderr.endswith("No such file or directory; did you mean quiet.toml?\n")


def test_a_file_is_no_results_directory(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "quiet.toml").write_text(TINY)
    for command in ("plot", "report", "why"):
        assert "quiet.toml: is not a directory; " in hopsim(command, "quiet.toml", status=2).stderr


def test_who_names_a_permutation_is_told_how_to_write_it(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "quiet.toml").write_text(TINY)
    pattern = ("--set", "jobs.0.traffic.pattern=tornado")
    refused = hopsim("run", "quiet.toml", *pattern, status=2)
    assert 'did you mean `{ permutation = "tornado" }`? Valid: ' in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["run"], ("Missing argument 'FILE'",)),
        (["run", "x.toml", "-j", "0"], ("'-j'", "0 is not in the range")),
        (["run", "x.toml", "--jsn", "-"], ("No such option", "--json")),
        (["rum"], ("No such command 'rum'; did you mean run?",)),
        (["nonsense"], ("No such command 'nonsense'. `hopsim --help`",)),
        (["plot", ".", "--kind", "pie"], ("'--kind'", "latency_load")),
    ],
)
def test_a_wrong_command_line_is_refused(
    hopsim: Command, arguments: list[str], parts: tuple[str, ...]
) -> None:
    assert_in_order(hopsim(*arguments, status=2).stderr, ("hopsim: ", *parts))
