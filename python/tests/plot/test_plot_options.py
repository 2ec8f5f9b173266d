"""What may be asked of figures: axes, limits, scales, sizes, columns; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

import hopsim as hs
from conftest import SWEEP, Command
from hopsim.metrics.series import by_job, over_seeds
from hopsim.plot import KINDS, View, draw_all

DRAGONFLY = {"dragonfly": {"p": 1, "a": 2, "h": 1}}
MEASURE = {"warmup": 100, "cycles": 400, "interval": 50, "streams": ["routers", "links", "latency_histogram"]}
BUFFERS = "router.cioq.buffers.local"
RESULTS = hs.sweep(
    {
        "topology": DRAGONFLY,
        "measure": MEASURE,
        "sweep": {
            "product": {
                "routing": ["minimal", "valiant"],
                BUFFERS: [32, 64],
                "load": [0.2, 0.4],
                "measure.seed": [1, 2],
            }
        },
    },
    progress=False,
)
# Half as many curves, for figures with panels of their own that are laid out again and again.
TWO = hs.Results({number: result for number, result in enumerate(RESULTS) if result.axes[BUFFERS] == 32})
JOBS = hs.sweep(
    {
        "topology": DRAGONFLY,
        "measure": MEASURE,
        "jobs": [
            {
                "name": name,
                "placement": {"nodes": {"first": first, "count": 3}},
                "traffic": {"process": {"bernoulli": {"load": 0.1}}},
            }
            for name, first in (("victim", 0), ("aggressor", 3))
        ],
        "sweep": {"product": {"measure.seed": [1, 2]}},
    },
    progress=False,
)


def only(kind: str, view: View, results: hs.Results = RESULTS) -> Figure:
    ((_, figure),) = KINDS[kind].draw(results, view).items()
    return figure


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def line(axes: Axes, number: int = 0) -> list[tuple[float, float]]:
    x, y = (np.asarray(data, dtype=float).tolist() for data in axes.lines[number].get_data())
    return list(zip(x, y, strict=True))


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


def mean(results: hs.Results, column: str, **axes: Any) -> float:
    """Over the seeds of one point, its axes by the ends of their paths."""
    found = [
        result.summary[column]
        for result in results
        if all(result.axes[BUFFERS if name == "buffers" else name] == value for name, value in axes.items())
    ]
    assert len(found) == 2
    return float(np.mean(found))


def made(load: float, **summary: float) -> hs.Result:
    """A point that was not simulated."""
    record: dict[str, Any] = {"config": {"jobs": []}, "result": {"offered_load": load, "seed": 1, **summary}}
    return hs.Result(record, {"load": load}, {})


def test_a_number_of_the_sweep_is_the_horizontal_axis_and_the_load_makes_curves() -> None:
    (axes,) = only("latency_load", View(x="buffers.local", by=("routing", "load"))).axes
    assert axes.get_xlabel() == "buffers.local [phits]"
    assert legend(axes)[:4] == [
        f"{name}, load = {load}" for name in ("minimal", "valiant") for load in (0.2, 0.4)
    ]
    for number, (routing, load) in enumerate((r, x) for r in ("minimal", "valiant") for x in (0.2, 0.4)):
        key = "packet_latency_mean"
        assert line(axes, number) == [
            (size, mean(RESULTS, key, routing=routing, load=load, buffers=size)) for size in (32, 64)
        ]


def test_curves_over_another_axis_may_be_of_one_load() -> None:
    figure = only("accepted_load", View(x=BUFFERS, load=0.4))
    assert legend(figure.axes[0])[:2] == ["minimal", "valiant"]
    assert figure.get_suptitle() == "offered load 0.4"
    with pytest.raises(
        hs.ConfigError, match=r"--load 0.5: no point has this load; loads in the results: 0.2, 0.4"
    ):
        only("accepted_load", View(x=BUFFERS, load=0.5))


def test_names_on_the_horizontal_axis_have_a_bar_per_curve() -> None:
    (axes,) = only("accepted_load", View(x="routing", load=0.4)).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["minimal", "valiant"]
    assert legend(axes)[:2] == ["local = 32", "local = 64"]
    means = [
        mean(RESULTS, "accepted_load", routing=routing, load=0.4, buffers=size)
        for size in (32, 64)
        for routing in ("minimal", "valiant")
    ]
    assert heights(axes) == means


def test_named_numbers_are_names() -> None:
    named = RESULTS.labelled({"buffers.local": ["small", "large"]})
    (axes,) = only("accepted_load", View(x=BUFFERS, load=0.4), named).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["small", "large"]


def test_jobs_are_an_axis_like_any_other() -> None:
    (axes,) = only("accepted_load", View(x="job"), JOBS).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["victim", "aggressor"]
    loads = [group.estimate("accepted_load").mean for group in over_seeds(by_job(JOBS))]
    assert heights(axes) == loads


def test_a_column_of_the_summary_is_the_horizontal_axis_in_the_order_of_the_load() -> None:
    (axes,) = only("latency_load", View(x="accepted_load")).axes
    assert axes.get_xlabel() == "Accepted load [phits/(node·cycle)]"
    assert line(axes) == [
        tuple(
            mean(RESULTS, key, routing="minimal", load=load, buffers=32)
            for key in ("accepted_load", "packet_latency_mean")
        )
        for load in (0.2, 0.4)
    ]


def test_points_of_one_curve_stay_in_the_order_of_the_load_where_throughput_falls() -> None:
    accepted = {0.1: 0.1, 0.2: 0.18, 0.3: 0.15}
    points = [made(load, accepted_load=x, packet_latency_mean=load) for load, x in accepted.items()]
    (axes,) = only("latency_load", View(x="accepted_load"), hs.Results(dict(enumerate(points)))).axes
    assert line(axes) == [(x, load) for load, x in accepted.items()]


def test_any_column_of_numbers_is_drawn_with_its_unit() -> None:
    figures = KINDS["metric"].draw(RESULTS, View(y="packet_latency_p99"))
    assert list(figures) == ["metric_packet_latency_p99"]
    (axes,) = figures["metric_packet_latency_p99"].axes
    assert axes.get_ylabel() == "Packet latency p99 [cycles]"
    assert line(axes)[0][1] == mean(RESULTS, "packet_latency_p99", routing="minimal", load=0.2, buffers=32)
    (axes,) = only("metric", View(y="jain_index")).axes
    assert axes.get_ylabel() == "Jain index"


def test_negative_values_are_within_the_axis() -> None:
    results = hs.Results(
        {0: made(0.1, misrouting_latency_mean=-5.0), 1: made(0.2, misrouting_latency_mean=1.0)}
    )
    (axes,) = only("metric", View(y="misrouting_latency_mean"), results).axes
    assert axes.get_ylim()[0] < -5


@pytest.mark.parametrize("kind", ["latency_load", "accepted_load", "cdf", "breakdown"])
def test_limits_are_those_of_the_axes_and_nothing_is_cut_before_them(kind: str) -> None:
    figure = only(kind, View(xlim=(0.1, 0.5), ylim=(1, 5000)))
    for axes in figure.axes:
        assert axes.get_xlim() == (0.1, 0.5)
        assert axes.get_ylim() == (1, 5000)
    assert "above the axis" not in figure.get_supxlabel()


def test_one_end_alone_leaves_the_other_to_the_figure() -> None:
    free = only("accepted_load", View()).axes[0].get_ylim()
    assert only("accepted_load", View(ylim=(0.1, None))).axes[0].get_ylim() == (0.1, free[1])


def test_limits_of_values_are_those_of_lying_bars() -> None:
    one_load = hs.Results(
        {number: result for number, result in enumerate(RESULTS) if result.axes["load"] == 0.4}
    )
    (axes,) = only("accepted_load", View(ylim=(0, 2)), one_load).axes
    assert axes.get_xlim() == (0, 2)
    with pytest.raises(hs.ConfigError, match=r"--xlim: names stand on this axis, and no numbers"):
        only("accepted_load", View(xlim=(0, 2)), one_load)


def test_curves_outside_the_limits_are_named() -> None:
    figure = only("latency_load", View(ylim=(100_000, 200_000), by=("routing", BUFFERS)))
    assert figure.get_supxlabel().replace("\n", " ").startswith("outside the limits: minimal, local = 32, ")


def test_scales_are_logarithmic_where_asked() -> None:
    (axes,) = only("latency_load", View(xscale="log", yscale="log")).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert only("cdf", View(xscale="log")).axes[0].get_xscale() == "log"
    assert only("timeseries", View(xscale="linear")).axes[0].get_xscale() == "linear"


def test_a_logarithmic_axis_of_zero_is_refused() -> None:
    message = r"--xscale log: the figure has the value 0, and a logarithmic axis has positive numbers only"
    with pytest.raises(hs.ConfigError, match=message):
        only("timeseries", View(xscale="log"))
    idle = hs.sweep({"topology": DRAGONFLY, "measure": MEASURE}, load=[0, 0.2])
    with pytest.raises(hs.ConfigError, match=message):
        only("accepted_load", View(xscale="log"), idle)
    with pytest.raises(hs.ConfigError, match="--yscale log: the figure has the value 0"):
        only("accepted_load", View(yscale="log"), idle)


def test_files_have_the_size_asked_for_in_inches_and_dots(tmp_path: Path) -> None:
    view = View(size=(4, 3), dpi=50)
    for path in draw_all(TWO, tmp_path, view, kinds=["latency_load", "timeseries"]):
        with Image.open(path) as image:
            assert image.size == (200, 150)
    with pytest.raises(
        hs.ConfigError, match=r"cdf.png: 4x3 inches at 5000 dots per inch are 300,000,000 dots;"
    ):
        draw_all(TWO, tmp_path, replace(view, dpi=5000), kinds=["cdf"])


@pytest.mark.parametrize(
    ("size", "kinds"),
    [((3.3, 2.5), ("breakdown", "link_map", "timeseries")), ((12, 2), ("injection", "histogram"))],
)
def test_labels_of_small_and_flat_figures_are_whole_and_apart(
    size: tuple[float, float], kinds: tuple[str, ...]
) -> None:
    for kind in kinds:
        for figure in KINDS[kind].draw(TWO, View(size=size)).values():
            figure.draw_without_rendering()
            labels = [
                label for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label, axes.title)
            ]
            boxes = [label.get_window_extent() for label in labels if label.get_text()]
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), kind
            assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes), kind
            assert all(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 for box in boxes), kind


@pytest.mark.parametrize(
    ("size", "kind"), [((0.5, 0.5), "link_map"), ((1, 4), "link_map"), ((1, 4), "cdf"), ((4, 0.8), "cdf")]
)
def test_sizes_without_room_for_the_labels_are_refused(size: tuple[float, float], kind: str) -> None:
    with pytest.raises(hs.ConfigError, match=rf"^--size {size[0]:g}x{size[1]:g}: too small for {kind} and"):
        only(kind, View(size=size), TWO)


def test_the_cdf_ends_with_all_packets_and_passes_the_median_between_its_bins() -> None:
    one = hs.Results({0: RESULTS[0]})
    (axes,) = only("cdf", View(), one).axes
    x, share = np.array(line(axes)).T
    assert share[-1] == pytest.approx(100)
    assert np.all(np.diff(share) >= 0)
    median = RESULTS[0].summary["packet_latency_p50"]
    assert share[x < median].max(initial=0) < 50 <= share[x >= median].min()


def test_intervals_are_named_wherever_there_is_a_band_or_an_error_bar() -> None:
    for kind in ("latency_load", "accepted_load", "timeseries", "injection"):
        for figure in KINDS[kind].draw(RESULTS, View()).values():
            texts = [text for axes in figure.axes for text in legend(axes)]
            drawn = [each for axes in figure.axes for each in (*axes.collections, *axes.containers) if axes]
            has_bands = any(
                getattr(each, "has_yerr", False) or each.get_label() == "_95 % CI" for each in drawn
            )
            assert texts.count("95 % CI over 2 seeds") == (1 if has_bands else 0), kind
    single = hs.Results({0: RESULTS[0], 1: RESULTS[2]})
    assert "95 % CI over the batches of the run" in legend(only("latency_load", View(), single).axes[0])
    # A percentile of a single run has no interval.
    assert legend(only("metric", View(y="packet_latency_p99"), single).axes[0]) == []


def test_what_is_above_the_axis_is_counted_in_the_figure_and_on_the_screen(tmp_path: Path) -> None:
    latencies = {0.1: 100.0, 0.2: 200.0, 0.3: 2000.0, 0.4: 3000.0}
    points = [made(load, packet_latency_mean=latency) for load, latency in latencies.items()]
    results = hs.Results(dict(enumerate(points)))
    told: list[str] = []
    draw_all(results, tmp_path, View(), kinds=["latency_load"], tell=told.append)
    assert told == ["latency_load: above the axis: 2 points, up to 3000"]
    assert only("latency_load", View(), results).get_supxlabel() == "above the axis: 2 points, up to 3000"


def test_points_without_a_value_are_counted() -> None:
    idle = hs.sweep({"topology": DRAGONFLY, "measure": MEASURE}, load=[0, 0.2, 0.4])
    assert only("latency_load", View(), idle).get_supxlabel() == "not shown (no packet delivered): 1 point"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "d"
    hs.sweep(SWEEP, out=folder, progress=False)
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--x rooting",
            "--x rooting: neither an axis of the sweep nor a column of numbers of the summary; did you mean "
            "routing? axes: routing, load; columns: offered_load, accepted_load, ",
        ),
        (
            "--x measure.seed",
            "--x measure.seed: points that differ in the seed only are one point of a curve",
        ),
        ("--kind metric", "--kind: cannot be drawn: metric needs --y COLUMN"),
        ("--kind metric --y stop", "--y stop: no point has a value of it; valid: offered_load, "),
        (
            "--kind metric --y jian_index",
            "--y jian_index: not a column of numbers of the summary; did you mean jain_index? valid: ",
        ),
        (
            "--kind latency_load --y jain_index",
            "--y jain_index: no figure drawn takes it; those that do: metric, ",
        ),
        (
            "--kind latency_load --load 0.1",
            "--load 0.1: no figure drawn takes it; those that do: injection, ",
        ),
        (
            "--kind timeseries --ylim 0:1",
            "--ylim 0:1: no figure drawn takes it; those that do: latency_load, ",
        ),
        (
            "--kind latency_load --load 0.1",
            "; and with --x latency_load, accepted_load, metric, bursts, breakdown, execution_time\n",
        ),
        (
            "--out {directory}/manifest.json",
            "/manifest.json: cannot write figures there: File exists; valid: a directory to write to",
        ),
        ("--kind node_map --x routing", "--x routing: no figure drawn takes it"),
        ("--xlim 0:1", "--xlim 0:1: needs one --kind, whose axes it is for"),
        ("--kind cdf --kind bursts --yscale log", "--yscale log: needs one --kind, whose axes it is for"),
        (
            "--kind cdf --xlim 5",
            "--xlim 5: must be A:B, two numbers of which one may be left out, for example --xlim 0:0.5",
        ),
        ("--kind cdf --xlim a:b", "--xlim a:b: must be A:B, two numbers"),
        ("--kind cdf --xlim :", "--xlim :: must be A:B, two numbers"),
        ("--kind cdf --ylim 1:nan", "--ylim 1:nan: must be two numbers"),
        ("--kind cdf --xlim 5:1", "--xlim 5:1: the first number must be less than the second"),
        ("--kind cdf --xscale log --xlim 0:9", "--xlim 0:9: a logarithmic axis has positive numbers only"),
        ("--kind cdf --xscale loog", "'loog' is not one of 'linear', 'log'"),
        ("--kind latency_laod", "'latency_laod' is not one of 'latency_load', "),
        (
            "--kind timeseries --xscale log",
            "--xscale log: the figure has the value 0, and a logarithmic axis",
        ),
        (
            "--kind latency_load --x routing --xscale log",
            "--xscale: names stand on this axis, and no numbers",
        ),
        ("--size 6", "--size 6: must be WIDTHxHEIGHT in inches, for example --size 6x4"),
        ("--size 6x0", "--size 6x0: must be width and height in inches, above 0 and at most 100 each"),
        ("--size 6x1e9", "at most 100 each"),
        ("--dpi 5", "5 is not in the range 30<=x<=1200"),
    ],
)
def test_plot_says_what_is_wrong_and_what_would_be_valid(
    directory: Path, arguments: str, message: str, hopsim: Command
) -> None:
    refused = hopsim("plot", directory, *arguments.format(directory=directory).split(), status=2).stderr
    assert message in refused


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, suffix: str) -> None:
    files = [
        draw_all(RESULTS, tmp_path / name, View(), kinds=["latency_load"], formats=[suffix])
        for name in ("one", "other")
    ]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
