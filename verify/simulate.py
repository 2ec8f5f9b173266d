"""Runs documents with several seeds on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import hopsim
from hopsim import Result
from verify.compare import Figures
from verify.rows import GROUP0, INVERSE_RATIO, inverse_ratio

Document = dict[str, Any]
Measured = TypeVar("Measured")


def figures(result: Result) -> Figures:
    """What `rows` says of a run."""
    values: dict[str, float | None] = dict(result.summary)
    values[INVERSE_RATIO] = inverse_ratio(result.summary["router_injection_max_min_ratio"])
    routers = result.routers.to_pydict()
    values["router_injection_min_packets"] = min(routers["injected"])
    values["router_injection_max_packets"] = max(routers["injected"])
    for router, group, received in zip(routers["router"], routers["group"], routers["received"], strict=True):
        if group == 0:
            values[GROUP0.format(router)] = received
    return values


def with_seed(document: Document, seed: int) -> Document:
    """The same experiment with another seed."""
    return {**document, "measure": {**document["measure"], "seed": seed}}


def simulate(
    documents: Sequence[Document],
    seeds: int,
    jobs: int,
    measure: Callable[[Result], Measured],
    advance: Callable[[], None] = lambda: None,
) -> list[list[Measured]]:
    """Per document, what `measure` makes of seeds 1 to `seeds`; `advance` is called after every run."""

    def point(document: Document) -> Measured:
        measured = measure(hopsim.run(document))
        advance()
        return measured

    points = [with_seed(document, seed + 1) for document in documents for seed in range(seeds)]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(point, points))
    return [results[start : start + seeds] for start in range(0, len(results), seeds)]
