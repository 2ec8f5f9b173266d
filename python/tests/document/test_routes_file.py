"""Tables of routes in files."""

from __future__ import annotations

from pathlib import Path

import pytest

import hopsim as hs
from hopsim.errors import ConfigError
from hopsim.files import routes_file

DOCUMENT = """\
topology.ring.routers = 3
routing.table.file = "routes.csv"
measure = { warmup = 0, cycles = 200, streams = ["packet_hops"] }
jobs = [{ traffic.packet_list = [{ cycle = 0, source = 0, destination = 2 }] }]
"""
# A ring of three, everybody the long way round: over port 2 to the next router.
HOPS = "router,destination,port,vc\n0,1,2,0\n0,2,2,0\n1,2,2,0\n1,0,2,1\n2,0,2,1\n2,1,2,0\n"
PATHS = "source,destination,ports,vcs\n0,1,2,0\n0,2,2 2,0 0\n1,2,2,0\n1,0,2 2,0 1\n2,0,2,1\n2,1,2 2,0 1\n"
REFUSED = {
    "": "is empty; valid: a table whose first line names the columns: router, destination, port, vc",
    "router,destination,port\n0,1,2": "line 1: the column vc is missing",
    "router,destination,prt,vc\n0,1,2,0": "line 1: unknown column 'prt'; did you mean port?",
    "source,destination,ports\n0,1,2": "line 1: the column vcs is missing",
    "source,destination,ports,vcs\n0,1,2 x,0 0": "path 1: ports = '2 x': 'x' is no number",
    "source,destination,ports,vcs\n0,1,,0": "line 2: ports is empty; valid: numbers of ports",
}


@pytest.mark.parametrize("text", REFUSED)
def test_files_that_are_no_tables_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "routes.csv").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        routes_file.routes(tmp_path / "routes.csv")
    assert str(refused.value).startswith(REFUSED[text])


@pytest.mark.parametrize("table", [HOPS, PATHS])
def test_packets_go_by_the_table_of_a_file(tmp_path: Path, table: str) -> None:
    (tmp_path / "routes.csv").write_text(table, "utf-8")
    (tmp_path / "ring.toml").write_text(DOCUMENT, "utf-8")
    rows = hs.run(tmp_path / "ring.toml").packet_hops.to_pylist()
    # The short way would be one link.
    assert [row["router"] for row in rows] == [0, 1, 2]


def test_a_table_that_leads_nowhere_is_refused_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "routes.csv").write_text(HOPS.replace("0,2,2,0", "0,2,7,0"), "utf-8")
    (tmp_path / "ring.toml").write_text(DOCUMENT, "utf-8")
    with pytest.raises(ConfigError, match=r"routing\.table\.hops\.1\.2 = 7: router 0 has no link"):
        hs.run(tmp_path / "ring.toml")
