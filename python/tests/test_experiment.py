"""From what a user gives to points: sources, overrides, sweep order."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopsim as hs
from conftest import TINY
from hopsim import toml
from hopsim.experiment import Experiment

AXES = {
    "load": st.floats(0.01, 1.0),
    "measure.seed": st.integers(0, 2**63 - 1),
    "measure.cycles": st.integers(10, 10_000),
    "topology.dragonfly.p": st.integers(1, 4),
    "links.global.latency": st.integers(1, 200),
    "routing": st.sampled_from(["minimal", "valiant"]),
}


def axis_values(name: str) -> st.SearchStrategy[list[object]]:
    return st.lists(AXES[name], min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_product_is_expanded_with_the_first_axis_slowest(data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(AXES)))[: data.draw(st.integers(1, 4))]
    product = {name: data.draw(axis_values(name)) for name in names}
    points = Experiment.of(TINY).with_axes(product).points()
    expected = [dict(zip(names, values, strict=True)) for values in itertools.product(*product.values())]
    assert [point.axes for point in points] == expected
    assert [point.index for point in points] == list(range(len(points)))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(1, 4))
def test_zipped_axes_vary_together_inside_a_product(zipped: int, seeds: int) -> None:
    loads = [0.1 * (i + 1) for i in range(zipped)]
    cycles = [i + 10 for i in range(zipped)]
    text = f"""{TINY}
        [sweep]
        product = {{ "measure.seed" = {list(range(seeds))} }}
        zip = {{ "load" = {loads}, "measure.cycles" = {cycles} }}
    """
    points = [json.loads(point.config)["measure"] for point in Experiment.of(text).points()]
    assert [(point["seed"], point["cycles"]) for point in points] == [
        (seed, i + 10) for seed in range(seeds) for i in range(zipped)
    ]


def test_axes_given_in_python_vary_faster_than_those_of_the_document() -> None:
    text = TINY + '[sweep]\nproduct = { "measure.seed" = [1, 2] }\n'
    points = Experiment.of(text).with_axes({"load": [0.1, 0.2]}).points()
    assert [tuple(point.axes.values()) for point in points] == [(1, 0.1), (1, 0.2), (2, 0.1), (2, 0.2)]


def test_the_same_configuration_has_the_same_digest_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(TINY)
    sources = [TINY, tmp_path / "e.toml", str(tmp_path / "e.toml"), tomllib.loads(TINY)]
    assert len({Experiment.of(source).points()[0].digest for source in sources}) == 1
    assert (
        Experiment.of(TINY).replacing({"load": 0.31}).points()[0].digest
        != Experiment.of(TINY).points()[0].digest
    )


@given(
    st.recursive(
        st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False)
        | st.text(st.characters(codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_values_survive_the_way_through_toml(item: object) -> None:
    assert tomllib.loads(f"x = {toml.value(item)}")["x"] == item


def test_numpy_values_are_written_as_numbers() -> None:
    assert toml.value(np.float64(0.5)) == "0.5"
    assert toml.value(np.array([1, 2])) == "[1, 2]"


def test_a_value_that_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(hs.ConfigError, match="a value of type NoneType cannot stand in an experiment"):
        Experiment.of(TINY).replacing({"load": None})


def test_a_missing_file_names_the_reason_and_the_presets() -> None:
    with pytest.raises(
        hs.ConfigError, match=r"none\.toml: cannot read the experiment: No such file.*dragonfly1056"
    ):
        Experiment.of("none.toml")


def test_a_misspelt_preset_is_suggested() -> None:
    with pytest.raises(hs.ConfigError, match="did you mean the preset fuentes2017"):
        Experiment.of("fuentes2071")


def test_a_directory_or_a_binary_file_is_no_experiment(tmp_path: Path) -> None:
    with pytest.raises(hs.ConfigError, match="cannot read the experiment: Is a directory"):
        Experiment.of(tmp_path)
    (tmp_path / "binary").write_bytes(b"\x00\xff")
    with pytest.raises(hs.ConfigError, match="byte 1 is not UTF-8"):
        Experiment.of(tmp_path / "binary")


@pytest.mark.parametrize("text", ["load", "=0.4", ""])
def test_set_needs_a_path_and_a_value(text: str) -> None:
    with pytest.raises(hs.ConfigError, match="must be path=value"):
        Experiment.of(TINY).setting([text])
