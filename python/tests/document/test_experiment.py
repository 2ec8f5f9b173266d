"""From what a user gives to points: sources, overrides, sweep order."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopsim as hs
from conftest import TINY
from hopsim import _core
from hopsim.document.experiment import (
    Experiment,
    example_names,
    experiment_digest,
    preset_names,
    shipped_summary,
    shipped_text,
)
from hopsim.files import toml

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


@settings(max_examples=60)
@given(st.data())
def test_a_product_is_expanded_with_the_first_axis_slowest(data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(AXES)))[: data.draw(st.integers(1, 4))]
    product = {name: data.draw(axis_values(name)) for name in names}
    points = Experiment.of(TINY).with_axes(product).points()
    expected = [dict(zip(names, values, strict=True)) for values in itertools.product(*product.values())]
    assert [point.axes for point in points] == expected
    assert [point.index for point in points] == list(range(len(points)))


@settings(max_examples=30)
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


def test_the_digest_of_a_point_is_that_of_version_and_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    (point,) = Experiment.of(TINY).points()
    expected = hashlib.sha256(f"{hs.__version__}\n{point.config}".encode()).hexdigest()
    assert point.digest == expected
    monkeypatch.setattr(_core, "version", lambda: "0.0.1")
    (other,) = Experiment.of(TINY).points()
    assert other.config == point.config
    assert other.digest == hashlib.sha256(f"0.0.1\n{point.config}".encode()).hexdigest() != expected


def test_the_digest_of_an_experiment_is_that_of_its_points_in_order() -> None:
    points = Experiment.of(TINY).with_axes({"load": [0.1, 0.2]}).points()
    joined = f"{points[0].digest}\n{points[1].digest}"
    assert experiment_digest(points) == hashlib.sha256(joined.encode()).hexdigest()
    assert experiment_digest(reversed(points)) != experiment_digest(points)


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


@pytest.mark.parametrize("name", ["fuentes2071", "fuentes2017\udcff"])
def test_a_misspelt_preset_is_suggested(name: str) -> None:
    with pytest.raises(hs.ConfigError, match="did you mean fuentes2017"):
        Experiment.of(name)


def test_a_directory_or_a_binary_file_is_no_experiment(tmp_path: Path) -> None:
    with pytest.raises(hs.ConfigError, match="cannot read the experiment: Is a directory"):
        Experiment.of(tmp_path)
    (tmp_path / "binary").write_bytes(b"\x00\xff")
    with pytest.raises(hs.ConfigError) as refused:
        Experiment.of(tmp_path / "binary")
    assert str(refused.value) == f"{tmp_path}/binary: byte 1 is not UTF-8; valid: a TOML text file"


@pytest.mark.parametrize("text", ["load", "=0.4", ""])
def test_set_needs_a_path_and_a_value(text: str) -> None:
    with pytest.raises(hs.ConfigError, match="must be path=value"):
        Experiment.of(TINY).setting([text])


def test_assignments_are_applied_in_order_after_those_before() -> None:
    experiment = Experiment.of(TINY).replacing({"load": 0.4, "measure.seed": 3})
    experiment = experiment.setting([" measure.seed = 5 ", 'routing={ valiant = { policy = "crg" } }'])
    assert experiment.overrides == (
        ("load", "0.4"),
        ("measure.seed", "3"),
        ("measure.seed", "5"),
        ("routing", '{ valiant = { policy = "crg" } }'),
    )
    (point,) = experiment.points()
    config = json.loads(point.config)
    assert config["measure"]["seed"] == 5
    assert config["routing"]["valiant"]["policy"] == "crg"
    assert (point.index, point.axes, point.cycles) == (0, {}, 400)
    assert (experiment.text, experiment.name, experiment.directory) == (TINY, "<text>", Path())


def test_the_first_equals_sign_ends_the_path() -> None:
    assert Experiment.of(TINY).setting(["a.b=c=d"]).overrides == (("a.b", "c=d"),)
    with pytest.raises(hs.ConfigError) as refused:
        Experiment.of(TINY).setting(["load=0.1", "load"])
    assert str(refused.value) == "--set load: must be path=value, for example --set load=0.4"


def test_an_experiment_states_what_its_document_or_an_override_gives() -> None:
    experiment = Experiment.of(TINY).setting(["measure.interval=10"])
    stated = ["load", "topology", "topology.dragonfly.p", "measure.cycles", "measure.interval"]
    unstated = ["measure.seed", "routing", "topology.dragonfly.p.x", "topology.torus", "cycles", "loa"]
    assert [path for path in stated + unstated if experiment.states(path)] == stated
    assert not Experiment.of("load = = 1").states("load")
    assert Experiment.of("load = = 1").setting(["load=1"]).states("load")


@pytest.mark.parametrize(
    ("values", "states"),
    [
        ({"measure": {"streams": []}}, True),
        ({"measure": {"seed": 2}}, False),
        ({"measure.streams": [], "measure": {}}, False),
        ({"measure": {}, "measure.streams": []}, True),
        ({"measure": 3}, False),
        ({"measure": 3, "measure.streams": []}, False),
        ({"topology.ring.routers": 4}, False),
    ],
)
def test_a_table_that_replaces_another_states_what_is_in_it(values: dict[str, object], states: bool) -> None:
    assert Experiment.of("measure.cycles = 5").replacing(values).states("measure.streams") == states


@pytest.mark.parametrize("path", ["measure streams", "", "measure.streams = 1\nload", '"measure', "measure."])
def test_what_is_no_path_states_nothing(path: str) -> None:
    assert not Experiment("", "", ((path, "1"),)).states("streams")


def test_values_that_toml_has_no_room_for_state_something_all_the_same() -> None:
    for text in ("word", "[" * 100_000, "9" * 5000):
        assert Experiment("", "", (("measure.streams", text),)).states("measure.streams")


def test_streams_in_a_table_of_python_are_recorded_and_no_others() -> None:
    result = hs.run(TINY, {"measure": {"warmup": 10, "cycles": 50, "streams": ["links"]}})
    assert result.config["measure"]["streams"] == ["links"]


def test_axes_are_added_to_those_that_replace_those_of_the_document() -> None:
    document = Experiment.of(TINY + "[sweep.product]\nload = [0.1, 0.2]")
    without = document.replacing({"sweep": {}}).with_axes({"measure.seed": [1, 2]})
    assert [point.axes for point in without.points()] == [{"measure.seed": 1}, {"measure.seed": 2}]


def test_axes_are_added_to_those_of_the_document_and_replace_those_of_the_same_name() -> None:
    text = TINY + '[sweep.product]\n"measure.seed" = [1, 2]\nload = [0.5]\n'
    experiment = Experiment.of(text)
    assert experiment.with_axes({}) is experiment
    found = [
        point.axes for point in experiment.with_axes({"load": [0.1, 0.2], "measure.cycles": [50]}).points()
    ]
    assert found == [
        {"measure.seed": seed, "load": load, "measure.cycles": 50} for seed in (1, 2) for load in (0.1, 0.2)
    ]


def test_a_string_is_text_if_it_holds_a_line_break_or_an_equals_sign_and_names_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.toml").write_text(TINY, "utf-8")
    names = {"a=b.toml": "a=b.toml", "load=0.1": "<text>", "a\nb": "<text>", "dragonfly1056": "dragonfly1056"}
    assert {source: Experiment.of(source).name for source in names} == names
    assert Experiment.of("a=b.toml").text == TINY
    assert Experiment.of("x" * 5000 + "=1").name == "<text>"
    assert Experiment.of({"load": 0.5}) == Experiment("load = 0.5\n", "<dict>")


def test_files_that_a_document_names_are_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "networks"
    folder.mkdir()
    (folder / "ring.edges").write_text("0 1\n1 2\n2 0\n", "utf-8")
    text = 'load = 0.1\n[topology.graph]\nfile = "ring.edges"\n[measure]\ncycles = 100\n'
    (folder / "e.toml").write_text(text, "utf-8")
    experiment = Experiment.of(folder / "e.toml")
    assert experiment.directory == folder
    assert experiment.name == str(folder / "e.toml")
    (point,) = experiment.points()
    assert '"graph"' in point.config
    with pytest.raises(hs.ConfigError, match=r"ring\.edges"):
        Experiment.of(text).points()


def test_a_file_in_the_directory_goes_before_a_preset_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    preset = Experiment.of("dragonfly1056")
    assert preset.text == shipped_text("dragonfly1056")
    assert preset.directory == Path(hs.__file__).parent / "presets"
    (tmp_path / "dragonfly1056").write_text(TINY, "utf-8")
    assert Experiment.of("dragonfly1056").text == TINY


def test_files_that_an_example_names_are_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = Experiment.of("graph_file")
    assert experiment.text == shipped_text("graph_file")
    assert experiment.name == "graph_file"
    assert experiment.directory == Path(hs.__file__).parent / "experiments"
    config = json.loads(experiment.points()[0].config)
    assert len(config["topology"]["graph"]["edges"]) == 15


def test_examples_are_the_files_of_the_package() -> None:
    files = sorted((Path(hs.__file__).parent / "experiments").glob("*.toml"))
    assert example_names() == [file.stem for file in files]
    assert [shipped_text(name) for name in example_names()] == [file.read_text("utf-8") for file in files]


def test_the_summary_of_an_example_is_its_first_sentence_on_however_many_lines() -> None:
    assert {name: shipped_summary(name) for name in ("fairness_advc", "demo", "valiant_adversarial")} == {
        "fairness_advc": "Throughput unfairness under ADVc (Fuentes 2017, chapter 3).",
        "demo": "What `make demo` runs: a dragonfly of 1,056 nodes under uniform (UN) and "
        "adversarial-consecutive (ADVc) traffic, with minimal and Valiant routing.",
        "valiant_adversarial": "Adversarial traffic and the cures of oblivious routing.",
    }


def test_presets_are_the_files_of_the_package() -> None:
    folder = Path(hs.__file__).parent / "presets"
    files = sorted(folder.glob("*.toml"))
    assert preset_names() == [file.stem for file in files]
    for file in files:
        text = file.read_text("utf-8")
        assert shipped_text(file.stem) == text
        assert text.splitlines()[0] == f"# {shipped_summary(file.stem)}"


def test_a_file_that_is_not_there_and_like_no_preset_lists_them_all(tmp_path: Path) -> None:
    def refusal(source: Path) -> str:
        with pytest.raises(hs.ConfigError) as refused:
            Experiment.of(source)
        return str(refused.value)

    names = ", ".join(preset_names())
    missing, folder = tmp_path / "zzz.toml", tmp_path / "folder"
    folder.mkdir()
    assert refusal(missing) == (
        f"{missing}: cannot read the experiment: No such file or directory; presets: {names}"
    )
    close = tmp_path / "fuentes2071.toml"
    assert refusal(close).endswith("No such file or directory; did you mean fuentes2017?")
    valid = "valid: a TOML text file, or the name of a preset"
    assert refusal(folder) == f"{folder}: cannot read the experiment: Is a directory; {valid}"


def test_names_of_files_may_be_anything(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.toml")
    Path(odd).write_text(TINY, "utf-8")
    experiment = Experiment.of(odd)
    assert (experiment.name, experiment.text) == (f"{tmp_path}/odd\ufffd.toml", TINY)
    presets = f"; presets: {', '.join(preset_names())}"
    valid = "; valid: a TOML text file, or the name of a preset"
    long = "x" * 300 + ".toml"
    for name, shown, reason in (
        ("", '""', f"Is a directory{valid}"),
        (".", ".", f"Is a directory{valid}"),
        (long, long, f"File name too long{presets}"),
        ("with\0null", "with\0null", f"embedded null byte{presets}"),
    ):
        with pytest.raises(hs.ConfigError) as refused:
            Experiment.open(name)
        assert str(refused.value) == f"{shown}: cannot read the experiment: {reason}"


def standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_an_experiment_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, f"# ü\n{TINY}".encode())
    assert Experiment.from_standard_input() == Experiment(f"# ü\n{TINY}", "<stdin>")


def test_standard_input_that_is_no_text_or_closed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal() -> str:
        with pytest.raises(hs.ConfigError) as refused:
            Experiment.from_standard_input()
        return str(refused.value)

    standard_input(monkeypatch, b"load\xff")
    assert refusal() == "<stdin>: byte 4 is not UTF-8; valid: a TOML text file"
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal() == "<stdin>: is closed; valid: a TOML text file"


def test_an_error_without_words_of_the_system_is_told_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise OSError("the disk is gone")

    (tmp_path / "e.toml").write_text(TINY, "utf-8")
    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(hs.ConfigError) as refused:
        Experiment.of(tmp_path / "e.toml")
    assert str(refused.value).startswith(f"{tmp_path}/e.toml: cannot read the experiment: the disk is gone; ")


def test_an_experiment_is_a_source_too(tmp_path: Path) -> None:
    named = Experiment(TINY, "named", directory=tmp_path)
    assert Experiment.of(named) is named


def test_what_is_no_source_is_told_what_would_be() -> None:
    with pytest.raises(hs.ConfigError) as refused:
        Experiment.of(7)  # pyright: ignore[reportArgumentType]
    kinds = "a path, the name of a preset, TOML text or a dictionary"
    assert str(refused.value) == f"7: an experiment is {kinds}, not int"


def test_text_with_what_is_no_character_is_refused() -> None:
    with pytest.raises(hs.ConfigError) as refused:
        Experiment.of(f"{TINY}\n# a\udc80b").points()
    assert str(refused.value) == "<text>: '\\udc80' is no character; valid: Unicode text"


def test_an_axis_with_a_decimal_number_has_decimal_numbers_only() -> None:
    """Other integers stay such, and so do other values."""
    product = {"load": [0, 0.5], "measure.seed": [2], "router.cioq.allocator.transit_priority": [True]}
    points = Experiment.of(TINY).with_axes({**product, "routing": ["minimal"]}).points()
    assert [json.dumps(list(point.axes.values())) for point in points] == [
        f'[{load}, 2, true, "minimal"]' for load in ("0.0", "0.5")
    ]


def test_points_carry_the_names_that_the_document_gives_to_the_values_of_its_axes() -> None:
    text = TINY + '[sweep]\nproduct = { load = [0.1, 0.2], "measure.seed" = [1] }\n'
    named = Experiment.of(text + 'labels = { load = ["low", "high"] }\n').points()
    assert [point.labels for point in named] == [{"load": "low"}, {"load": "high"}]
    assert [point.labels for point in Experiment.of(text).points()] == [{}, {}]


def test_only_errors_in_a_dictionary_lose_their_place() -> None:
    with pytest.raises(hs.ConfigError, match=r"^<text>: line 1, column 1: "):
        Experiment.of("load = 7\n" + TINY.replace("load = 0.3", "")).points()
    with pytest.raises(hs.ConfigError, match=r"^<dict>: load = 7: "):
        Experiment.of({**tomllib.loads(TINY), "load": 7}).points()
