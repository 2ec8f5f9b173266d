"""Tables 5.1 to 5.4: the paths that FlexVC allows with a set of VCs. Nothing is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopsim.document.paths import IMPOSSIBLE, OPPORTUNISTIC, SAFE, Network, vc_paths
from hopsim_reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale
from hopsim_reproduce.thesis.study import THESIS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = {SAFE: "safe", OPPORTUNISTIC: "opp.", IMPOSSIBLE: "X"}
"""As the thesis prints them."""
ROUTINGS = {"MIN": "minimal", "VAL": "valiant", "In-Trns": "in_transit"}


@dataclass(frozen=True)
class Set:
    """A column: VCs, local and global, for requests and for replies alone."""

    name: str
    request: tuple[int, int]
    reply: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class PathTable:
    """One of the tables."""

    label: str
    title: str
    network: Network
    sets: Sequence[Set]
    published: Mapping[str, Sequence[str]]
    """Routing -> a word per set; `a / b` for requests and replies that differ."""
    apart: bool = False
    """Whether it tells requests and replies apart."""

    def entry(self) -> Entry:
        """The table as an entry of the registry."""
        return Entry(
            name=f"thesis-table-{self.label}",
            title=self.title,
            source=THESIS.place("table", self.label),
            notes=_notes,
            seeds={"quick": 1, "full": 1},
            experiments=_nothing,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _conclude(self, _scale: Scale, _results: Results) -> Outcome:
        return Outcome(
            facts=[
                Fact(f"{routing} with {vcs.name} VCs: {word}", f"the core says {word}", ours, ours == word)
                for routing, vcs, word, ours in self._cells()
            ]
        )

    def _cells(self) -> list[tuple[str, Set, str, str]]:
        """Routing, VCs, the published word and ours."""
        return [
            (routing, vcs, word, self.word(vcs, ROUTINGS[routing]))
            for routing, words in self.published.items()
            for vcs, word in zip(self.sets, words, strict=True)
        ]

    def word(self, vcs: Set, path: str) -> str:
        """What the core says of a path, as the thesis would print it."""
        local, global_ = (sum(pair) for pair in zip(vcs.request, vcs.reply, strict=True))
        paths = vc_paths(
            local, global_, reply_local=vcs.reply[0], reply_global=vcs.reply[1], network=self.network
        )
        request = WORDS[paths[path]]
        reply = WORDS[paths[f"{path}_reply"]] if any(vcs.reply) else request
        if request == reply:
            return request
        # Table 5.2 prints one word for both: what requests and replies can do alike.
        return f"{request} / {reply}" if self.apart else max(request, reply, key=list(WORDS.values()).index)

    def _draw(self, _scale: Scale, _results: Results) -> Figure:
        from hopsim_reproduce import drawing

        rows: dict[str, list[tuple[str, bool]]] = {}
        for routing, _, word, ours in self._cells():
            rows.setdefault(routing, []).append((ours, ours == word))
        return drawing.matrix(
            f"Thesis table {self.label}: {self.title}", [vcs.name for vcs in self.sets], rows
        )


def _notes(_scale: Scale) -> list[str]:
    return ["Computed, not simulated: the same at every scale. X: impossible; opp.: opportunistic."]


def _nothing(_scale: Scale, _seeds: int) -> list[Experiment]:
    return []


def _one_kind(count: int) -> Set:
    return Set(str(count), (count, 0))


def _two_kinds(local: int, global_: int) -> Set:
    return Set(f"{local}/{global_}", (local, global_))


def _both_ways(request: tuple[int, int], reply: tuple[int, int]) -> Set:
    if not any((request[1], reply[1])):
        return Set(f"{request[0]}+{reply[0]}", request, reply)
    return Set("{}/{}+{}/{}".format(*request, *reply), request, reply)


_SAFE, _OPP, _NO = WORDS[SAFE], WORDS[OPPORTUNISTIC], WORDS[IMPOSSIBLE]
TABLES = (
    PathTable(
        "5.1",
        "Paths that FlexVC allows in a network of diameter 2",
        "diameter2",
        [_one_kind(count) for count in (2, 3, 4, 5)],
        {
            "MIN": (_SAFE,) * 4,
            "VAL": (_NO, _OPP, _SAFE, _SAFE),
            "In-Trns": (_NO, _OPP, _OPP, _SAFE),
        },
    ),
    PathTable(
        "5.2",
        "Paths that FlexVC allows in a network of diameter 2 with requests and replies",
        "diameter2",
        [_both_ways((request, 0), (reply, 0)) for request, reply in ((2, 2), (3, 2), (3, 3), (4, 4), (5, 5))],
        {
            "MIN": (_SAFE,) * 5,
            "VAL": (_NO, _OPP, _OPP, _SAFE, _SAFE),
            "In-Trns": (_NO, _OPP, _OPP, _OPP, _SAFE),
        },
    ),
    PathTable(
        "5.3",
        "Paths that FlexVC allows in a dragonfly",
        "dragonfly",
        [_two_kinds(*vcs) for vcs in ((2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (5, 2))],
        {
            "MIN": (_SAFE,) * 6,
            "VAL": (_NO, _NO, _NO, _OPP, _SAFE, _SAFE),
            "In-Trns": (_NO, _NO, _NO, _OPP, _OPP, _SAFE),
        },
    ),
    PathTable(
        "5.4",
        "Paths that FlexVC allows in a dragonfly with requests and replies",
        "dragonfly",
        [
            _both_ways((2, 1), (2, 1)),
            _both_ways((3, 2), (2, 1)),
            _both_ways((4, 2), (4, 2)),
            _both_ways((5, 2), (5, 2)),
        ],
        {
            "MIN": (_SAFE,) * 4,
            "VAL": (f"{_NO} / {_OPP}", _OPP, _SAFE, _SAFE),
            "In-Trns": (f"{_NO} / {_OPP}", _OPP, _OPP, _SAFE),
        },
        apart=True,
    ),
)


def entries() -> list[Entry]:
    """The four tables."""
    return [table.entry() for table in TABLES]
