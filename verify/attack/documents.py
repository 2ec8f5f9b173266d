"""Documents with something wrong or unusual in them, and `--set` likewise, for all commands that take one.

Each ends with what it is asked for or says clearly what it refuses, in little time and memory; what `check`
accepts the others do not refuse.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from hopsim.document.experiment import example_names, preset_names, shipped_text
from hopsim.errors import ConfigError
from hopsim.files import toml
from verify import power
from verify.attack import mutations
from verify.attack.series import Case, Ended, run

ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {"warmup": 20, "cycles": 100}
"""Window of documents that state one in cycles, and of those that state none."""
MOST_CHECK_S = 5
"""Of processors, to check a document whose run is expected to be short [s]."""
MOST_POINTS = 40
"""Of documents with more points only the check is tried."""
RUNS: list[tuple[str, ...]] = [
    *[("run", "a.toml", "--json", "-", "-j", "1")] * 5,
    *[("run", "a.toml", "--out", "d", "-j", "2")] * 2,
    *[("trace-packet", "a.toml", "-j", "1")] * 2,
    ("saturate", "a.toml", "--out", "d", "-j", "1", "--seeds", "1", "--precision", "0.3"),
    ("interference", "a.toml", "--out", "d", "-j", "1"),
]
"""What is tried of what `check` accepts."""

_EXPECTED = re.compile(
    r"^points: ([\d,]+).*^expected: (.*), about ([\d.,]+) ([MGT]B)", re.DOTALL | re.MULTILINE
)


def bases() -> list[dict[str, Any]]:
    """Examples, presets and documents of other checks, with short windows."""
    texts = [*map(shipped_text, (*example_names(), *preset_names()))]
    texts += [text for name, text in power.DOCUMENTS.items() if name.endswith(".toml")]
    found: list[dict[str, Any]] = []
    for text in texts:
        document = tomllib.loads(text)
        measure = document.setdefault("measure", {})
        if not ({"max_cycles", "time", "stop"} & measure.keys()) and "program" not in text:
            measure.update(SMALL)
            measure.pop("batches", None)
        found.append(document)
    return found


def make(folder: Path) -> Case:
    """Documents beside the files that examples name."""
    place = folder / "documents"
    shutil.copytree(ROOT / "experiments", place)
    known = bases()
    texts = [toml.document(document) for document in known]
    kept = {path.name for path in place.iterdir()}

    def case(number: int) -> str:
        draw = random.Random(f"document {number}")
        for path in place.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        options = _write(place / "a.toml", known, texts, draw)
        return _tried(place, options, draw)

    return case


def _write(path: Path, known: list[dict[str, Any]], texts: list[str], draw: random.Random) -> list[str]:
    """Write a document; the options that change it further."""
    place = draw.randrange(len(known))
    kind = draw.random()
    if kind < 0.1:
        path.write_bytes(mutations.damaged(texts[place].encode(), draw))
        return []
    document = known[place]
    if kind < 0.9:
        document = mutations.changed(document, known, draw)
    try:
        path.write_text(toml.document(document), "utf-8", "surrogatepass")
    except ConfigError:
        path.write_text(_deep(draw), "utf-8")
    if kind > 0.8:
        return [
            text for _ in range(draw.choice([1, 1, 2])) for text in ("--set", _assignment(document, draw))
        ]
    return []


def _deep(draw: random.Random) -> str:
    """Lists and tables one in the other, deeper than documents are."""
    depth = draw.choice([65, 200, 3000, 100_000])
    return draw.choice(
        [
            f"load = {'[' * depth}{']' * depth}",
            f"load = {'{a=' * depth}1{'}' * depth}",
            f"{'a.' * depth}b = 1",
            f"[{'a.' * depth}b]\nc = 1",
        ]
    )


def _assignment(document: dict[str, Any], draw: random.Random) -> str:
    paths = mutations.places(document)
    path = draw.choice(paths) if paths and draw.random() < 0.7 else tuple(draw.choice(mutations.PATHS))
    try:
        before = mutations.at(document, path)
    except (KeyError, IndexError, TypeError):
        before = None
    key = ".".join(f'"{part}"' if "." in str(part) else str(part) for part in path)
    kind = draw.random()
    if kind < 0.1:
        text = mutations.damaged(f"{key}={before}".encode(), draw).decode("utf-8", "replace")
        return text.replace("\0", "")
    try:
        text = toml.value(mutations.value(before, draw))
    except ConfigError:
        text = "9" * 5000
    return f"{key}={text}".replace("\0", "")


def _tried(place: Path, options: list[str], draw: random.Random) -> str:
    checked = run(["check", "a.toml", *options], place)
    text = checked.complaint
    if text:
        return _told("check", options, text, place)
    needs = _EXPECTED.search(checked.shown) if checked.status == 0 else None
    if checked.status == 0 and needs is None:
        return _told("check", options, f"shows {checked.shown[-300:]!r}", place)
    command = draw.choice(RUNS)
    if needs is None:
        # What is refused is refused by all, in the same words but for those of the command.
        if draw.random() < 0.9:
            return ""
        done = run([*command, *options], place)
        text = done.complaint
        if not text and done.status == 0 and command[0] == "run":
            text = f"runs, and check says {checked.said[-300:]!r}"
        return _told(command[0], options, text, place)
    is_short = needs[2].startswith("under a second") and needs[4] == "MB"
    if (checked.interrupted or checked.cpu_s > MOST_CHECK_S) and is_short:
        text = f"takes {checked.cpu_s:.1f} s for {needs[0][-200:]!r}"
        return _told("check", options, text, place)
    is_small = int(needs[1].replace(",", "")) <= MOST_POINTS and needs[4] == "MB"
    if not is_small or not (is_short or "until" in needs[2]):
        return ""
    done = run([*command, *options], place)
    return _told(command[0], options, _wrong(done, command, is_short, draw, place, options), place)


def _wrong(
    done: Ended,
    command: tuple[str, ...],
    is_short: bool,
    draw: random.Random,
    place: Path,
    options: list[str],
) -> str:
    if text := done.complaint:
        return text
    if command[0] != "run":
        return ""
    if done.status == 2 and "may still take" not in done.said:
        return f"refuses what check accepts: {done.said[-400:]!r}"
    if done.interrupted and is_short:
        return f"not done after {done.cpu_s:.1f} s"
    if done.status == 0 and "--json" in command:
        lines = [json.loads(line, parse_constant=_refuse) for line in done.shown.splitlines()]
        if not lines:
            return "shows no results"
        if draw.random() < 0.1:
            again = run([*command, *options], place)
            return "" if again.shown == done.shown else "ends otherwise when it is run again"
    return ""


def _refuse(name: str) -> None:
    raise ValueError(f"{name} in the results")


def _told(command: str, options: list[str], text: str, place: Path) -> str:
    """What is wrong, with what shows it; the document is kept if HOPSIM_ATTACK_KEEP names a folder."""
    if not text:
        return ""
    kept = os.environ.get("HOPSIM_ATTACK_KEEP")
    if kept:
        shutil.copy(place / "a.toml", Path(kept))
    return f"{command} {' '.join(options)[:200]}: {text}"
