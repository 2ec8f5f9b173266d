"""Says what keeps a checkout from being released.

    python packaging/release.py [FOLDER]

Version and date must be the same everywhere, the tag must be free, and nothing may be uncommitted. Prints
what is wrong, a line each, and exits with 1; with 0 and the tag if nothing is. `make release` then makes the
wheel, installs it into an empty environment, and runs the tests against it. Needs nothing but Python and git.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

HEADING = re.compile(r"^## (\S+) \((.+)\)$", re.MULTILINE)
CITED = re.compile(r"^(version|date-released): (\S+)$", re.MULTILINE)


def problems(folder: Path, version: str) -> Iterator[str]:
    """What is wrong with a checkout that pyproject.toml says is of this version, a sentence each."""
    cargo = _toml(folder / "Cargo.toml")["workspace"]["package"]["version"]
    if cargo != version:
        yield f"Cargo.toml has version {cargo}, pyproject.toml {version}"
    heading = HEADING.search((folder / "CHANGELOG.md").read_text("utf-8"))
    changed, day = heading.groups() if heading else ("none", "no date")
    if changed != version:
        yield f"the first version in CHANGELOG.md is {changed}; valid: {version}"
    if not _is_date(day):
        yield f"CHANGELOG.md: {changed} ({day}): valid: a date, such as 2027-01-31"
    cited = dict(CITED.findall((folder / "CITATION.cff").read_text("utf-8")))
    for key, valid in [("version", version), ("date-released", day)]:
        if cited.get(key) != valid:
            yield f"CITATION.cff: {key} is {cited.get(key, 'left out')}; valid: {valid}"
    if _git(folder, "status", "--porcelain"):
        yield "something is not committed: see git status"
    if _git(folder, "tag", "--list", f"v{version}"):
        yield f"there is a tag v{version} already"


def _toml(file: Path) -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(file.read_text("utf-8"))


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _git(folder: Path, *arguments: str) -> str:
    """What a command of git prints."""
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def main(folder: Path) -> None:
    """Print what is wrong, and exit with 1; or the tag."""
    version = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    found = list(problems(folder, version))
    print(*found, sep="\n") if found else print(f"nothing keeps v{version} from being released")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: python packaging/release.py [FOLDER]")
    main(Path(sys.argv[1] if len(sys.argv) == 2 else "."))
