"""What is installed besides the code, and what is said of it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hopsim
from conftest import ROOT, Command
from hopsim.document.experiment import example_names, preset_names

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_version_and_licence_are_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert workspace["version"] == PROJECT["version"] == hopsim.__version__.partition("+")[0]
    assert workspace["license"] == PROJECT["license"]
    assert all(f"- {name}\n" in citation for name in PROJECT["license"].split(" OR "))
    assert PROJECT["authors"] == [{"name": "The hopsim developers"}]
    assert "- name: The hopsim developers\n" in citation


def test_the_description_of_the_package_needs_nothing_of_the_repository() -> None:
    text = (ROOT / PROJECT["readme"]).read_text("utf-8")
    targets = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)", text)
    assert all(target.startswith("https://") for pair in targets for target in pair if target)


def test_every_package_is_installed() -> None:
    """What is not named is found in the sources all the same: tests would not miss it."""
    maturin = PYPROJECT["tool"]["maturin"]
    packages = {file.parent.name for file in (ROOT / maturin["python-source"]).glob("*/__init__.py")}
    assert packages == set(maturin["python-packages"])


def test_presets_and_examples_are_files_of_the_package() -> None:
    package = Path(hopsim.__file__).parent
    assert {path.stem for path in (package / "experiments").glob("*.toml")} == set(example_names())
    assert {path.stem for path in (package / "presets").glob("*.toml")} == set(preset_names())
    assert not set(preset_names()) & set(example_names())
    # The package may be installed: then it has the same files.
    assert (ROOT / "experiments").resolve() == (ROOT / "python" / "hopsim" / "experiments").resolve()
    assert all(
        (package / "experiments" / path.name).read_bytes() == path.read_bytes()
        for path in (ROOT / "experiments").glob("*.toml")
    )


def test_every_example_is_listed(hopsim: Command) -> None:
    shown = hopsim("list").stdout
    assert all(f"  {name} " in shown for name in example_names())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(tmp_path: Path, shell: str) -> None:
    assert "_HOPSIM_COMPLETE=" in _complete(tmp_path, f"{shell}_source")
    words = {"COMP_WORDS": "hopsim exp", "COMP_CWORD": "exp" if shell == "fish" else "1"}
    assert "explain" in _complete(tmp_path, f"{shell}_complete", **words)


def _complete(folder: Path, instruction: str, **words: str) -> str:
    command = [sys.executable, "-W", "error", "-c", "from hopsim.cli import main; main()"]
    environment = {**os.environ, "_HOPSIM_COMPLETE": instruction, **words}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
