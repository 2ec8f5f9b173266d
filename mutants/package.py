"""What `mutmut` can break in the package, against its Python tests."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutants.changes import Change
from mutants.score import Fate, Outcome
from mutants.scratch import MutantsError, Scratch

TARGET = 0.9

MODULES: Mapping[str, tuple[str, ...]] = {
    "stats": ("stats",),
    "series": ("series",),
    "store": ("store",),
    "experiment": ("experiment",),
    "tables": ("tables",),
    "reaction": ("reaction",),
    "saturation": ("saturation",),
    "why": ("why",),
    "why_fabric": ("why", "fabrics"),
    "limit_note": ("fabrics",),
    "stopping": ("stopping",),
    "verdict": ("verdict",),
    "slowdowns": ("program_jobs",),
    "estimate": ("estimate",),
    "memory": ("memory",),
    "packets": ("trace_packet",),
    "packet_trace": ("trace_packet",),
    "results": ("python", "store"),
    "summary_table": ("summary_table",),
    "sweeps": ("sweeps",),
    "labels": ("labels",),
    "units": ("units",),
    "trace_info": ("traces",),
    "perfetto": ("trace_packet",),
    "simulation": ("simulation",),
    "reproduce/claims": ("reproduce",),
    "reproduce/figure": ("reproduce",),
    "reproduce/model": ("reproduce",),
    "plot/records": ("plots", "plot_views"),
    "plot/intervals": ("program_figures",),
    "plot/view": ("plots", "plot_views", "plot_options"),
    "plot/style": ("plots", "plot_views", "plot_options", "figures_clear"),
    "plot/metric": ("plots", "plot_views", "plot_options", "figures_clear"),
    "plot/saturation": ("figures_clear", "figures_exact"),
    "plot/unsteady": ("plots", "plot_views", "verdict"),
    "plot/breakdown": ("plots", "plot_views"),
    "plot/cdf": ("plot_options",),
    "plot/histogram": ("plots", "plot_views"),
    "plot/injection": ("plots", "plot_views"),
    "plot/node_map": ("plots", "plot_views"),
    "plot/link_forms": ("link_map",),
    "plot/link_map": ("link_map", "figures_clear"),
    "plot/over_time": ("plots", "figures_clear", "fabrics"),
    "plot/flows": ("figures_clear", "figures_exact", "fabrics"),
    "plot/links": ("plots", "figures_exact"),
    "plot/queues": ("fabrics",),
    "plot/gantt": ("program_figures",),
    "plot/ranks": ("program_figures",),
    "plot/placement": ("program_figures",),
    "plot/message_latency": ("program_figures",),
    "plot/messages_in_flight": ("program_figures",),
    "report/curves": ("html_report",),
    "report/links": ("html_report",),
    "report/network": ("html_report",),
    "report/overview": ("html_report",),
    "report/payload": ("html_report",),
    "report/points": ("html_report",),
    "report/ranks": ("html_report",),
    "report/trees": ("html_report",),
}
"""Modules of `python/hopsim` that compute a number that users see -> their tests, `test_<name>.py`.

They are all of it but `WITHOUT_NUMBERS` and, below it, `FOLDERS_WITHOUT`.
"""

WITHOUT_NUMBERS = frozenset(
    {
        "__init__",
        "__main__",
        "atomic",
        "branches",
        "catalogue",
        "causes",
        "columns",
        "csv_file",
        "dask_executor",
        "editor_schema",
        "errors",
        "fabric_file",
        "files",
        "flows_file",
        "forwarding_file",
        "graph_file",
        "kinds",
        "links_warning",
        "origin",
        "paths",
        "placement_file",
        "placement_warning",
        "program_file",
        "progress",
        "recovery_warning",
        "runner",
        "sample",
        "sealed",
        "shape",
        "snapshots",
        "spelling",
        "starting",
        "suggestion",
        "terms",
        "toml",
        "workers",
        "plot/__init__",
        "plot/accepted_load",
        "plot/accessor",
        "plot/bursts",
        "plot/canvas",
        "plot/execution_time",
        "plot/fit",
        "plot/frame",
        "plot/generation",
        "plot/latency_load",
        "plot/options",
        "plot/timeseries",
        "report/__init__",
        "report/layout",
        "report/page",
    }
)
"""Those that read, write, check, choose or place what others compute."""

FOLDERS_WITHOUT = ("bench/", "cli/", "presets/", "reproduce/")
"""Folders of which only what `MODULES` names is broken: they measure hopsim itself, are the command line,
or say what publications have found."""

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


def run(scratch: Scratch, modules: Sequence[str] = tuple(MODULES)) -> list[Outcome]:
    """Try all mutants of the modules. Raises `MutantsError` if the tests fail without any."""
    folder = scratch.root / "python"
    # mutmut works in a directory of this name beside the package.
    shutil.rmtree(folder / "mutants", ignore_errors=True)
    sources = json.dumps([f"hopsim/{module}.py" for module in modules])
    names = dict.fromkeys(name for module in modules for name in MODULES[module])
    tests = json.dumps([f"tests/test_{name}.py" for name in names])
    (folder / "pyproject.toml").write_text(_PROJECT.format(sources=sources, tests=tests), "utf-8")
    done = scratch.run([tool(), "run"], LIMIT_S, "python")
    found = [
        Outcome(module, name, _change(scratch, module, name, fate), fate)
        for module in modules
        for name, fate in _fates(folder / "mutants" / "hopsim" / f"{module}.py.meta", done.output)
    ]
    if not found:
        raise MutantsError(f"mutmut made no mutants:\n{done.output[-2000:]}")
    return [outcome for outcome in found if not only_asserts(outcome.change)]


def only_asserts(change: Change) -> bool:
    """Whether a change does nothing but take an assertion away: that what is put together is equally long."""
    without = (re.sub(r",\s*(strict=\w+)?(?=\))", "", text) for text in (change.before, change.after))
    return "strict=" in change.before and len(set(without)) == 1


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
