"""States of runs in files, and points of a sweep that share a run: results are those of undisturbed runs."""

import random
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

import forked
import hopsim as hs
from hopsim import _core

DOCUMENT = """
load = 0.5
[topology.dragonfly]
p = 2
a = 4
h = 2
[measure]
warmup = 500
cycles = 1500
interval = 50
streams = ["nodes", "links", "generation"]
"""

LONG = DOCUMENT.replace("cycles = 1500", "cycles = 60000").replace("interval = 50", "interval = 1000")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.toml"
    path.write_text(DOCUMENT)
    return path


def hopsim(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return forked.run([*map(str, arguments)], Path.cwd(), NO_COLOR="1")


def lines(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_run_goes_on_with_a_state_from_a_file(document: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    straight = lines(hopsim("run", document, "--json", "-"))
    saved = lines(hopsim("run", document, "--json", "-", "--save-state", state, "--save-at", "777"))
    assert saved == straight
    assert _core.snapshot_cycle(state.read_bytes()) == 777
    before = state.read_bytes()
    assert lines(hopsim("run", document, "--json", "-", "--from-state", state)) == straight
    assert lines(hopsim("run", document, "--json", "-", "--save-state", state)) == straight
    assert state.read_bytes() == before, "the run is too short to be saved again"


def test_from_python_too(document: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    straight = hs.run(document, progress=False)
    assert hs.run(document, progress=False, save_state=state, save_at=1000).json() == straight.json()
    resumed = hs.run(document, progress=False, from_state=str(state))
    assert resumed.json() == straight.json()
    assert resumed.tables.keys() == straight.tables.keys()
    assert all(table.equals(straight.tables[name]) for name, table in resumed.tables.items())


def test_a_run_that_is_killed_goes_on_with_what_was_saved(tmp_path: Path) -> None:
    document = tmp_path / "long.toml"
    document.write_text(LONG)
    straight = lines(hopsim("run", document, "--json", "-"))
    state, draw = tmp_path / "state", random.Random(1)
    command = [sys.executable, "-m", "hopsim", "run", document, "--json", "-"]
    options = ["--save-state", state, "--save-every", "0.0005"]
    cycles = [0]
    for _ in range(4):
        run = subprocess.Popen(list(map(str, command + options)), stdout=subprocess.DEVNULL)
        began = time.monotonic()
        while run.poll() is None and time.monotonic() < began + 20 and _cycle(state) <= cycles[-1]:
            time.sleep(0.005)
        time.sleep(0.1 * draw.random())
        run.kill()
        run.wait()
        cycles.append(_cycle(state))
    assert cycles == sorted(cycles)
    assert cycles[-1] > 0
    assert lines(hopsim(*command[2:][1:], *options)) == straight


def _cycle(state: Path) -> int:
    """The cycle of the state in a file, which is never half there; 0 if there is none."""
    return _core.snapshot_cycle(state.read_bytes()) if state.exists() else 0


def test_what_is_no_state_of_the_run_is_refused(document: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    lines(hopsim("run", document, "--json", "-", "--save-state", state, "--save-at", "700"))

    def message(*arguments: str | Path) -> str:
        done = hopsim("run", document, "--json", "-", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr.removeprefix("hopsim: ").strip()

    expected = (
        f"{state}: is a snapshot of another experiment (measure.seed: 1 there, 2 here); "
        "valid: the experiment that it is of"
    )
    assert message("--set", "measure.seed=2", "--from-state", state) == expected
    assert message("--set", "measure.seed=2", "--save-state", state) == expected
    other = tmp_path / "other"
    other.write_bytes(state.read_bytes()[:-3])
    damaged = f"{other}: is a damaged snapshot; valid: a file that --save-state has written"
    assert message("--from-state", other) == damaged
    assert message("--save-state", other) == damaged
    other.write_text("something")
    assert message("--from-state", other) == (
        f"{other}: is no snapshot; valid: a file that --save-state has written"
    )
    assert message("--from-state", tmp_path / "none") == (
        f"{tmp_path / 'none'}: cannot read the state: No such file or directory; "
        "valid: a file that --save-state has written"
    )
    assert message("--save-state", tmp_path / "none" / "state") == (
        f"{tmp_path / 'none' / 'state'}: cannot write the state: No such file or directory; "
        "valid: a writable path"
    )
    assert "valid: one point, or sweep.branch_at" in message(
        "--save-state", other, "--set", "sweep.product.load=[0.1, 0.2]"
    )
    assert message("--save-at", "7") == (
        "--save-at 7: says when to save; valid: beside --save-state, the file"
    )
    assert message("--save-state", tmp_path / "new", "--save-at", "2001") == (
        f"{tmp_path / 'new'}: cycle 2001 comes after the end of the run; valid: 1 … 2000"
    )
    assert "valid: one of them" in message("--save-state", other, "--save-at", "7", "--save-every", "7")
    assert message("--save-state", other, "--from-state", state) == (
        f"--from-state {state}: --save-state {other} is given; valid: --save-state alone, which goes on with "
        "the file if it is there, or --from-state alone"
    )
    with pytest.raises(hs.ConfigError, match=r"save_at = 7: .*; valid: beside save_state, the file"):
        hs.run(document, progress=False, save_at=7)


FABRIC = """
router = "infiniband"
topology.mesh.sides = [4, 4]
[[jobs]]
flows = [{ source = 0, destination = 1 }]
"""

PROGRAM = """
units = { cycle = "1 ns", phit = "4 B" }
topology.mesh.sides = [4, 4]
[[jobs]]
program.collective = { kind = "barrier" }
"""

IDEAL = PROGRAM.replace("topology.mesh.sides = [4, 4]", "topology.ideal = { nodes = 4, latency = 5 }")


def test_a_state_that_was_made_to_deceive_is_told_with_its_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its checksum fits, and what it says cannot be."""
    state, draw = tmp_path / "state", random.Random(1)
    dragonfly = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
    small = {"load": 0.5, "topology": dragonfly, "measure": {"warmup": 200, "cycles": 400}}
    hs.run(small, save_state=state, save_at=333)
    whole = state.read_bytes()[:-4]
    told: list[str] = []
    for _ in range(400):
        changed = bytearray(whole)
        changed[draw.randrange(len(changed) // 4, len(changed))] = draw.choice([0, 1, 7, 127, 255])
        state.write_bytes(changed + zlib.crc32(changed).to_bytes(4, "little"))
        try:
            hs.run(small, from_state=state)
        except hs.ConfigError as error:
            told.append(str(error))
        except hs.RunError:
            pass
    assert all(each.startswith(f"{state}: ") for each in told)
    assert sum("does not hold a state of this network; valid: a file that" in each for each in told) > 10
    assert capfd.readouterr().err == ""


def test_programs_go_on_with_a_state(tmp_path: Path) -> None:
    straight = hs.run(PROGRAM, progress=False)
    state = tmp_path / "state"
    hs.run(PROGRAM, progress=False, save_state=state, save_at=20)
    resumed = hs.run(PROGRAM, progress=False, from_state=state)
    assert resumed.json() == straight.json()
    assert resumed.ranks == straight.ranks


def test_branches_of_programs_are_refused() -> None:
    """They are measured from their beginning on."""
    with pytest.raises(
        hs.ConfigError, match=r"sweep.branch_at = 9: programs are measured from their beginning on"
    ):
        hs.sweep(PROGRAM + "[sweep]\nbranch_at = 9\n", progress=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FABRIC, "the state of a fabric cannot be saved; valid: another router"),
        (IDEAL, "an ideal network has no state to save; valid: another topology"),
    ],
)
def test_what_has_no_state_to_save_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with pytest.raises(hs.ConfigError) as error:
        hs.run(text, progress=False, save_state=state)
    assert str(error.value) == f"{state}: {reason}"
    with pytest.raises(hs.ConfigError, match=r"sweep.branch_at = 9"):
        hs.sweep(text + "[sweep]\nbranch_at = 9\n", progress=False)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"save_every": 0}, "save_every = 0: is no time; valid: minutes, more than 0"),
        ({"save_every": "1"}, "save_every = '1': is no time; valid: minutes, more than 0"),
        ({"save_at": 0}, "save_at = 0: is no cycle of a run; valid: 1 … 3000000000"),
        ({"save_at": 1.5}, "save_at = 1.5: is no cycle of a run; valid: 1 … 3000000000"),
    ],
)
def test_times_of_saving_are_checked(values: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(hs.ConfigError) as error:
        hs.run(DOCUMENT, progress=False, save_state=tmp_path / "state", **values)
    assert str(error.value) == reason


def test_points_that_share_a_run_are_those_that_are_run_alone(tmp_path: Path) -> None:
    sweep = """
[sweep.product]
"jobs.0.traffic.changes" = [[], [{ cycle = 500, load = 0.9 }], [{ cycle = 700, pattern = "ADV+1" }]]
"measure.streams" = [[], ["generation", "links"]]
"""
    alone = hs.sweep(DOCUMENT + sweep, progress=False)
    for cycle in (1, 250, 500):
        path = tmp_path / f"{cycle}.toml"
        path.write_text(DOCUMENT + f"[sweep]\nbranch_at = {cycle}\n" + sweep)
        together = hs.sweep(path, progress=False, out=tmp_path / str(cycle))
        assert [result.json() for result in together] == [result.json() for result in alone]
        for one, other in zip(together, alone, strict=True):
            assert list(one.tables) == list(other.tables)
            assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    assert len({result.summary["accepted_load"] for result in alone}) == 3
