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
    "saturation": ("saturation_exact",),
    "why": ("why",),
    "why_fabric": ("why_fabric_exact",),
    "limit_note": ("fabrics",),
    "stopping": ("stopping",),
    "verdict": ("verdict",),
    "slowdowns": ("program_jobs", "slowdowns_exact"),
    "estimate": ("estimate", "estimate_exact"),
    "memory": ("memory",),
    "packets": ("packets_exact",),
    "packet_trace": ("packet_trace_exact",),
    "results": ("python", "results_exact"),
    "summary_table": ("summary_table",),
    "sweeps": ("sweeps_exact", "python"),
    "labels": ("labels",),
    "units": ("units",),
    "trace_info": ("trace_info_exact",),
    "perfetto": ("trace_packet", "packets_exact"),
    "simulation": ("simulation",),
    "reproduce/claims": ("claims_exact",),
    "reproduce/figure": ("reproduce_exact",),
    "reproduce/model": ("reproduce_exact",),
    "reproduce/panels": ("reproduce_exact",),
    "plot/records": ("figure_parts",),
    "plot/intervals": ("program_figures_exact",),
    "plot/view": ("figure_parts",),
    "plot/style": ("figure_parts",),
    "plot/metric": ("traffic_figures_exact",),
    "plot/saturation": ("figures_exact",),
    "plot/unsteady": ("figure_parts",),
    "plot/breakdown": ("traffic_figures_exact",),
    "plot/cdf": ("traffic_figures_exact",),
    "plot/histogram": ("traffic_figures_exact",),
    "plot/injection": ("traffic_figures_exact",),
    "plot/node_map": ("traffic_figures_exact",),
    "plot/link_forms": ("link_forms",),
    "plot/link_map": ("traffic_figures_exact",),
    "plot/over_time": ("figure_parts",),
    "plot/flows": ("figures_clear", "figures_exact", "fabrics"),
    "plot/links": ("plots", "figures_exact"),
    "plot/queues": ("figures_exact",),
    "plot/gantt": ("program_figures_exact",),
    "plot/ranks": ("program_figures_exact",),
    "plot/placement": ("program_figures_exact",),
    "plot/message_latency": ("program_figures_exact",),
    "plot/messages_in_flight": ("program_figures_exact",),
    "report/curves": ("report_exact",),
    "report/links": ("report_exact",),
    "report/network": ("report_exact",),
    "report/overview": ("report_exact",),
    "report/payload": ("report_exact",),
    "report/points": ("report_exact",),
    "report/ranks": ("report_exact",),
    "report/trees": ("report_exact",),
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
        "streams",
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
    return [outcome for outcome in found if not (only_asserts(outcome.change) or only_types(outcome.change))]


def only_asserts(change: Change) -> bool:
    """Whether a change does nothing but take an assertion away: that what is put together is equally long."""
    without = (re.sub(r",\s*(strict=\w+)?(?=\))", "", text) for text in (change.before, change.after))
    return "strict=" in change.before and len(set(without)) == 1


def only_types(change: Change) -> bool:
    """Whether a change is of nothing but a type that a checker is told: `cast` returns what it is given."""
    without = {
        re.sub(r"\bcast\((None|\"[^\"]*\"), ", "cast(_, ", text) for text in (change.before, change.after)
    }
    return "cast(" in change.before and len(without) == 1


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
