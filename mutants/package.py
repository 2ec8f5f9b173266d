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

PACKAGES = ("hopsim", "hopsim_reproduce")

MODULES: Mapping[str, tuple[str, ...]] = {
    "hopsim/metrics/stats": ("metrics/stats",),
    "hopsim/metrics/series": ("metrics/series",),
    "hopsim/results/store": ("results/store",),
    "hopsim/document/experiment": ("document/experiment",),
    "hopsim/metrics/tables": ("metrics/tables",),
    "hopsim/reaction": ("reaction",),
    "hopsim/runs/saturation": ("runs/saturation_exact",),
    "hopsim/insight/why": ("insight/why",),
    "hopsim/insight/why_fabric": ("insight/why_fabric_exact",),
    "hopsim/insight/limit_note": ("runs/fabrics",),
    "hopsim/metrics/stopping": ("metrics/stopping",),
    "hopsim/metrics/verdict": ("metrics/verdict",),
    "hopsim/metrics/recovery": ("metrics/recovery",),
    "hopsim/metrics/outages": ("metrics/recovery",),
    "hopsim/files/quantities": ("metrics/recovery", "convert/infragraph"),
    "hopsim/runs/slowdowns": ("runs/program_jobs", "runs/slowdowns_exact"),
    "hopsim/document/estimate": ("document/estimate", "document/estimate_exact"),
    "hopsim/runs/memory": ("runs/memory",),
    "hopsim/insight/packets": ("insight/packets_exact",),
    "hopsim/insight/flits": ("insight/flits_exact",),
    "hopsim/runs/packet_trace": ("runs/packet_trace_exact",),
    "hopsim/results/result": ("runs/python", "results/results_exact"),
    "hopsim/metrics/summary_table": ("metrics/summary_table",),
    "hopsim/runs/function": ("runs/function",),
    "hopsim/runs/sweeps": ("runs/sweeps_exact", "runs/python"),
    "hopsim/vocabulary/labels": ("vocabulary/labels",),
    "hopsim/vocabulary/units": ("vocabulary/units",),
    "hopsim/files/trace_info": ("files/trace_info_exact",),
    "hopsim/files/netrace": ("files/netrace",),
    "hopsim/files/netrace_info": ("files/netrace",),
    "hopsim/convert/netrace": ("convert/netrace_lists",),
    "hopsim/insight/perfetto": ("insight/trace_packet", "insight/packets_exact"),
    "hopsim/runs/simulation": ("runs/simulation",),
    "hopsim_reproduce/claims": ("reproduce/claims_exact",),
    "hopsim_reproduce/figure": ("reproduce/reproduce_exact",),
    "hopsim_reproduce/model": ("reproduce/reproduce_exact",),
    "hopsim_reproduce/panels": ("reproduce/reproduce_exact",),
    "hopsim/plot/records": ("plot/figure_parts",),
    "hopsim/plot/intervals": ("plot/program_figures_exact",),
    "hopsim/plot/view": ("plot/figure_parts",),
    "hopsim/plot/style": ("plot/figure_parts",),
    "hopsim/plot/metric": ("plot/traffic_figures_exact",),
    "hopsim/plot/saturation": ("plot/figures_exact",),
    "hopsim/plot/unsteady": ("plot/figure_parts",),
    "hopsim/plot/fault_marks": ("plot/figures_exact",),
    "hopsim/plot/breakdown": ("plot/traffic_figures_exact",),
    "hopsim/plot/cdf": ("plot/traffic_figures_exact",),
    "hopsim/plot/histogram": ("plot/traffic_figures_exact",),
    "hopsim/plot/injection": ("plot/traffic_figures_exact",),
    "hopsim/plot/node_map": ("plot/traffic_figures_exact",),
    "hopsim/plot/link_forms": ("plot/link_forms",),
    "hopsim/plot/link_map": ("plot/traffic_figures_exact",),
    "hopsim/plot/over_time": ("plot/figure_parts",),
    "hopsim/plot/flows": ("plot/figures_clear", "plot/figures_exact", "runs/fabrics"),
    "hopsim/plot/links": ("plot/plots", "plot/figures_exact"),
    "hopsim/plot/queues": ("plot/figures_exact",),
    "hopsim/plot/gantt": ("plot/program_figures_exact",),
    "hopsim/plot/ranks": ("plot/program_figures_exact",),
    "hopsim/plot/placement": ("plot/program_figures_exact",),
    "hopsim/plot/message_latency": ("plot/program_figures_exact",),
    "hopsim/plot/messages_in_flight": ("plot/program_figures_exact",),
    "hopsim/report/curves": ("report/report_exact",),
    "hopsim/report/links": ("report/report_exact",),
    "hopsim/report/network": ("report/report_exact",),
    "hopsim/report/overview": ("report/report_exact",),
    "hopsim/report/payload": ("report/report_exact",),
    "hopsim/report/points": ("report/report_exact",),
    "hopsim/report/ranks": ("report/report_exact",),
    "hopsim/report/trees": ("report/report_exact",),
}
"""Modules below `python` that compute a number that users see -> their tests, `FOLDER/test_NAME.py`.

They are all of it but `WITHOUT_NUMBERS` and, below it, `FOLDERS_WITHOUT`.
"""

WITHOUT_NUMBERS = frozenset(
    {
        "hopsim/__init__",
        "hopsim/__main__",
        "hopsim/errors",
        "hopsim/kinds",
        "hopsim/spelling",
        "hopsim/starting",
        "hopsim/suggestion",
        "hopsim/document/__init__",
        "hopsim/document/links_warning",
        "hopsim/document/paths",
        "hopsim/document/placement_warning",
        "hopsim/document/recovery_warning",
        "hopsim/convert/__init__",
        "hopsim/convert/booksim",
        "hopsim/convert/booksim_file",
        "hopsim/convert/booksim_names",
        "hopsim/convert/booksim_options",
        "hopsim/convert/infragraph",
        "hopsim/export/__init__",
        "hopsim/export/anynet",
        "hopsim/export/booksim",
        "hopsim/export/caminos",
        "hopsim/export/differences",
        "hopsim/export/keys",
        "hopsim/files/__init__",
        "hopsim/files/atomic",
        "hopsim/files/csv_file",
        "hopsim/files/fabric_file",
        "hopsim/files/flows_file",
        "hopsim/files/forwarding_file",
        "hopsim/files/graph_file",
        "hopsim/files/infragraph_file",
        "hopsim/files/packets_file",
        "hopsim/files/placement_file",
        "hopsim/files/program_file",
        "hopsim/files/reading",
        "hopsim/files/routes_file",
        "hopsim/files/rows_file",
        "hopsim/files/toml",
        "hopsim/insight/__init__",
        "hopsim/insight/causes",
        "hopsim/insight/paraver",
        "hopsim/metrics/__init__",
        "hopsim/plot/__init__",
        "hopsim/plot/accepted_load",
        "hopsim/plot/accessor",
        "hopsim/plot/bursts",
        "hopsim/plot/canvas",
        "hopsim/plot/execution_time",
        "hopsim/plot/fit",
        "hopsim/plot/frame",
        "hopsim/plot/generation",
        "hopsim/plot/kind",
        "hopsim/plot/latency_load",
        "hopsim/plot/options",
        "hopsim/plot/timeseries",
        "hopsim/report/__init__",
        "hopsim/report/drawing",
        "hopsim/report/layout",
        "hopsim/report/page",
        "hopsim/results/__init__",
        "hopsim/results/origin",
        "hopsim/results/outcome",
        "hopsim/results/sealed",
        "hopsim/results/shape",
        "hopsim/runs/__init__",
        "hopsim/runs/branches",
        "hopsim/runs/checking",
        "hopsim/runs/dask_executor",
        "hopsim/runs/progress",
        "hopsim/runs/runner",
        "hopsim/runs/snapshots",
        "hopsim/runs/program_folder",
        "hopsim/runs/topologies",
        "hopsim/runs/workers",
        "hopsim/vocabulary/__init__",
        "hopsim/vocabulary/catalogue",
        "hopsim/vocabulary/columns",
        "hopsim/vocabulary/editor_schema",
        "hopsim/vocabulary/sample",
        "hopsim/vocabulary/terms",
    }
)
"""Those that read, write, check, choose or place what others compute."""

FOLDERS_WITHOUT = ("hopsim/bench/", "hopsim/cli/", "hopsim/presets/", "hopsim_reproduce/")
"""Folders of which only what `MODULES` names is broken: they measure hopsim itself, are the command line,
or say what publications have found."""

LIMIT_S = 2 * 3600.0

_PROJECT = """
[tool.mutmut]
source_paths = {packages}
only_mutate = {sources}
also_copy = {copied}
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


def test_of(name: str) -> str:
    """The file of a test, below the folder of all tests."""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}test_{last}.py"


def run(scratch: Scratch, modules: Sequence[str] = tuple(MODULES)) -> list[Outcome]:
    """Try all mutants of the modules. Raises `MutantsError` if the tests fail without any."""
    folder = scratch.root / "python"
    # mutmut works in a directory of this name beside the package.
    shutil.rmtree(folder / "mutants", ignore_errors=True)
    sources = json.dumps([f"{module}.py" for module in modules])
    names = dict.fromkeys(name for module in modules for name in MODULES[module])
    tests = json.dumps([f"tests/{test_of(name)}" for name in names])
    project = _PROJECT.format(
        packages=json.dumps(PACKAGES), copied=json.dumps([*PACKAGES, "tests"]), sources=sources, tests=tests
    )
    (folder / "pyproject.toml").write_text(project, "utf-8")
    done = scratch.run([tool(), "run"], LIMIT_S, "python")
    found = [
        Outcome(module, name, _change(scratch, module, name, fate), fate)
        for module in modules
        for name, fate in _fates(folder / "mutants" / f"{module}.py.meta", done.output)
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
    return Change.of_diff(f"python/{module}.py", diff)
