"""How long hopsim takes to start, and what it therefore does not import."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Sequence

import pytest

import hopsim as hs
from hopsim import cli

HEAVY = (
    "asyncio",
    "cloudpickle",
    "concurrent.futures",
    "distributed",
    "jinja2",
    "matplotlib",
    "networkx",
    "numpy",
    "plotly",
    "pyarrow",
    "rich",
)
"""Modules that take longer to import than all that an import of hopsim may take."""

COMMAND = "import sys; sys.argv = ['hopsim', '--help']; from hopsim.cli import main; main()"


def _loaded(code: str) -> set[str]:
    """The modules that are loaded when the code has run in a process of its own."""
    listing = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {code}"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def _cpu_s(command: Sequence[str]) -> float:
    """User and system time of a process [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("code", ["import hopsim", COMMAND], ids=["import", "help"])
def test_neither_an_import_nor_the_list_of_commands_loads_a_heavy_module(code: str) -> None:
    loaded = _loaded(code)
    assert "hopsim" in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize(
    ("command", "most_s"), [(["-c", "import hopsim"], 0.2), (["-m", "hopsim", "--help"], 0.25)]
)
def test_starting_takes_no_longer_than_a_user_notices(command: list[str], most_s: float) -> None:
    # The least of several, as other processes on the machine make all but that one longer.
    assert min(_cpu_s(command) for _ in range(5)) <= most_s


IMPORT_EACH_FIRST = """
import importlib, os, pkgutil, sys
# These know nothing of hopsim, and are imported once instead of for each of its modules.
import jinja2, matplotlib.pyplot, networkx, numpy, pyarrow.parquet, rich.table
import hopsim.cli
modules = [each.name for each in pkgutil.iter_modules(hopsim.__path__, "hopsim.")]
for name in ("cli", "document", "files", "insight", "metrics", "results", "runs", "vocabulary"):
    folder = os.path.join(hopsim.__path__[0], name)
    modules += [each.name for each in pkgutil.iter_modules([folder], f"hopsim.{name}.")]
for module in modules:
    if module == "hopsim.__main__":
        continue
    child = os.fork()
    if not child:
        try:
            importlib.import_module(module)
            # A module of the name of something public would stand in its place.
            assert not {f"hopsim.{name}" for name in hopsim.__all__} & set(sys.modules)
        except BaseException as error:
            print(module, repr(error), file=sys.stderr, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_module_can_be_the_first_to_be_imported_and_hides_no_public_name() -> None:
    command = [sys.executable, "-c", IMPORT_EACH_FIRST]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_package_lists_its_names_and_refuses_others() -> None:
    assert set(hs.__all__) <= set(dir(hs))
    assert [getattr(hs, name).__name__ for name in hs.__all__] == hs.__all__
    with pytest.raises(AttributeError, match="module 'hopsim' has no attribute 'swep'"):
        getattr(hs, "swep")  # noqa: B009 (pyright would refuse it)


def test_the_list_of_commands_names_those_there_are() -> None:
    context = cli.cli.make_context("hopsim", [], resilient_parsing=True)
    listed = context.get_help().partition("Commands:\n")[2]
    names = cli.cli.list_commands(context)
    assert re.findall(r"^  (\S+)", listed, re.MULTILINE) == names
    commands = [cli.cli.get_command(context, name) for name in names]
    assert [command and command.name for command in commands] == names
    assert "..." not in listed
