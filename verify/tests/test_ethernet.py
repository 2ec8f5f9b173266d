"""The comparison of lossless Ethernet: its rows, its documents, what agrees, and what a rule explains."""

import re
from dataclasses import replace
from typing import Any

import pytest
from verify.ethernet import RULES, Line, found, lines
from verify.ethernet_documents import document
from verify.ethernet_rows import Scenario, read
from verify.simulate import Document

import hopsim

ROWS = {scenario.name: scenario for scenario in read()}


def compared(name: str, changed: Document | None = None) -> dict[str, Line]:
    scenario = ROWS[name]
    run = found(hopsim.run(changed or document(scenario)))
    return {line.figure: line for line in lines(scenario, [run])}


def ethernet(name: str) -> tuple[Document, dict[str, Any]]:
    made = document(ROWS[name])
    return made, made["router"]["ethernet"]


def test_there_are_scenarios_of_every_kind() -> None:
    kinds = {(row.simulator, row.topology["kind"], row.option("CC_MODE")) for row in ROWS.values()}
    assert {mode for _, _, mode in kinds} >= {"0", "1", "3", "7"}
    assert {kind for _, kind, _ in kinds} == {"star", "chain", "fat_tree"}
    assert {simulator for simulator, _, _ in kinds} == {"ns-3 of HPCC", "uet-htsim"}
    assert len(ROWS) >= 120


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_every_row_can_be_compared(row: Scenario) -> None:
    assert row.flows
    assert row.figures or all(flow.found for flow in row.flows)
    assert all((flow.packets is None) == (row.warmup is not None) for flow in row.flows)
    hopsim.check(document(row))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_about_some_scenario(rule: Any) -> None:
    assert any(re.search(rule.scenarios, name) for name in ROWS)


@pytest.mark.parametrize("name", ["alone", "incast-4", "fat-tree-load-silent", "htsim-pauses-star-3-20"])
def test_completion_times_and_pauses_are_the_same(name: str) -> None:
    assert all(line.agrees for line in compared(name).values())


def test_another_pause_threshold_is_told() -> None:
    made, changed = ethernet("htsim-pauses-star-3-20")
    changed["flow_control"]["pfc"]["pause"] = "24001 B"
    line = compared("htsim-pauses-star-3-20", made)["flows"]
    assert not line.agrees
    assert line.verdict == "[bold red]NO[/]"


def test_a_longer_way_is_told() -> None:
    made, changed = ethernet("alone")
    changed["switch"]["output_latency"] = "2 ns"
    assert compared("alone", made)["flows"].ours == ROWS["alone"].flows[0].found.mean + 2  # type: ignore[union-attr]
    assert not compared("alone", made)["flows"].agrees


@pytest.mark.parametrize("name", ["hpcc-start-4-stages", "hpcc-start-8", "hpcc-start-lot-4"])
def test_hpcc_begins_as_in_ns3(name: str) -> None:
    assert all(line.agrees for line in compared(name).values())


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("hpcc-start-4", {"utilisation": 0.949}),
        ("hpcc-start-4-stages", {"stages": 4}),
        ("hpcc-start-8", {"increase": 0.0022}),
        ("hpcc-start-8", {"base_round_trip": "4592 ns"}),
    ],
)
def test_another_parameter_of_hpcc_is_told(name: str, changed: Document) -> None:
    made, network = ethernet(name)
    network["congestion_control"]["reaction"]["hpcc"] |= changed
    line = compared(name, made)["flows"]
    assert not line.agrees
    assert line.verdict == "[bold red]NO[/]"


def test_what_waits_before_its_tail_has_come_is_told() -> None:
    """Documents have heads arrive when tails do there; with packets that are stored first runs are others."""
    made, network = ethernet("hpcc-start-8")
    network["links"] = {kind: {"rate": "24 Gb/s", "delay": "1000 ns"} for kind in ("host", "switch")}
    network["switch"]["switching"] = "store_and_forward"
    assert not compared("hpcc-start-8", made)["flows"].agrees


def test_rows_with_the_rules_of_here_have_to_agree() -> None:
    names = [name for name, row in ROWS.items() if row.option("RULES")]
    assert len(names) > 30
    assert not [name for name in names if any(re.search(rule.scenarios, name) for rule in RULES)]


def test_a_rule_explains_one_direction() -> None:
    row = ROWS["dcqcn-4-g-256"]
    rule = next(rule for rule in RULES if rule.name == "share first")
    more = Line(row, "marked", 0.011, 0.012, 0.0001, rule)
    assert more.explained
    assert more.verdict == "rule: share first"
    less = replace(more, ours=0.010)
    assert not less.explained
    assert less.verdict == "[bold red]NO[/]"
    assert not replace(more, rule=None).explained


def test_of_flows_the_one_that_differs_most_is_told() -> None:
    row = ROWS["incast-4"]
    times = {f"flow {index}": flow.found.mean for index, flow in enumerate(row.flows) if flow.found}
    run = {"marked": 0.0, "pauses": 0.0, **times, "flow 2": times["flow 2"] + 5}
    (line,) = [line for line in lines(row, [run]) if line.figure == "flows"]
    assert (line.theirs, line.ours) == (times["flow 2"], times["flow 2"] + 5)
    assert not line.agrees
