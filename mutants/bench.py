"""Where a broken source meets the test that has to notice."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath

from mutants.scratch import PROFILE, WOVEN_PROFILE, MutantsError, Run, Scratch

BUILD_LIMIT_S = 3600.0
LEAST_LIMIT_S = 60.0
SLOWER = 10.0
"""A test that takes this many times what it takes with nothing broken is taken for endless."""

MODULE = "python/hopsim/_core.abi3.so"
"""The compiled module, where Python tests find it."""

# With the feature that the tests of the reference ask for: the engine is compiled once for both.
_MODULE_OF = ("--package", "hopsim-py", "--features", "hopsim-core/trace")
_PARSE = "import ast, pathlib, sys; ast.parse(pathlib.Path(sys.argv[1]).read_text('utf-8'))"


class Verdict(Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    MISSED = "missed"
    ENDLESS = "its test did not end"
    UNBUILT = "does not compile"
    STALE = "stale"


@dataclass(frozen=True)
class Trial:
    """What a test said."""

    verdict: Verdict
    seconds: float
    output: str


class Bench:
    """Breaks files of a copy of the checkout, one at a time.

    Tests are commands that begin with `cargo test` or `python -m pytest`. Where the file is a Rust source, a
    Python test meets the module that is compiled from the broken sources; else the one of the checkout.
    """

    def __init__(self, scratch: Scratch, profile: str = PROFILE) -> None:
        self.scratch = scratch
        self._profile = profile
        """Of Cargo."""
        self._seconds: dict[tuple[str, tuple[str, ...]], float] = {}
        """Suffix of the broken file, test -> how long it takes when nothing is broken [s]."""

    def attempt(self, file: str, text: str, test: tuple[str, ...]) -> Trial:
        """Run a test while `file` holds `text`. Raises `MutantsError` if it fails without that, too."""
        limit_s = max(LEAST_LIMIT_S, SLOWER * self._seconds_of(file, test))
        with self.scratch.with_content(file, text.encode("utf-8")), self._built(file, test) as built:
            if built.status != 0:
                return Trial(Verdict.UNBUILT, built.seconds, built.output)
            run = self.scratch.run(self._plain(test), limit_s)
        return Trial(_verdict(test, run), built.seconds + run.seconds, run.output)

    def attempt_chosen(self, file: str, variables: Mapping[str, str], test: tuple[str, ...]) -> Trial:
        """Run a test with environment variables by which the sources choose what of `file` runs.

        Raises `MutantsError` if it fails without them, too.
        """
        limit_s = max(LEAST_LIMIT_S, SLOWER * self._seconds_of(file, test))
        with self._built(file, test) as built:
            run = self.scratch.run(self._plain(test), limit_s, variables=variables)
        return Trial(_verdict(test, run), built.seconds + run.seconds, run.output)

    def _seconds_of(self, file: str, test: tuple[str, ...]) -> float:
        key = (PurePath(file).suffix, test)
        if key not in self._seconds:
            with self._built(file, test) as built:
                run = self.scratch.run(self._plain(test), BUILD_LIMIT_S) if built.status == 0 else built
            if run.status != 0:
                raise MutantsError(f"{' '.join(test)}: fails with nothing broken\n{run.output}")
            self._seconds[key] = run.seconds
        return self._seconds[key]

    @contextlib.contextmanager
    def _built(self, file: str, test: Sequence[str]) -> Generator[Run]:
        """What the test needs of the file is compiled: what does not compile is not caught by a test."""
        if test[0] == "cargo":
            words = list(test)
            end = words.index("--") if "--" in words else len(words)
            yield self.scratch.run((*self._cargo("test"), "--no-run", *words[2:end]), BUILD_LIMIT_S)
        elif file.endswith(".rs"):
            built = self.scratch.run((*self._cargo("build"), *_MODULE_OF), BUILD_LIMIT_S)
            if built.status != 0:
                yield built
                return
            with self.scratch.with_content(MODULE, self._module().read_bytes()):
                yield built
        else:
            yield self.scratch.run(("python", "-c", _PARSE, file), BUILD_LIMIT_S)

    def _cargo(self, command: str) -> tuple[str, ...]:
        return ("cargo", command, "--quiet", "--profile", self._profile)

    def _module(self) -> Path:
        """Where Cargo leaves the compiled module."""
        directory = "debug" if self._profile == WOVEN_PROFILE else self._profile
        return self.scratch.root / "target" / directory / "lib_core.so"

    def _plain(self, test: Sequence[str]) -> tuple[str, ...]:
        """The test as it is run: one failure is enough, and nothing is kept for the next run."""
        if test[0] == "cargo":
            return (*self._cargo("test"), *test[2:])
        return (*test, "-x", "-p", "no:cacheprovider")


def _verdict(test: Sequence[str], run: Run) -> Verdict:
    if run.status is None:
        return Verdict.ENDLESS
    if run.status == 0:
        return Verdict.MISSED
    # Other statuses of pytest are errors while tests are collected: no test has said anything.
    return Verdict.CAUGHT if test[0] == "cargo" or run.status == 1 else Verdict.UNBUILT
