"""Words for what hopsim does not have: `explain` and docs/limits.md say the same, and name what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopsim.cli import cli
from hopsim.vocabulary import columns, terms
from hopsim.vocabulary.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = Catalogue()


@pytest.mark.parametrize(
    "word", ["flit", "fault", "RoCE", "XOFF", "slim fly", "dragonfly+", "Dragonfly-Plus", "leaf_spine"]
)
def test_explain_says_what_there_is_instead(word: str) -> None:
    told = CliRunner().invoke(cli, ["explain", word])
    assert told.exit_code == 0
    term = terms.find(word)
    assert term is not None
    assert " ".join(term.text.split()) in " ".join(told.output.split())


def test_no_word_has_two_answers() -> None:
    names = [name.lower() for term in terms.TERMS for name in term.names]
    assert len(set(names)) == len(names)


def test_no_word_is_what_hopsim_has() -> None:
    """A choice of that name may be there besides: `drop`, of `nic.when_full`, is the only one."""
    known = {node.name.lower() for node in CATALOGUE.nodes.values()}
    names = {name.lower() for term in terms.TERMS for name in term.names}
    assert names & known == {"drop"}


def test_the_page_says_what_explain_says() -> None:
    page = (ROOT / "docs" / "limits.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert rows == [f"| {', '.join(term.names)} | {term.text} |" for term in terms.TERMS]


@pytest.mark.parametrize("term", terms.TERMS, ids=lambda term: term.names[0])
def test_what_a_term_names_is_there(term: terms.Term) -> None:
    for name in re.findall(r"`([^`]+)`", term.text):
        if not name.startswith("hopsim ") and name not in COMMANDS:
            assert _is_known(name), name


COMMANDS = ("ibnetdiscover", "ibroute")
"""What other programs are called."""


def _is_known(name: str) -> bool:
    found = any(f".{path}".endswith(f".{name}") for path in CATALOGUE.nodes)
    return found or bool(columns.find(name))


def test_keys_beside_those_of_other_simulators_are_there() -> None:
    """Every key in the right column of docs/coming-from.md is one of the document, or ends one."""
    page = (ROOT / "docs" / "coming-from.md").read_text("utf-8")
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if not line.startswith("| `") or len(cells) < 4:
            continue
        for name in re.findall(r"`([a-z][\w.]*)`", cells[2]):
            if name not in FOREIGN:
                assert _is_known(name), line


FOREIGN = ("ibnetdiscover", "ibroute", "flit_size", "link_bw", "xbar_bw", "load")
"""Parameters of the other simulators, programs, and the shorthand for all loads."""
