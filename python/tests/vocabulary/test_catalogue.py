"""`list` and `explain` against the schema of the simulator."""

from __future__ import annotations

import json
import re

import pytest

import hopsim as hs
from conftest import Command
from hopsim import _core
from hopsim.document.experiment import preset_names
from hopsim.vocabulary.catalogue import KINDS, Catalogue, unit_and_range

CATALOGUE = Catalogue()


def test_every_kind_has_choices() -> None:
    assert all(CATALOGUE.choices(path) for path in KINDS.values())


def test_every_choice_in_the_schema_is_found() -> None:
    names = {node.name for node in CATALOGUE.nodes.values()}
    for definition in json.loads(_core.schema())["$defs"].values():
        for choice in definition.get("oneOf", []):
            assert choice.get("const", next(iter(choice.get("properties", [None])))) in names


def test_every_definition_of_the_schema_has_a_name_of_its_own_by_which_editors_show_it() -> None:
    names = json.loads(_core.schema())["$defs"]
    # Of types with one name the generator numbers all but the first.
    assert [name for name in names if name == "Config" or name[-1].isdigit()] == []


def test_every_node_is_documented() -> None:
    assert [path for path, node in CATALOGUE.nodes.items() if not node.doc] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_mechanism_is_described_in_more_than_a_line(kind: str) -> None:
    """What it does and its rule; for mechanisms from the literature, the source."""
    for node in CATALOGUE.choices(KINDS[kind]):
        words = len(node.doc.split())
        if kind in ("placement", "stream"):
            assert words > 3, node.path
            continue
        assert words > 15, node.path
        sourced = ("topology", "router", "routing", "trigger", "vcs", "process")
        if kind in sourced or (kind == "pattern" and node.name != "mix"):
            assert "Source: " in node.doc, node.path


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("ADVc", {"jobs.traffic.pattern.adversarial_consecutive"}),
        ("adv+1", {"jobs.traffic.pattern.adversarial"}),
        ("VAL", {"routing.valiant"}),
        ("OLM", {"routing.olm"}),
        ("ECtN", {"routing.olm.trigger.ectn"}),
        ("FlexVC", {"router.cioq.vcs.management.flexvc"}),
        ("CRG", {"routing.valiant.policy.crg", "routing.olm.policy.crg"}),
    ],
)
def test_abbreviations_of_the_papers_are_known(name: str, paths: set[str]) -> None:
    assert {node.path for node in CATALOGUE.find(name)} == paths


def test_defaults_that_depend_on_other_keys_are_read_from_the_text() -> None:
    (node,) = CATALOGUE.find("topology.dragonfly")
    assert {row.name: row.default for row in CATALOGUE.parameters(node)}["groups"] == "a·h + 1"
    (node,) = CATALOGUE.find("router.infiniband.congestion_control")
    assert {row.name: row.default for row in CATALOGUE.parameters(node)}["thresholds.low"] == "0.9 MTU"


def test_every_node_is_found_by_its_path() -> None:
    for path in CATALOGUE.nodes:
        assert path in {node.path for node in CATALOGUE.find(path)}


def test_list_shows_every_mechanism_with_its_summary(hopsim: Command) -> None:
    text = " ".join(hopsim("list").stdout.split())
    for path in KINDS.values():
        for node in CATALOGUE.choices(path):
            assert node.name in text
            assert node.summary.split()[0] in text
    assert all(name in text for name in preset_names())


def test_explain_tells_parameters_units_and_defaults(hopsim: Command) -> None:
    text = hopsim("explain", "router.cioq").stdout
    row = next(line for line in text.splitlines() if line.startswith("crossbar_latency"))
    assert row.split()[1:7] == ["integer", "cycles", "0", "…", "10000", "3"]


@pytest.mark.parametrize(
    "name", ["valiant", "routing.valiant", "semantics", "ejection", "arbiter.age", "measure.warmup"]
)
def test_explain_knows_short_and_long_names(hopsim: Command, name: str) -> None:
    assert name.split(".")[-1] in hopsim("explain", name).stdout


def test_explain_semantics_lists_the_choices_of_a_rule(hopsim: Command) -> None:
    text = hopsim("explain", "ejection").stdout
    assert re.search(r"^idle_node ", text, re.MULTILINE)


def test_explain_suggests_a_name(hopsim: Command) -> None:
    refused = hopsim("explain", "valaint", status=2)
    assert "valaint: nothing has this name; did you mean valiant?" in refused.stderr


def test_explain_a_preset_shows_its_document(hopsim: Command) -> None:
    assert 'compat = "fogsim"' in hopsim("explain", "fuentes2017").stdout


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_valid(name: str) -> None:
    assert len(hs.Experiment.open(name).points()) == 1


@pytest.mark.parametrize(
    ("doc", "parts"),
    [
        ("Latency [cycles, 1 … 60000].", ("Latency.", "cycles", "1 … 60000")),
        ("Groups [2 … a·h + 1]; default all.", ("Groups; default all.", "", "2 … a·h + 1")),
        ("Plain.", ("Plain.", "", "")),
    ],
)
def test_units_and_ranges_are_read_from_the_text(doc: str, parts: tuple[str, str, str]) -> None:
    assert unit_and_range(doc) == parts
