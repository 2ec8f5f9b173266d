"""Searches in a network of each kind whose knee is known, and that a wrong one is noticed."""

from dataclasses import replace

import pytest
from verify import knees
from verify.knees import Found

import hopsim


def test_nothing_is_found_above_the_knee_nor_above_what_is_accepted() -> None:
    # The last of each name; `verify knees` has a thousand.
    cases = list({case.network.name: case for number in range(60) if (case := knees.case(number))}.values())
    found = knees.search_all(cases, 2)
    told = [
        (case, reason) for case, one in zip(cases, found, strict=True) for reason in knees.wrong(case, one)
    ]
    assert told == []
    names = {case.network.name for case in cases}
    assert any(name.startswith("fat tree, 3 levels") for name in names)
    assert len(names) >= 7


def test_what_is_found_wrongly_is_told() -> None:
    case = next(case for number in range(100) if (case := knees.case(number)).network.name == "tornado")
    knee = case.network.knee
    good = Found(knee, 0.99 * knee, 1.01 * knee, 1.001 * knee, 0, 10)
    assert knees.wrong(case, good) == []
    assert "is above the knee" in knees.wrong(case, replace(good, low=(1.001 + knees.excess(case)) * knee))[0]
    (above,) = knees.wrong(case, replace(good, accepted=0.999 * knee))
    assert "is above the greatest accepted load" in above
    (below,) = knees.wrong(case, replace(good, load=0.7 * knee))
    assert "is below 75% of the knee" in below


def test_accepted_loads_are_means_over_nodes_that_send_nothing_too() -> None:
    named = {case.network.name: case for number in range(200) if (case := knees.case(number))}
    assert knees.senders(named["tornado"]) == 1
    tree = named["fat tree, 3 levels, permutation"]
    nodes = {"shuffle": (8, 2), "bit_complement": (8, 0), "transpose": (64, 8), "bit_reversal": (64, 8)}
    of, silent = nodes[tree.network.pattern["permutation"]]
    assert knees.senders(tree) == (of - silent) / of


@pytest.mark.parametrize(
    ("kind", "k", "flows"),
    [("bit_complement", 2, 1), ("shuffle", 2, 2), ("transpose", 4, 4), ("bit_reversal", 4, 4)],
)
def test_flows_that_share_a_link_of_a_fat_tree_are_what_links_carry(kind: str, k: int, flows: int) -> None:
    assert max(knees.shared(k, 3, knees.IMAGES[kind])) == flows
    document = {
        "topology": {"fat_tree": {"k": k, "levels": 3}},
        "routing": {"minimal": {"up": "source"}},
        "load": 0.1,
        "jobs": [{"traffic": {"pattern": {"permutation": kind}, "packet_length": 4}}],
        "measure": {"warmup": 1000, "cycles": 20_000, "streams": ["links"]},
    }
    links = hopsim.run(document, progress=False).tables["links"].to_pydict()
    assert max(links["utilisation"]) == pytest.approx(0.1 * flows, rel=0.15)
