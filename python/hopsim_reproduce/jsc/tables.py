"""Tables 2 to 4: fairness of all mechanisms below and above saturation under ADVc."""

from __future__ import annotations

from hopsim_reproduce.jsc.study import JSC, LEAST_RECENTLY_SERVED, PRIORITY
from hopsim_reproduce.model import Entry
from hopsim_reproduce.thesis import behaviour
from hopsim_reproduce.thesis.system import AGE
from hopsim_reproduce.thesis.tables import FairnessTable


def entries() -> list[Entry]:
    """The three tables."""
    return [
        FairnessTable(JSC, label, arbitration, behaviour.PUBLISHED).entry()
        for label, arbitration in (("2", PRIORITY), ("3", LEAST_RECENTLY_SERVED), ("4", AGE))
    ]
