"""Runs the native runner as a child process and measures it."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopsim.document.experiment import Experiment

Document = Mapping[str, Any]


class NotMeasuredError(Exception):
    """Something needed for a metric is missing or failed; the text says what."""


@dataclass(frozen=True)
class Usage:
    """What a child process used.

    Attributes:
        cpu_s: user and system time [s]. Their sum is exact; Linux only estimates how it divides.
        wall_s: from start to end [s].
        peak_bytes: greatest resident memory [bytes].
    """

    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclass(frozen=True)
class Timing:
    """The run phase of a simulation: the whole process less one that simulates a single cycle.

    Attributes:
        packet_hops: grants.
        best_s: CPU time of the fastest run [s].
        median_s: CPU time of the median run [s].
    """

    packet_hops: int
    best_s: float
    median_s: float

    @property
    def best_ns_per_hop(self) -> float:
        """Time per packet-hop of the fastest run [ns]."""
        return self._ns_per_hop(self.best_s)

    @property
    def median_ns_per_hop(self) -> float:
        """Time per packet-hop of the median run [ns]."""
        return self._ns_per_hop(self.median_s)

    def _ns_per_hop(self, time_s: float) -> float:
        return time_s / max(self.packet_hops, 1) * 1e9


def packet_hops(output: str) -> int:
    """Packet-hops that the runner reports in its last line."""
    found = re.search(r"^packet_hops (\d+)$", output, re.MULTILINE)
    if not found:
        raise NotMeasuredError("the runner printed no packet_hops")
    return int(found[1])


def collected(output: str) -> int:
    """Instructions that callgrind reports on standard error."""
    found = re.search(r"^==\d+== Collected : (\d+)", output, re.MULTILINE)
    if not found:
        raise NotMeasuredError("callgrind reported no instructions")
    return int(found[1])


def document(load: float, cycles: tuple[int, int], **keys: Any) -> dict[str, Any]:
    """An experiment on the reference dragonfly of 1,056 nodes; `keys` replace or add top-level keys.

    `cycles` are those of warm-up and measurement.
    """
    measure = {"warmup": cycles[0], "cycles": cycles[1], **keys.pop("measure", {})}
    return {"load": load, "topology": {"dragonfly": {"p": 4, "a": 8, "h": 4}}, "measure": measure, **keys}


def setup(of: Document) -> dict[str, Any]:
    """The same experiment, one cycle long, as are its intervals if it has any."""
    measure = {**of["measure"], "warmup": 0, "cycles": 1, "batches": 1}
    if measure.get("interval"):
        measure["interval"] = 1
    return {**of, "measure": measure}


class Bench:
    """Measures experiments; what was measured once is not measured again.

    Attributes:
        runs: how often a time is measured.
    """

    def __init__(self, runner: Path, runs: int) -> None:
        self.runs = runs
        self._runner = runner
        self._directory = tempfile.TemporaryDirectory(prefix="hopsim-bench-")
        self._usages: dict[str, list[tuple[Usage, int]]] = {}
        self._instructions: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = {}

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def timing(self, experiment: Document) -> Timing:
        """CPU time of the run phase, best and median."""
        whole, hops = self._measure(experiment, self.runs)
        before = min(usage.cpu_s for usage in self._measure(setup(experiment), self.runs)[0])
        times = [max(usage.cpu_s - before, 0.0) for usage in whole]
        return Timing(hops, min(times), statistics.median(times))

    def usage(self, experiment: Document, runs: int = 1) -> Usage:
        """What the whole process used: least time, greatest memory."""
        usages, _ = self._measure(experiment, runs)
        return Usage(
            min(usage.cpu_s for usage in usages),
            min(usage.wall_s for usage in usages),
            max(usage.peak_bytes for usage in usages),
        )

    def instructions(self, experiment: Document, *options: str) -> float:
        """Instructions per packet-hop of the run phase; `options` are those of the runner."""
        total, hops = self._count(experiment, options)
        if not hops:
            raise NotMeasuredError("no packet moved")
        return (total - self._count(setup(experiment), options)[0]) / hops

    def program(self, experiment: Document, trace: bytes | None) -> tuple[Usage, int]:
        """What a run of programs used, its set-up apart from the CPU time, and its packet-hops.

        `trace` is on the runner's standard input.
        """
        command = [str(self._runner), self.write("experiment.json", self._config(experiment))]
        whole, out, _ = self.execute(command, trace)
        before, _, _ = self.execute([*command, "--set-up"], trace)
        time = max(whole.cpu_s - before.cpu_s, 0.0)
        return Usage(time, whole.wall_s, whole.peak_bytes), packet_hops(out)

    def with_options(self, experiment: Document, *options: str) -> tuple[Usage, str]:
        """What a run with these options of the runner used, and what it printed."""
        command = [str(self._runner), self.write("experiment.json", self._config(experiment)), *options]
        usage, out, _ = self.execute(command)
        return usage, out

    def two_at_once(self, experiment: Document) -> float:
        """Wall time of two runs at once over that of one after the other; the best of some tries."""
        config = self.write("experiment.json", self._config(experiment))
        command = [str(self._runner), config]

        def wall(processes: int) -> float:
            began = time.monotonic()
            running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(processes)]
            statuses = [process.wait() for process in running]
            if any(statuses):
                raise NotMeasuredError(f"{self._runner.name} failed")
            return time.monotonic() - began

        tries = [(wall(1), wall(2)) for _ in range(self.runs)]
        return min(two for _, two in tries) / (2 * min(one for one, _ in tries))

    def execute(self, command: Sequence[str], text: bytes | None = None) -> tuple[Usage, str, str]:
        """Run a command; returns what it used, its standard output and its standard error.

        `text` is its standard input.
        """
        report = self._path("usage.json")
        child = [sys.executable, "-I", "-S", str(Path(__file__).with_name("child.py")), str(report)]
        done = subprocess.run([*child, *command], input=text, capture_output=True, check=False)
        out, log = done.stdout.decode(), done.stderr.decode()
        if done.returncode:
            lines = log.strip().splitlines() or [f"exit status {done.returncode}"]
            raise NotMeasuredError(f"{Path(command[0]).name} failed: {lines[-1]}")
        return Usage(**json.loads(report.read_text("utf-8"))), out, log

    def write(self, name: str, text: str) -> str:
        """Write a file that lives as long as the bench; returns its path."""
        path = self._path(name)
        path.write_text(text, "utf-8")
        return str(path)

    def _path(self, name: str) -> Path:
        return Path(self._directory.name) / name

    def _config(self, experiment: Document) -> str:
        if not self._runner.is_file():
            raise NotMeasuredError(f"no runner at {self._runner}; `make bench` builds it")
        return Experiment.of(experiment).points()[0].config

    def _measure(self, experiment: Document, runs: int) -> tuple[list[Usage], int]:
        config = self._config(experiment)
        measured = self._usages.setdefault(config, [])
        while len(measured) < runs:
            usage, out, _ = self.execute([str(self._runner), self.write("experiment.json", config)])
            measured.append((usage, packet_hops(out)))
        return [usage for usage, _ in measured], measured[0][1]

    def _count(self, experiment: Document, options: tuple[str, ...]) -> tuple[int, int]:
        if shutil.which("valgrind") is None:
            raise NotMeasuredError("valgrind is not installed")
        config = self._config(experiment)
        if (config, options) not in self._instructions:
            profile = self._path("callgrind.out")
            valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
            run = [str(self._runner), self.write("experiment.json", config), *options]
            _, out, log = self.execute([*valgrind, *run])
            self._instructions[config, options] = (collected(log), packet_hops(out))
        return self._instructions[config, options]
