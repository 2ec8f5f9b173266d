"""What simulations measured: `Result` for one point, `Results` for all points of an experiment."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import pyarrow as pa

from hopsim.errors import ConfigError, NotRecordedError
from hopsim.insight import packets, why
from hopsim.insight.packets import Choice, Packet
from hopsim.metrics import tables
from hopsim.results.origin import Origin
from hopsim.suggestion import suggestion
from hopsim.vocabulary.columns import streams
from hopsim.vocabulary.labels import labels_of, value_label

if TYPE_CHECKING:
    from hopsim.plot.accessor import Plots


_RECORDING = {
    "timeseries": "measure.interval > 0",
    "flow_series": 'measure.streams = ["flow_series"] and measure.time.interval',
    "queue_series": 'measure.streams = ["queue_series"] and measure.time.interval',
    "link_series": 'measure.streams = ["link_series"] and measure.interval (InfiniBand: time.interval)',
    "flow_waits": 'measure.streams = ["waits"]',
    "congestion_trees": 'measure.streams = ["congestion_trees"] and measure.interval > 0',
    "congestion_flows": 'measure.streams = ["congestion_trees"] and measure.interval > 0',
    "standing_packets": 'measure.streams = ["congestion_trees"] and measure.interval > 0',
    "generation_series": 'measure.streams = ["generation"] and measure.interval > 0',
}
"""Table -> what makes a simulation record it, where that is not a stream of the same name."""

_FIGURES = {
    "offered_load": "phits/(node·cycle)",
    "accepted_load": "phits/(node·cycle)",
    "packet_latency_mean": "cycles",
    "packet_latency_p99": "cycles",
    "hops_mean": "",
    "router_injection_max_min_ratio": "",
    "jain_index": "",
}

_FABRIC_FIGURES = {
    "throughput_gbps": "Gb/s",
    "flow_throughput_min_gbps": "Gb/s",
    "flow_throughput_max_gbps": "Gb/s",
    "jain_index": "",
    "packet_latency_mean_ns": "ns",
    "packets_marked": "packets",
}
"""Of fabrics."""


class Result:
    """One simulated point.

    Attributes:
        config: the resolved configuration.
        summary: the summary record; loads in phits/(node·cycle), latencies in cycles (in fabrics:
            throughput in Gb/s, latencies in ns).
        jobs: one summary record per job, `job` holding its name.
        axes: the sweep assignments {path: value} of the point; empty for a single run.
        tables: table name -> Arrow table, for the tables that were recorded.
        labels: names {path: name} of those values of `axes` that have one.
    """

    def __init__(
        self,
        record: Mapping[str, Any],
        axes: Mapping[str, Any],
        recorded: Mapping[str, pa.Table],
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.config: dict[str, Any] = record["config"]
        self.summary: dict[str, Any] = record["result"]
        self.jobs: list[dict[str, Any]] = record.get("jobs", [])
        self.axes = dict(axes)
        self.tables = recorded
        self.labels = dict(labels or {})

    @property
    def record(self) -> dict[str, Any]:
        """What `--json` prints for the point: config, result and, when there are several, jobs."""
        record: dict[str, Any] = {"config": self.config, "result": self.summary}
        if len(self.jobs) > 1:
            record["jobs"] = self.jobs
        return record

    def replaced(
        self, record: Mapping[str, Any], axes: Mapping[str, Any], tables: Mapping[str, pa.Table]
    ) -> Result:
        """The same point with another record, and other axes and tables; its labels stay."""
        return Result(record, axes, tables, self.labels)

    @property
    def nodes(self) -> pa.Table:
        """One row per node: packets generated, injected, delivered, received; latency of those it sent."""
        return self._table("nodes")

    @property
    def routers(self) -> pa.Table:
        """One row per router: packets, injected load, latency."""
        return self._table("routers")

    @property
    def links(self) -> pa.Table:
        """One row per router, output port and VC: phits, utilisation, mean occupancy.

        Of a fabric one row per link and VL that a flow uses: throughput [Gb/s], utilisation,
        and the share of the window in which the link was idle for want of credits.
        """
        return self._table("links")

    @property
    def timeseries(self) -> pa.Table:
        """One row per interval of `measure.interval` cycles."""
        return self._table("timeseries")

    @property
    def generation_series(self) -> pa.Table:
        """One row per interval of `measure.interval` cycles in which packets were generated.

        `cycle` is the first of the interval, warm-up included; `packets` those delivered until the
        end of the run, `latency_mean` [cycles] and `misrouted_fraction` theirs.
        """
        return self._table("generation_series")

    @property
    def occupancy(self) -> pa.Table:
        """One row per port class and VC: mean occupancy [phits per buffer], utilisation."""
        return self._table("occupancy")

    @property
    def output_queues(self) -> pa.Table:
        """One row per output port of a router: mean and greatest occupancy of its queue [phits]."""
        return self._table("output_queues")

    @property
    def injection_waits(self) -> pa.Table:
        """One row per node: cycles that the heads of its injection VCs waited [cycles], a column per reason.

        Of several outputs that a head may use the one that lacks least counts. `arbitration`:
        another packet was granted; `ipr`: likewise, while packets in transit went first; `output`:
        it was busy; `lbr`, `bubble`: room kept free; `credits`: no room for the packet; `input`:
        the injection port was busy; `sat`: the signal had not come.
        """
        return self._table("injection_waits")

    @property
    def allocation(self) -> pa.Table:
        """One row per router: requests made of its allocator in the window, those granted, their share."""
        return self._table("allocation")

    @property
    def ranks(self) -> pa.Table:
        """One row per rank of a program: times [cycles] and messages."""
        return self._table("ranks")

    @property
    def messages(self) -> pa.Table:
        """One row per message of a program, by job, source and order; times are cycles of the run."""
        return self._table("messages")

    @property
    def operations(self) -> pa.Table:
        """One row per interval of a rank of a program: what its stream did or what it waited for.

        Rows are in order of job, rank, stream and `begin` [cycles of the run]. Those of stream 0
        cover the time of the rank from the start of the program to its end.
        """
        return self._table("operations")

    @property
    def message_sizes(self) -> pa.Table:
        """One row per job and class of message sizes: messages, and their latency [cycles]."""
        return self._table("message_sizes")

    @property
    def latency_histogram(self) -> pa.Table:
        """Packets per job and latency bin, `latency_from` to `latency_to` cycles, both included."""
        return self._table("latency_histogram")

    @property
    def batches(self) -> pa.Table:
        """One row per batch of the measurement window."""
        return self._table("batches")

    @property
    def flows(self) -> pa.Table:
        """One row per flow of a fabric: throughput [Gb/s], packets, marks, latency [ns]."""
        return self._table("flows")

    @property
    def flow_series(self) -> pa.Table:
        """One row per interval, ending at `time_s` [s], and flow: throughput [Gb/s], marks, CCTI."""
        return self._table("flow_series")

    @property
    def queue_series(self) -> pa.Table:
        """One row per interval, output port of a switch and VL: bytes queued, throughput [Gb/s]."""
        return self._table("queue_series")

    @property
    def link_series(self) -> pa.Table:
        """One row per interval, link and VC or VL: phits or throughput [Gb/s], utilisation, credit stalls."""
        return self._table("link_series")

    @property
    def flow_sizes(self) -> pa.Table:
        """One row per job of a fabric and class of sizes: completion times [ns] and slowdowns of flows."""
        return self._table("flow_sizes")

    @property
    def victims(self) -> pa.Table:
        """One row per flow and output at which congestion that held it up begins: for how long [s]."""
        return self._table("victims")

    @property
    def waits(self) -> pa.Table:
        """One row per router, output port and VC: packets granted it, and what they waited for [cycles]."""
        return self._table("waits")

    @property
    def flow_waits(self) -> pa.Table:
        """One row per job and groups of source and destination: what its packets waited for [cycles]."""
        return self._table("flow_waits")

    @property
    def packet_hops(self) -> pa.Table:
        """One row per packet and router that it passed: when it arrived and left, what it waited for."""
        return self._table("packet_hops")

    @property
    def flit_hops(self) -> pa.Table:
        """One row per flit and virtual-channel router that it passed: cycles in which its stages ended."""
        return self._table("flit_hops")

    def packets(
        self,
        *,
        source: int | None = None,
        destination: int | None = None,
        serial: int | None = None,
        every: int | None = None,
        after: int | None = None,
        slowest: int | None = None,
        flits: bool = False,
    ) -> list[Packet]:
        """The lives of packets; the arguments choose among those recorded, see `hopsim.trace_packets`.

        Raises:
            NotRecordedError: the stream `packet_hops` was not recorded, or with `flits` `flit_hops`.
            ConfigError: no packet is of the choice.
        """
        choice = Choice(source, destination, serial, every, after, slowest)
        return packets.of(self, choice, with_flits=flits)

    @property
    def congestion_trees(self) -> pa.Table:
        """One row per look, after every interval, and root: links, depth, packets, victims of its tree."""
        return self._table("congestion_trees")

    @property
    def congestion_flows(self) -> pa.Table:
        """One row per root, job and groups: time that its packets stood in the trees [packets·cycles]."""
        return self._table("congestion_flows")

    @property
    def standing_packets(self) -> pa.Table:
        """One row per look, after every interval: packets that stand still, by what they wait for."""
        return self._table("standing_packets")

    def why(self) -> list[str]:
        """Lines of text: which links are the bottleneck, what waits because of them, who suffers.

        Raises:
            NotRecordedError: the streams `link_series` and `congestion_trees` were not recorded, or, of an
                fabric, `victims`.
        """
        return why.explain(self)

    def json(self) -> str:
        """`record` as one line of JSON; the same text for the same simulation."""
        return json.dumps(self.record, separators=(",", ":"))

    def _table(self, name: str) -> pa.Table:
        try:
            return self.tables[name]
        except KeyError:
            how = _RECORDING.get(name, f'measure.streams = ["{name}"]')
            raise NotRecordedError(f"{name} was not recorded; set {how}") from None

    @property
    def plot(self) -> Plots:
        """Figures of the one point, see `Results.plot`."""
        return Results({0: self}).plot

    @property
    def _figures(self) -> dict[str, str]:
        """What a line shows of the summary, with units."""
        return _FABRIC_FIGURES if "throughput_gbps" in self.summary else _FIGURES

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={_figure(self.summary.get(name))}" for name in self._figures)
        return f"Result({figures}, verdict={_figure(self.summary.get('verdict'))})"

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{name}</th><td>{_figure(self.summary.get(name))}</td><td>{unit}</td></tr>"
            for name, unit in {**self._figures, "verdict": ""}.items()
        )
        recorded = ", ".join(self.tables) or "none"
        return f"<table>{''.join(rows)}</table><p>Tables: {html.escape(recorded)}</p>"


class Results(Sequence[Result]):
    """The points of an experiment, in point order.

    `results[3]` is a `Result`; `results["accepted_load"]` is a column over all points.

    Attributes:
        points: the numbers of the points.
        origin: the directory that they were read from and the run that wrote it; None of others.
    """

    def __init__(self, results: Mapping[int, Result], origin: Origin | None = None) -> None:
        """`results`: point number -> result; unfinished points are simply not there."""
        self.origin = origin
        self.points = sorted(results)
        self._results = [results[point] for point in self.points]

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    @overload
    def __getitem__(self, index: str) -> pa.ChunkedArray[Any]: ...
    def __getitem__(self, index: int | slice | str) -> Result | Results | pa.ChunkedArray[Any]:
        if isinstance(index, str):
            return self._column(index)
        if isinstance(index, slice):
            return Results(dict(zip(self.points[index], self._results[index], strict=True)), self.origin)
        return self._results[index]

    def only(self, results: Iterable[Result]) -> Results:
        """These points, numbered from 0: some of these results, or what was made of them."""
        return Results(dict(enumerate(results)))

    def _column(self, name: str) -> pa.ChunkedArray[Any]:
        names = self.column_names
        if name not in names:
            raise KeyError(f"{name}: no such column{suggestion(name, names)}")
        return self.table.column(name)

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    @property
    def axes(self) -> list[str]:
        """Paths of the sweep axes, slowest first."""
        return list(dict.fromkeys(path for result in self for path in result.axes))

    @property
    def plot(self) -> Plots:
        """Figures: `results.plot.latency_load()`, and a method for each other kind."""
        # Matplotlib takes longer to load than all the rest.
        from hopsim.plot.accessor import Plots

        return Plots(self)

    @property
    def table(self) -> pa.Table:
        """One row per point: `point`, the sweep axes, the summary record."""
        return tables.from_records(
            [
                {"point": point, **result.axes, **result.summary}
                for point, result in zip(self.points, self, strict=True)
            ]
        )

    @property
    def jobs(self) -> pa.Table:
        """One row per point and job: `point`, the sweep axes, the job's summary record."""
        return tables.from_records(
            [
                {"point": point, **result.axes, **job}
                for point, result in zip(self.points, self, strict=True)
                for job in result.jobs
            ]
        )

    @property
    def column_names(self) -> list[str]:
        """Columns of `table`."""
        return self.table.column_names

    @property
    def recorded(self) -> list[str]:
        """Names of the tables that at least one point recorded."""
        return [name for name in streams() if any(name in result.tables for result in self)]

    def stream(self, name: str) -> pa.Table:
        """The table `name` of all points, below one another, with a `point` column.

        Points of unlike networks may have unlike columns; where a point lacks one, it is null.
        """
        parts = list(self.parts(name))
        if not parts:
            raise NotRecordedError(f"{name} was not recorded; recorded: {', '.join(self.recorded) or 'none'}")
        return pa.concat_tables(parts, promote_options="permissive")

    def parts(self, name: str) -> Iterator[pa.Table]:
        """The table `name` of each point that recorded it, with a `point` column."""
        for point, result in zip(self.points, self, strict=True):
            if name in result.tables:
                yield tables.with_point(result.tables[name], point)

    def why(self, point: int | None = None) -> list[str]:
        """What `Result.why` says of a point, by its number; of the only one if there is one.

        Raises `ConfigError` if there is no such point, and what `Result.why` does.
        """
        return self.by_number(point).why()

    def by_number(self, point: int | None = None) -> Result:
        """A point by its number; the only one if there is one. Raises `ConfigError` if it is not there."""
        if point is None and len(self) > 1:
            raise ConfigError(f"{len(self)} points; valid: the number of one of these\n{self.listed}")
        if point is None and len(self) == 1:
            return self[0]
        # True is equal to 1.
        if isinstance(point, bool) or point not in self.points:
            valid = ", ".join(map(str, self.points)) or "none"
            raise ConfigError(f"point {point!r}: has not finished or is not there; valid: {valid}")
        return self[self.points.index(point)]

    @property
    def listed(self) -> str:
        """A line for each point: its number, and the values of the sweep."""
        return "\n".join(
            f"  {point}: {', '.join(f'{path} = {value}' for path, value in result.axes.items())}"
            for point, result in zip(self.points, self, strict=True)
        )

    def labelled(self, names: Mapping[str, Sequence[str]]) -> Results:
        """The same points with names for the values of sweep axes, which figures and tables show instead.

        Args:
            names: {path of an axis, or the end of one: a name for each of its values, in the order
                of `axis_values`}. An empty name is left out of the labels of curves.

        Raises:
            ConfigError: no such axis, or not a name of its own for each of its values.
        """
        given = dict(self._names(path, each) for path, each in names.items())
        return Results(
            {
                point: Result(
                    {"config": result.config, "result": result.summary, "jobs": result.jobs},
                    result.axes,
                    result.tables,
                    result.labels | {path: given[path][_key(result.axes[path])] for path in given},
                )
                for point, result in zip(self.points, self, strict=True)
            },
            self.origin,
        )

    def axis(self, name: str, option: str) -> str:
        """The path of the sweep axis that is called `name` or ends with it; `option` is who asks.

        Raises `ConfigError` if there is none, or more than one.
        """
        matches = [path for path in self.axes if path == name] or [
            path for path in self.axes if path.endswith(f".{name}")
        ]
        if len(matches) == 1:
            return matches[0]
        known = ", ".join(self.axes) or "none"
        reason = "is the end of several axes" if matches else "is not an axis of the sweep"
        raise ConfigError(f"{option} {name}: {reason}; axes: {known}{suggestion(name, self.axes)}")

    def axis_values(self, path: str) -> list[Any]:
        """The values of a sweep axis, each once, in order of first appearance."""
        return list({_key(result.axes[path]): result.axes[path] for result in self}.values())

    def _names(self, name: str, labels: Sequence[str]) -> tuple[str, dict[str, str]]:
        """The whole path of an axis, and value -> name."""
        path = self.axis(name, "--label")
        values = self.axis_values(path)
        if len(labels) != len(values) or len(set(labels)) != len(labels):
            given, valid = ", ".join(labels), ", ".join(labels_of(path, values))
            raise ConfigError(
                f"--label {name}={given}: must be {len(values)} different names, for the values {valid}"
            )
        return path, dict(zip(map(_key, values), labels, strict=True))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML file with all of it that needs nothing else, as `hopsim report` does; its path."""
        # A report draws results: the other way round it would be a circle of modules.
        from hopsim.report import write

        return write(self, Path(path))

    def to_pylist(self) -> list[dict[str, Any]]:
        """`table` as a list of dictionaries."""
        return self.table.to_pylist()

    def to_pandas(self) -> Any:
        """`table` as a pandas DataFrame; pandas must be installed."""
        return cast("Any", self.table.to_pandas())

    def __repr__(self) -> str:
        found = Counter(result.summary.get("verdict") for result in self)
        told = ", ".join(f"{count} {verdict}" for verdict, count in found.items() if verdict)
        verdicts = f", verdicts: {told}" if told else ""
        return f"Results({len(self)} points, axes: {', '.join(self.axes) or 'none'}{verdicts})"

    def _repr_html_(self) -> str:
        figures = _FABRIC_FIGURES if any("throughput_gbps" in result.summary for result in self) else _FIGURES
        names = [*self.axes, *figures, "verdict"]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = (
            "".join(_cell({**result.axes, **result.summary}.get(name)) for name in names) for result in self
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _cell(value: Any) -> str:
    return f"<td>{html.escape(_figure(value))}</td>"


def _figure(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else value_label(value)
