"""Lists of packets in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hopsim as hs
from hopsim.document.estimate import expected, mean_packet_length, packet_hops
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import packets_file

DOCUMENT = """\
topology.ring.routers = 4
measure = { warmup = 0, cycles = 100, streams = ["packet_hops"] }
jobs = [{ traffic.packet_list.file = "packets.csv" }]
"""
REFUSED = {
    "": "is empty; valid: a table whose first line names the columns: cycle, source, destination, length",
    "cycle,source,destination\n": "names no packet; valid: a line for each, below the names of the columns",
    "cycle,source,dest\n0,0,1": "line 1: unknown column 'dest'; did you mean destination?",
    "cycle,source\n0,1": "line 1: the column destination is missing",
    "cycle,source,destination\n,0,1": "line 2: cycle is empty; valid: a cycle",
    "cycle,source,destination,length\n1,0,1,-3": "line 2: length = '-3'; valid: 0 … 4294967295",
}


def test_packets_of_a_file_have_what_its_columns_say(tmp_path: Path) -> None:
    (tmp_path / "packets.csv").write_text("length, source, cycle, destination\n5,0,7,1\n,2,9,3\n", "utf-8")
    assert packets_file.packets(tmp_path / "packets.csv") == [
        {"length": 5, "source": 0, "cycle": 7, "destination": 1},
        {"source": 2, "cycle": 9, "destination": 3},
    ]


@pytest.mark.parametrize("text", REFUSED)
def test_files_that_are_no_packets_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "packets.csv").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        packets_file.packets(tmp_path / "packets.csv")
    assert str(refused.value).startswith(REFUSED[text])


def test_a_document_sends_the_packets_of_its_file_and_says_where_they_are_wrong(tmp_path: Path) -> None:
    path, table = tmp_path / "ring.toml", tmp_path / "packets.csv"
    path.write_text(DOCUMENT, "utf-8")
    table.write_text("cycle,source,destination,length\n7,0,1,5\n9,2,3,\n", "utf-8")
    result = hs.run(path)
    rows = result.packet_hops.to_pylist()
    sent = {(row["generated"], row["source"], row["destination"], row["length"]) for row in rows}
    assert sent == {(7, 0, 1, 5), (9, 2, 3, 8)}
    assert result.summary["offered_load"] == pytest.approx(13 / 400)
    table.write_text("cycle,source,destination\n7,0,1\n100,2,3\n", "utf-8")
    with pytest.raises(ConfigError, match=r"jobs\.0\.traffic\.packet_list\.1\.cycle = 100: the run ends"):
        hs.run(path)
    table.unlink()
    with pytest.raises(ConfigError, match=r'packet_list\.file = "packets\.csv": cannot read'):
        hs.run(path)


def test_what_a_list_takes_is_estimated_from_its_packets() -> None:
    listed = [{"cycle": cycle, "source": 0, "destination": 1, "length": 2} for cycle in range(50)]
    listed.append({"cycle": 1, "source": 2, "destination": 3})
    document = {
        "topology": {"ring": {"routers": 4}},
        "measure": {"warmup": 0, "cycles": 100},
        "jobs": [{"traffic": {"packet_list": listed, "packet_length": 10}}],
    }
    (point,) = Experiment.of(document).points()
    assert mean_packet_length(json.loads(point.config)["jobs"][0]["traffic"]) == pytest.approx(110 / 51)
    # 51 packets, over one link on average and the way to a node.
    assert packet_hops(point) == pytest.approx(51 * 2)
    assert expected([point], 1).peak_mb > 0
