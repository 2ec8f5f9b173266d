"""Installs a wheel, or a source distribution, into an empty environment and tries it.

    python packaging/try_wheel.py DIR [--tests]

DIR holds one of them. What a newcomer does first must work: the version, an example, its figures, its report,
and the package from Python. Prints how long it took to install, how large it is with all that it needs, and
how long commands take. With `--tests` all Python tests of this checkout run against what was installed, too.
Needs nothing but Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

FROM_PYTHON = """
import hopsim as hs
result = hs.run("first_run", {"sweep": {}}, load=0.1, progress=False)
assert abs(result.summary["accepted_load"] - 0.1) < 0.01, result
assert "free of deadlock" in hs.check("first_run")
"""
MB = 1e6
CHECKOUT = Path(__file__).resolve().parents[1]
# Which package the tests would import.
WHERE = "import hopsim; print(hopsim.__file__)"


def main(folder: Path, *, tests: bool) -> None:
    """Install what is in the folder, and try it. Exits with a message if that fails."""
    found = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if len(found) != 1:
        sys.exit(f"{folder}: has {len(found)} wheels and source distributions; valid: one")
    with tempfile.TemporaryDirectory() as place:
        environment, work = Path(place, "environment"), Path(place, "work")
        work.mkdir()
        venv.create(environment, with_pip=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        python, hopsim = str(programs / "python"), str(programs / "hopsim")
        before = _size(environment)
        took = _run(work, python, "-m", "pip", "install", "--quiet", str(found[0].resolve()))
        print(f"installed {found[0].name} in {took:.1f} s: {(_size(environment) - before) / MB:.0f} MB")
        _run(work, hopsim, "--version")
        _run(work, hopsim, "check", "first_run")
        _run(work, hopsim, "run", "first_run", "--out", "results")
        _run(work, hopsim, "plot", "results")
        _run(work, hopsim, "report", "results", "--out", "report.html")
        _run(work, python, "-c", FROM_PYTHON)
        written = ("results/plots/latency_load.png", "report.html")
        missing = [name for name in written if not (work / name).exists()]
        if missing:
            sys.exit(f"not written: {', '.join(missing)}")
        if tests:
            _test(environment, python, found[0])


def _test(environment: Path, python: str, wheel: Path) -> None:
    """Run the Python tests of the checkout against a wheel."""
    _run(CHECKOUT, python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[test,docs]")
    done = subprocess.run([python, "-c", WHERE], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    if environment not in Path(done.stdout.strip()).parents:
        sys.exit(f"the tests would import {done.stdout.strip()} instead of what was installed")
    _run(CHECKOUT, python, "-m", "pytest", "--numprocesses", "auto", "--dist", "worksteal")


def _run(folder: Path, *command: str) -> float:
    """Run a command, and print it with its time, which it returns [s]."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, check=False)
    took = time.monotonic() - began
    said = " ".join([Path(command[0]).name, *(word for word in command[1:] if "\n" not in word)])
    print(f"{took:6.1f} s  {said}", flush=True)
    if done.returncode:
        sys.exit(f"{said}: exit status {done.returncode}")
    return took


def _size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--tests"]
    if len(words) != 1:
        sys.exit("usage: python packaging/try_wheel.py DIR [--tests]")
    main(Path(words[0]), tests="--tests" in sys.argv)
