"""The registry: a family of tables or figures is a module with `entries()` and a row here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hopsim_reproduce.dally_towles import butterfly, cubes, formulas
from hopsim_reproduce.gran import common, fat_tree, parameters, stages, tree, worst_case
from hopsim_reproduce.gran import thresholds as gran_thresholds
from hopsim_reproduce.izu import (
    application_thresholds,
    applications,
    busy_nodes,
    fairness,
    flits,
    hotspot,
    hotspot_sources,
    latency,
    random_loads,
    table,
    thresholds,
)
from hopsim_reproduce.jiang import rtl
from hopsim_reproduce.jsc import breakdown as jsc_breakdown
from hopsim_reproduce.jsc import curves as jsc_curves
from hopsim_reproduce.jsc import injection as jsc_injection
from hopsim_reproduce.jsc import per_router as jsc_per_router
from hopsim_reproduce.jsc import sizes as jsc_sizes
from hopsim_reproduce.jsc import tables as jsc_tables
from hopsim_reproduce.jsc import warmup as jsc_warmup
from hopsim_reproduce.model import Entry
from hopsim_reproduce.networks import dragonfly_plus, jellyfish, polarfly, shifts, slim_fly
from hopsim_reproduce.ridruejo import bursts, cg, lu, phases
from hopsim_reproduce.ridruejo import traces as ridruejo_traces
from hopsim_reproduce.thesis import (
    breakdown,
    calibration,
    contention,
    curves,
    flexvc_oblivious,
    flexvc_requests,
    graph500,
    graph500_graphs,
    graph500_search,
    graph500_tables,
    per_router,
    sizes,
    tables,
    transients,
    vc_tables,
)

FAMILIES = (
    butterfly,
    cubes,
    formulas,
    table,
    flits,
    fairness,
    latency,
    busy_nodes,
    random_loads,
    hotspot,
    hotspot_sources,
    thresholds,
    applications,
    application_thresholds,
    rtl,
    slim_fly,
    polarfly,
    dragonfly_plus,
    jellyfish,
    shifts,
    bursts,
    ridruejo_traces,
    cg,
    lu,
    phases,
    jsc_tables,
    jsc_injection,
    jsc_warmup,
    jsc_curves,
    jsc_breakdown,
    jsc_per_router,
    jsc_sizes,
    graph500,
    graph500_graphs,
    graph500_search,
    graph500_tables,
    tables,
    calibration,
    curves,
    breakdown,
    per_router,
    sizes,
    contention,
    transients,
    flexvc_oblivious,
    flexvc_requests,
    vc_tables,
    stages,
    tree,
    worst_case,
    common,
    gran_thresholds,
    parameters,
    fat_tree,
)


def _place(entry: Entry) -> tuple[str, bool, list[int], str]:
    """By publication, chapter and number; studies of ours, which have none, are last."""
    publication = entry.name.partition("-")[0]
    numbers = [int(digits) for digits in re.findall(r"\d+", entry.name)]
    return publication, not numbers, numbers, entry.name


ENTRIES: tuple[Entry, ...] = tuple(
    sorted((entry for family in FAMILIES for entry in family.entries()), key=_place)
)
BY_NAME: Mapping[str, Entry] = {entry.name: entry for entry in ENTRIES}
