"""Every code block of the documents for users works, in the order in which they read them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import forked
from conftest import ROOT

DOCUMENTS = [
    "README.md",
    "docs/package.md",
    "docs/tutorial.md",
    "docs/reading-results.md",
    "docs/clusters.md",
    "docs/co-simulation.md",
]
LONG = ("first_run", "fairness_advc", "adaptive_advc", "request_reply_flexvc")
"""Examples of which shorter runs do, as nothing is asked of what they show."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_code_block_works(tmp_path: Path, document: str) -> None:
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    for name in LONG:
        example = tmp_path / "experiments" / f"{name}.toml"
        text, changed = re.subn(r"^(warmup|cycles) = .*", r"\1 = 500", example.read_text("utf-8"), flags=re.M)
        assert changed == 2, name
        example.write_text(text, "utf-8")
    blocks = BLOCK.findall((ROOT / document).read_text("utf-8"))
    assert len(blocks) > 1
    for language, text in blocks:
        if language == "toml":
            name = re.match(r"# ([\w.-]+\.toml)", text)
            assert name is not None, text
            (tmp_path / name[1]).write_text(text, "utf-8")
        elif language == "sh":
            for line in text.splitlines():
                _shell(line, tmp_path)
        elif language == "python":
            _succeeds(forked.execute(text, tmp_path, NO_COLOR="1", MPLBACKEND="agg"), text)
        else:
            assert language == "text"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    source = ROOT / document
    for target in re.findall(r"\]\(([^)\s#]+)", source.read_text("utf-8")):
        assert "://" in target or (source.parent / target).exists(), target


def _shell(line: str, folder: Path) -> None:
    command, *rest = shlex.split(line, comments=True)
    if command == "make":
        assert re.search(f"^{rest[0]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), line
    else:
        assert command == "hopsim", line
        _succeeds(forked.run(rest, folder, NO_COLOR="1", MPLBACKEND="agg"), line)


def _succeeds(done: subprocess.CompletedProcess[str], text: str) -> None:
    assert done.returncode == 0, f"{text}\n{done.stderr}"
