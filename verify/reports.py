"""Reports of large networks in a browser: how large the files are, how long they take, and that they work.

What is measured is printed; a page that complains, is too large or too slow fails.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from selenium.webdriver import Chrome

from hopsim import sweep
from verify.browser import browser, complaints, lacking, show, wait_for
from verify.options import Options
from verify.simulate import Document

MOST_MB = 8
"""Size of a report [MB of 10^6 bytes]."""
LONGEST_S = 15
"""Until everything is drawn [s]."""
LONGEST_CHANGE_S = 2
"""Until another point, or another group, is drawn [s]."""


def _dragonfly(h: int, cycles: int) -> Document:
    """A balanced dragonfly under two patterns, with the loads of its links."""
    return {
        "topology": {"dragonfly": {"p": h, "a": 2 * h, "h": h}},
        "measure": {"warmup": cycles, "cycles": cycles, "streams": ["links", "routers", "nodes"]},
        "sweep": {
            "product": {
                "jobs.0.traffic.pattern": ["uniform", "adversarial_consecutive"],
                "load": [0.1, 0.2, 0.3, 0.4],
            }
        },
        "jobs": [{"traffic": {"pattern": "uniform"}}],
    }


CASES = {"1,056 nodes": _dragonfly(4, 1000), "16,512 nodes": _dragonfly(8, 300)}


@dataclass(frozen=True)
class Measured:
    """What was seen of a report.

    Attributes:
        size_mb: of the file [MB].
        drawn_s: until everything is drawn [s].
        point_s: until another point is drawn [s].
        group_s: until another group is drawn [s].
        complaints: what the page said.
    """

    size_mb: float
    drawn_s: float
    point_s: float
    group_s: float
    complaints: list[str]

    @property
    def failures(self) -> list[str]:
        """What is not as it must be."""
        limits = {
            f"{self.size_mb:.1f} MB": self.size_mb > MOST_MB,
            f"drawn after {self.drawn_s:.1f} s": self.drawn_s > LONGEST_S,
            f"another point after {self.point_s:.1f} s": self.point_s > LONGEST_CHANGE_S,
            f"another group after {self.group_s:.1f} s": self.group_s > LONGEST_CHANGE_S,
        }
        return [*(text for text, fails in limits.items() if fails), *self.complaints]


def check(options: Options) -> int:
    """Make and open a report of each selected case; how many fail."""
    if reason := lacking():
        options.console.print(f"Reports: not looked at, {reason}")
        return 1
    failed = 0
    for name, document in CASES.items():
        if options.selects(name):
            found = _measure(options, name, document)
            options.console.print(
                f"Report of {name}: {found.size_mb:.2f} MB, drawn after {found.drawn_s:.2f} s, another point "
                f"after {found.point_s:.2f} s, another group after {found.group_s:.2f} s"
            )
            for text in found.failures:
                options.console.print(f"FAILS: {text}")
            failed += bool(found.failures)
    return failed


def _measure(options: Options, name: str, document: Document) -> Measured:
    folder = options.out / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    results = sweep(document, workers=options.jobs, progress=False)
    path = results.report(folder / f"{name.partition(' ')[0].replace(',', '')}.html")
    with browser() as driver:
        drawn = show(driver, path)
        point = _timed(driver, "network-point", "0", "byId('drawing').dataset.point === '0'")
        groups = driver.execute_script("return byId('pick').max")
        group = _timed(driver, "pick", groups, f"byId('picked').textContent.startsWith('Group {groups}: ')")
        return Measured(path.stat().st_size / 1e6, drawn, point, group, complaints(driver))


def _timed(driver: Chrome, control: str, value: str, done: str) -> float:
    """How long it takes from the change of a control until a condition holds and is painted [s]."""
    begin = time.monotonic()
    driver.execute_script(
        "const control = byId(arguments[0]); control.value = arguments[1];"
        "for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind));",
        control,
        value,
    )
    wait_for(driver, f"return {done}")
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return time.monotonic() - begin
