"""The list of named mutants, and the bench that tries them, on a made-up checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from mutants import bench, named
from mutants.bench import MODULE, Bench, Verdict
from mutants.named import Mutant, judge
from mutants.scratch import CHECKOUT, MutantsError, Scratch

ENTRY = """
[[mutant]]
name = "a"
breaks = "b"
file = "f"
find = "x"
replace = "y"
test = ["cargo", "test"]
"""


def written(directory: Path, *entries: str) -> Path:
    (directory / "area.toml").write_text("".join(entries), "utf-8")
    return directory


def test_every_named_mutant_fits_the_sources() -> None:
    mutants = named.read()
    assert len(mutants) > 15
    stale = [f"{each.name}: {each.staleness(CHECKOUT)}" for each in mutants if each.text(CHECKOUT) is None]
    assert stale == []


def test_an_entry_is_read_as_it_is_written(tmp_path: Path) -> None:
    expected = Mutant("area", "a", "b", "f", "x", "y", ("cargo", "test"))
    assert named.read(written(tmp_path, ENTRY)) == [expected]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([ENTRY, ENTRY], "a: two mutants have this name"),
        ([ENTRY.replace('find = "x"', 'find = "y"')], "find must hold something that replace does not"),
        ([ENTRY.replace('find = "x"', 'find = ""')], "find must hold something that replace does not"),
        ([ENTRY.replace("breaks", "brakes")], "area.toml: a: brakes is no key; keys: name, breaks, file"),
        ([ENTRY.replace('breaks = "b"', "")], "area.toml: a: breaks is missing, or not a text"),
        ([ENTRY.replace('["cargo", "test"]', '"cargo test"')], "a: test is missing, or not a list"),
        ([ENTRY.replace('"cargo"', '"make"')], "a: test must begin with cargo test or python -m pytest"),
        (["[mutant"], "area.toml: "),
        (["[mutants]"], r"area.toml: holds \[\[mutant\]\] entries only, not mutants"),
    ],
)
def test_a_faulty_entry_is_named(tmp_path: Path, entries: list[str], message: str) -> None:
    with pytest.raises(MutantsError, match=message):
        named.read(written(tmp_path, *entries))


RULE = "def larger(a, b):\n    return a if a > b else b\n"
TEST = "from rule import larger\n\n\ndef test_larger():\n    assert larger(1, 2) == 2\n"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No plugin is needed by the tests of made-up checkouts, and importing them takes longer than those."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    (tmp_path / "rule.py").write_text(RULE, "utf-8")
    (tmp_path / "test_rule.py").write_text(TEST, "utf-8")
    return Scratch(tmp_path)


def mutant(find: str, replace: str, test: str = "test_rule.py") -> Mutant:
    return Mutant("area", "name", "breaks", "rule.py", find, replace, ("python", "-m", "pytest", "-q", test))


def test_the_verdict_is_that_of_the_test(scratch: Scratch) -> None:
    tried = Bench(scratch)
    for find, replace, verdict in (
        (" > ", " < ", Verdict.CAUGHT),
        (" > ", " >= ", Verdict.MISSED),
        (" > ", " not ", Verdict.UNBUILT),
        ("def larger", "def smaller", Verdict.UNBUILT),
        ("a", "c", Verdict.STALE),
        ("minimum", "maximum", Verdict.STALE),
    ):
        assert judge(tried, mutant(find, replace)).trial.verdict is verdict
        assert (scratch.root / "rule.py").read_text("utf-8") == RULE


CARGO = """#!/bin/sh
grep -q "fn larger" rule.rs || exit 101
mkdir -p "$CARGO_TARGET_DIR/mutants"
cp rule.rs "$CARGO_TARGET_DIR/mutants/lib_core.so"
"""
"""A compiler to which a module is its source."""

RUST_RULE = "fn larger(a: u32, b: u32) -> u32 { if a > b { a } else { b } }\n"
TEST_OF_MODULE = f"""
from pathlib import Path

def test_larger():
    assert "if a >" in Path({MODULE!r}).read_text()
"""


@pytest.mark.parametrize("before", [None, "the module of the checkout"])
def test_a_python_test_meets_the_module_of_broken_rust_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    programs, root = tmp_path / "programs", tmp_path / "root"
    module = root / MODULE
    for path, text in (
        (programs / "cargo", CARGO),
        (root / "rule.rs", RUST_RULE),
        (root / "test_module.py", TEST_OF_MODULE),
        (module, before),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text, "utf-8")
    (programs / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    tried = Bench(Scratch(root))
    for find, replace, verdict in (
        (" > ", " < ", Verdict.CAUGHT),
        (" > ", " >= ", Verdict.MISSED),
        ("fn larger", "fn", Verdict.UNBUILT),
    ):
        test = ("python", "-m", "pytest", "-q", "test_module.py")
        broken = Mutant("area", "name", "breaks", "rule.rs", find, replace, test)
        assert judge(tried, broken).trial.verdict is verdict
        assert (root / "rule.rs").read_text("utf-8") == RUST_RULE
        assert (module.read_text("utf-8") if module.exists() else None) == before


def test_a_test_that_does_not_end_has_noticed_nothing(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "LEAST_LIMIT_S", 0.0)
    monkeypatch.setattr(bench, "SLOWER", 2.0)
    endless = mutant("    return", "    while a < 2:\n        pass\n    return")
    assert judge(Bench(scratch), endless).trial.verdict is Verdict.ENDLESS


def test_a_test_that_fails_without_a_mutant_is_refused(scratch: Scratch) -> None:
    for test in ("none.py", "test_none.py"):
        (scratch.root / "test_none.py").write_text("def test_none():\n    assert False\n", "utf-8")
        with pytest.raises(MutantsError, match="fails with nothing broken"):
            judge(Bench(scratch), mutant(" > ", " < ", test))


def test_a_stale_mutant_says_why(scratch: Scratch) -> None:
    assert mutant("a", "c").staleness(scratch.root) == "`find` is in rule.py 4 times, and must be there once"
    gone = Mutant("area", "name", "breaks", "none.py", "x", "y", ("cargo", "test"))
    assert judge(Bench(scratch), gone).trial.verdict is Verdict.STALE
    assert gone.staleness(scratch.root) == "none.py does not exist"
