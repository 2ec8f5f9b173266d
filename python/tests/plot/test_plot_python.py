"""Figures from Python: new ones, and in axes of the user's own, with the options of the command line."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import hopsim as hs
from conftest import SWEEP
from hopsim.plot import KINDS, View, accessor
from hopsim.plot.accessor import Plots
from hopsim.plot.options import OPTIONS

RESULTS = hs.sweep(SWEEP, progress=False)
OF_ONE = {"latency_load", "accepted_load", "metric", "bursts", "execution_time", "placement", "cdf"}
"""Kinds whose figures have one panel."""


@pytest.fixture(autouse=True)
def without_windows() -> Iterator[None]:
    mpl.use("agg")
    yield
    pyplot.close("all")


def test_every_kind_has_a_method_that_says_what_it_shows() -> None:
    methods = {name: each for name, each in inspect.getmembers(Plots, inspect.isfunction) if name[0] != "_"}
    assert methods.keys() == KINDS.keys()
    assert all(inspect.getdoc(each) for each in methods.values())
    returned = {name: inspect.signature(each).return_annotation for name, each in methods.items()}
    assert {name for name, kind in returned.items() if kind == "Axes"} == OF_ONE


def points(axes: Axes) -> list[list[list[float]]]:
    """Of every line."""
    return [np.asarray(line.get_xydata(), dtype=float).tolist() for line in axes.lines]


def test_a_figure_goes_into_the_axes_of_the_user_and_leaves_the_rest_alone() -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    assert RESULTS.plot.latency_load(left) is left
    assert RESULTS.plot.accepted_load(ax=right) is right
    assert figure.axes == [left, right]
    assert figure.get_suptitle() == ""
    own = next(iter(KINDS["latency_load"].draw(RESULTS, View()).values())).axes[0]
    assert points(left) == points(own)
    legend = left.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["minimal", "valiant", "95 % CI over 2 seeds"]


def test_without_axes_there_is_a_new_figure_that_notebooks_show() -> None:
    axes = RESULTS.plot.latency_load(size=(4, 3))
    assert pyplot.get_fignums() == [1]
    assert axes.figure is pyplot.figure(1)
    assert pyplot.figure(1).get_size_inches().tolist() == [4, 3]


def test_panels_take_a_list_or_an_array_of_axes_in_order() -> None:
    _, grid = pyplot.subplots(2, 1)
    load, latency = RESULTS.plot.timeseries(grid, load=0.3)
    assert [load, latency] == list(grid)
    assert latency.get_ylabel() == "Packet latency [cycles]"
    assert load.get_title() == "offered load 0.3\nsaturated or not converged: valiant"
    panels = RESULTS.plot.link_map()
    assert [axes.get_title() for axes in panels] == [
        f"{name}, {links} links" for name in ("minimal", "valiant") for links in ("global", "local")
    ]


def test_panels_of_the_user_have_one_legend_and_the_title_is_above_the_first() -> None:
    _, grid = pyplot.subplots(1, 2)
    first, last = RESULTS.plot.breakdown(grid, group_by=["routing"])
    assert first.get_legend() is None
    legend = last.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][-1] == "minimal path"
    note = "saturated or not converged: valiant at 0.3, 0.5\n"
    assert [axes.get_title() for axes in (first, last)] == [f"{note}minimal", "valiant"]


def test_many_curves_share_the_axes_of_the_user() -> None:
    many = hs.sweep(
        {
            "topology": {"dragonfly": {"p": 1, "a": 2, "h": 1}},
            "load": 0.3,
            "sweep": {"product": {"links.local.latency": list(range(1, 31))}},
            "measure": {"warmup": 10, "cycles": 50, "interval": 10},
        },
        progress=False,
    )
    load, latency = many.plot.timeseries()
    assert len(load.lines) == len(latency.lines) == 30


def test_options_are_those_of_the_command_line() -> None:
    axes = RESULTS.plot.latency_load(
        x="load", xlim=(0, 1), yscale="log", group_by="routing", label={"routing": ["MIN", "VAL"]}
    )
    assert axes.get_xlim() == (0, 1)
    assert axes.get_yscale() == "log"
    labels = [str(line.get_label()) for line in axes.lines]
    assert [label for label in labels if label[0] != "_"] == ["MIN", "VAL"]
    fields = {name for kind in ("Curves", "Injection") for name in _options(kind)}
    assert fields == {"group_by" if name == "by" else name for name in OPTIONS if name != "y"} | {
        "size",
        "notes",
        "label",
    }


def _options(name: str) -> set[str]:
    return set(getattr(accessor, name).__optional_keys__)


def test_a_single_result_draws_itself() -> None:
    axes = RESULTS[0].plot.metric("hops_mean")
    assert axes.get_xlabel() == "Hops mean [links]"
    density, _ = RESULTS[0].plot.histogram()
    assert density.get_ylabel() == "Packets [% per cycle]"


REFUSED: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda plot: plot.latency_load(xlim=(3, 1)),
        r"^xlim 3:1: the first number must be less than the second$",
    ),
    (lambda plot: plot.latency_load(xlim=3), "^xlim 3: must be two numbers"),
    (
        lambda plot: plot.latency_load(colour="red"),
        "^colour: unknown option; valid: group_by, label, load, ",
    ),
    (lambda plot: plot.latency_load(x="rooting"), "^x rooting: neither .*did you mean routing"),
    (
        lambda plot: plot.latency_load(xscale="loog"),
        "^xscale loog: must be linear or log; did you mean log",
    ),
    (lambda plot: plot.latency_load(ax=3), "^ax: must be axes of matplotlib, or a list of them$"),
    (lambda plot: plot.latency_load(size=(3,)), "^size 3: must be width and height in inches"),
    (lambda plot: plot.latency_load(pyplot.gca(), size=(4, 3)), "^size: is that of a new figure; axes "),
    (lambda plot: plot.latency_load(group_by=()), "^latency_load: these results make 2 figures"),
    (lambda plot: plot.timeseries(yscale="log"), "^yscale log: no figure drawn takes it"),
    (lambda plot: plot.timeseries(ylim=3), "^ylim 3: no figure drawn takes it"),
    (lambda plot: plot.timeseries(xscale="log"), "^xscale log: the figure has the value 0"),
    (lambda plot: plot.ranks(), r'^cannot be drawn: ranks needs measure.streams = \["ranks"\]'),
    (lambda plot: plot.metric("jian_index"), "^y jian_index: .*did you mean jain_index"),
    (lambda plot: plot.timeseries(ax=pyplot.gca()), "^ax: 1 axes given; must be 2 or more$"),
    (lambda plot: plot.cdf(ax=[pyplot.gca()] * 2), "^ax: 2 axes given; must be 1, one for each panel$"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_what_does_not_fit_is_refused_and_leaves_no_figure(
    draw: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(hs.ConfigError, match=message):
        draw(RESULTS.plot)
    assert all(not pyplot.figure(number).get_suptitle() for number in pyplot.get_fignums())


def test_results_are_imported_without_matplotlib() -> None:
    code = "import hopsim, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
