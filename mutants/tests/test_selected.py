"""Every named mutant is tried with tests that there are: else the long run says it first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from mutants import named
from mutants.scratch import CHECKOUT

WITH_VALUE = ("-p", "--test", "--features")
"""Options of `cargo test` before a value."""
_TEST = re.compile(r"#\[test\].*?\bfn (\w+)", re.DOTALL)


@cache
def names(crate: str, target: str | None) -> tuple[str, ...]:
    """Tests of a crate as `cargo test` calls them: of its library, of what is in tests/, or of all (None)."""
    root = CHECKOUT / "crates" / crate
    of_library = _in(root / "src", "tests::") if target in ("lib", None) else ()
    integration = sorted((root / "tests").glob("*" if target is None else f"{target}*"))
    return (*of_library, *(name for each in integration for name in _in(each, "")))


def _in(place: Path, inner: str) -> Iterator[str]:
    """Tests of a crate root. `inner`: the module of the tests within each file."""
    for file in sorted(place.rglob("*.rs")) if place.is_dir() else [place]:
        parts = file.relative_to(place).with_suffix("").parts if place.is_dir() else ()
        module = "".join(f"{part}::" for part in parts if part not in ("mod", "lib", "main"))
        yield from (f"{module}{inner}{name}" for name in _TEST.findall(file.read_text("utf-8")))


def selected(test: Sequence[str]) -> list[str]:
    """The tests that a command of `cargo test` runs."""
    options = dict(pairwise(test))
    target = "lib" if "--lib" in test else options.get("--test")
    words = [
        word for before, word in pairwise(test[1:]) if not word.startswith("-") and before not in WITH_VALUE
    ]
    return [name for name in names(options["-p"], target) if not words or any(word in name for word in words)]


def test_tests_are_selected_by_parts_of_their_names() -> None:
    kronecker = ("cargo", "test", "-p", "hopsim-programs", "--test", "graph500", "kronecker")
    assert "kronecker::the_root_has_the_nearest_degree_there_is" in selected(kronecker)
    assert not any(name.startswith("volume::") for name in selected(kronecker))
    # The module of this name has no tests of its own, and none is called so.
    assert selected(("cargo", "test", "-p", "hopsim-programs", "breadth_first")) == []
    plans = ("cargo", "test", "-p", "hopsim-experiment", "--test", "it", "--", "plans")
    assert selected(plans)
    assert all("plans" in name for name in selected(plans))


def test_every_named_mutant_has_a_test() -> None:
    commands = [(each.name, each.test) for each in named.read()]
    without = [name for name, test in commands if test[0] == "cargo" and not selected(test)]
    assert without == []
    files = [
        (name, word) for name, test in commands for word in test if test[0] == "python" and ".py" in word
    ]
    assert [(name, word) for name, word in files if not (CHECKOUT / word.partition("::")[0]).is_file()] == []
