"""Whatever is given as a document, the answer is points or a `ConfigError`, never anything else."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT, SWEEP
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.vocabulary.catalogue import Catalogue

DOCUMENTS = [SWEEP, *(path.read_text("utf-8") for path in sorted((ROOT / "experiments").glob("*.toml")))]
PATHS = sorted(path.replace("jobs.", "jobs.0.") for path in Catalogue().nodes)
WORDS = sorted({part for path in PATHS for part in path.split(".")})
SCALARS = (
    st.builds(dict[str, Any])
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(-2, 20)
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=5,
)


def expand(experiment: Experiment) -> None:
    with contextlib.suppress(ConfigError):
        for point in experiment.points()[:1]:
            json.loads(point.config)


@settings(max_examples=150)
@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_document_with_a_piece_cut_out_or_put_in(document: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(document)))
    end = data.draw(st.integers(start, min(start + 20, len(document))))
    piece = data.draw(
        st.sampled_from([*WORDS, "", "[", "]", "{", "}", '"', "=", ".", ",", "\n", "-1", "1e99", "\0"])
    )
    expand(Experiment(document[:start] + piece + document[end:], "fuzz"))


@settings(max_examples=150)
@given(st.sampled_from(DOCUMENTS), st.dictionaries(st.sampled_from(PATHS), VALUES, min_size=1, max_size=3))
def test_any_value_at_any_key(document: str, values: dict[str, Any]) -> None:
    expand(Experiment(document, "fuzz").replacing(values))


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["topology", "jobs", "measure", "sweep", *WORDS]), VALUES, max_size=4))
def test_any_document_of_known_words(document: dict[str, Any]) -> None:
    expand(Experiment.of(document))


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    expand(Experiment(text, "fuzz"))


@settings(max_examples=100)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_override(path: str, value: str) -> None:
    expand(Experiment(SWEEP, "fuzz", ((path, value),)))
