"""What `packaging/release.py` asks of a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

FILES = {
    "pyproject.toml": '[project]\nname = "hopsim"\nversion = "1.2.3"\n',
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
    "CHANGELOG.md": "# Changes\n\n## 1.2.3 (2027-01-31)\n\nAll is new.\n\n## 1.2.2 (2026-12-01)\n",
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\ndate-released: 2027-01-31\n",
}


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def _said(folder: Path, tag: str = "") -> tuple[int, list[str]]:
    """The status and the lines of the command in a checkout."""
    _git(folder, "init", "--quiet")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "--message", "all")
    if tag:
        _git(folder, "tag", tag)
    command = [sys.executable, str(ROOT / "packaging" / "release.py"), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_a_checkout_of_one_version_and_date_may_be_released(checkout: Path) -> None:
    assert _said(checkout) == (0, ["nothing keeps v1.2.3 from being released"])


@pytest.mark.parametrize(
    ("file", "old", "new", "lines"),
    [
        ("Cargo.toml", "1.2.3", "1.2.2", ["Cargo.toml has version 1.2.2, pyproject.toml 1.2.3"]),
        (
            "CHANGELOG.md",
            "## 1.2.3",
            "## 1.2.4",
            ["the first version in CHANGELOG.md is 1.2.4; valid: 1.2.3"],
        ),
        (
            "CHANGELOG.md",
            "2027-01-31",
            "unreleased",
            [
                "CHANGELOG.md: 1.2.3 (unreleased): valid: a date, such as 2027-01-31",
                "CITATION.cff: date-released is 2027-01-31; valid: unreleased",
            ],
        ),
        (
            "CITATION.cff",
            "version: 1.2.3",
            "version: 1.2.2",
            ["CITATION.cff: version is 1.2.2; valid: 1.2.3"],
        ),
        (
            "CITATION.cff",
            "date-released: 2027-01-31\n",
            "",
            ["CITATION.cff: date-released is left out; valid: 2027-01-31"],
        ),
    ],
)
def test_versions_and_dates_are_the_same_everywhere(
    checkout: Path, file: str, old: str, new: str, lines: list[str]
) -> None:
    (checkout / file).write_text(FILES[file].replace(old, new), "utf-8")
    assert _said(checkout) == (1, lines)


def test_a_version_is_released_once_and_with_all_that_is_there(checkout: Path) -> None:
    assert _said(checkout, tag="v1.2.3") == (1, ["there is a tag v1.2.3 already"])
    (checkout / "more.txt").write_text("more", "utf-8")
    command = [sys.executable, str(ROOT / "packaging" / "release.py"), str(checkout)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "something is not committed: see git status" in done.stdout.splitlines()
