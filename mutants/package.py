"""What `mutmut` can break in the package, against its Python tests."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from mutants.changes import Change
from mutants.score import Fate, Outcome
from mutants.scratch import MutantsError, Scratch

TARGET = 0.9

MODULES = ("stats", "series", "store", "experiment", "tables", "reaction")
"""Of `python/hopsim`; each has tests of its own, `python/tests/test_<module>.py`."""

LIMIT_S = 2 * 3600.0

_PROJECT = """
[tool.mutmut]
source_paths = ["hopsim"]
only_mutate = {sources}
also_copy = ["hopsim", "tests"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:cacheprovider"]
use_git_change_detection = false
timeout_multiplier = 30.0
timeout_constant = 10.0

[tool.pytest.ini_options]
filterwarnings = ["error"]
"""

_FATES = {0: Fate.MISSED, 1: Fate.CAUGHT, 3: Fate.CAUGHT, 5: Fate.MISSED, 33: Fate.MISSED}
"""By the exit status of pytest, or 33: no test calls the function."""
_STOPPED = (-24, 24, 36, 152, 255)
"""Statuses of tests that were stopped at their time limit."""


def tool() -> str:
    """The program. Raises `MutantsError` if it is not installed."""
    own = Path(sys.executable).with_name("mutmut")
    if not own.exists():
        raise MutantsError("mutmut is not installed: run make mutants, or pip install 'mutmut>=3.8,<4'")
    return str(own)


def run(scratch: Scratch, modules: Sequence[str] = MODULES) -> list[Outcome]:
    """Try all mutants of the modules. Raises `MutantsError` if the tests fail without any."""
    folder = scratch.root / "python"
    # mutmut works in a directory of this name beside the package.
    shutil.rmtree(folder / "mutants", ignore_errors=True)
    sources = json.dumps([f"hopsim/{module}.py" for module in modules])
    tests = json.dumps([f"tests/test_{module}.py" for module in modules])
    (folder / "pyproject.toml").write_text(_PROJECT.format(sources=sources, tests=tests), "utf-8")
    done = scratch.run([tool(), "run"], LIMIT_S, "python")
    found = [
        Outcome(module, name, _change(scratch, module, name, fate), fate)
        for module in modules
        for name, fate in _fates(folder / "mutants" / "hopsim" / f"{module}.py.meta", done.output)
    ]
    if not found:
        raise MutantsError(f"mutmut made no mutants:\n{done.output[-2000:]}")
    return found


def _fates(meta: Path, output: str) -> list[tuple[str, Fate]]:
    try:
        statuses: dict[str, int | None] = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    except (OSError, ValueError, KeyError):
        statuses = {"": None}
    return [(name, _fate(status, output)) for name, status in statuses.items()]


def _fate(status: int | None, output: str) -> Fate:
    if status is None:
        raise MutantsError(f"mutmut did not end as expected:\n{output[-2000:]}")
    # Whatever else ends a test, as a crash of the interpreter, is noticed too.
    return Fate.ENDLESS if status in _STOPPED else _FATES.get(status, Fate.CAUGHT)


def _change(scratch: Scratch, module: str, name: str, fate: Fate) -> Change:
    """What a mutant changes; asked for only where it is of interest."""
    diff = scratch.run([tool(), "show", name], LIMIT_S, "python").output if fate is Fate.MISSED else ""
    return Change.of_diff(f"python/hopsim/{module}.py", diff)
