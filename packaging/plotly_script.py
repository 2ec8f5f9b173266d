"""Puts the script that draws the figures of reports into the package, for wheels and source distributions.

    python packaging/plotly_script.py

The script is plotly.js in its smallest build, 1.2 MB; without it `hopsim report` takes the one of plotly's
Python package, which is four times as long and needs 64 MB. It comes from npm, is compared with its digest,
and is not kept in the repository. Needs npm.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "plotly.js-basic-dist-min"
VERSION = "4.1.1"
DIGEST = "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
"""SHA-256 of the script."""
ASSETS = Path(__file__).resolve().parents[1] / "python" / "hopsim" / "report" / "assets"
FILES = {"package/plotly-basic.min.js": "plotly.min.js", "package/LICENSE": "plotly.LICENSE"}
"""Name in the package of npm -> name among the assets."""


def main() -> None:
    """Fetch the script unless it is there, and exit with a message if it is not the one that is expected."""
    there = ASSETS / "plotly.min.js"
    if there.is_file() and _digest(there.read_bytes()) == DIGEST:
        return
    if shutil.which("npm") is None:
        sys.exit("a wheel has a script that npm fetches: install it (https://nodejs.org), then try again")
    with tempfile.TemporaryDirectory() as folder:
        # npm is a script on Windows, which only a shell finds by that name.
        command = f"npm pack --silent {PACKAGE}@{VERSION}"
        subprocess.run(command, cwd=folder, check=True, shell=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as files:
            contents = {name: _read(files, member) for member, name in FILES.items()}
    found = _digest(contents["plotly.min.js"])
    if found != DIGEST:
        sys.exit(f"{PACKAGE} {VERSION}: the script has SHA-256 {found}; expected: {DIGEST}")
    for name, content in contents.items():
        (ASSETS / name).write_bytes(content)
        print(f"{ASSETS / name}: {len(content):,} bytes")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(files: tarfile.TarFile, member: str) -> bytes:
    file = files.extractfile(member)
    return file.read() if file else b""


if __name__ == "__main__":
    main()
