"""Many broken rules in one build: compiling the engine once for each of them would take most of the time.

A function that mutants break is compiled with its body as it is and as each of them makes it, and an
environment variable says which body runs. A mutant that changes something else (a constant, a type, a macro)
is tried alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from mutants.bench import BUILD_LIMIT_S, Bench
from mutants.named import Judgement, Mutant
from mutants.scratch import MutantsError, Scratch

CHOICE = "HOPSIM_MUTANT"
"""The environment variable that names the mutant whose bodies run."""

_PARSER = Parser(Language(tree_sitter_rust.language()))
_ERROR = re.compile(r"^(\S+\.rs):(\d+):\d+: error", re.MULTILINE)


@dataclass(frozen=True)
class Edit:
    """What a mutant does to the function around it; places are bytes of the file."""

    mutant: Mutant
    body: tuple[int, int]
    """Of the function, between its braces."""
    change: tuple[int, int]
    text: bytes
    """What stands in the place of the change."""


def edit(mutant: Mutant, text: bytes) -> Edit | None:
    """How a function of the file can hold the mutant; None if it has to be tried alone."""
    find, replace = mutant.find.encode(), mutant.replace.encode()
    if text.count(find) != 1:
        return None
    before = _in_common(find, replace)
    behind = _in_common(find[before:][::-1], replace[before:][::-1])
    start = text.index(find) + before
    end = text.index(find) + len(find) - behind
    node = _PARSER.parse(text).root_node.descendant_for_byte_range(start, end)
    body = _body(node, (start, end))
    if body is None:
        return None
    return Edit(mutant, body, (start, end), replace[before : len(replace) - behind])


def _in_common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _body(node: Node | None, change: tuple[int, int]) -> tuple[int, int] | None:
    """The body of the innermost function around a change that can have several."""
    while node is not None:
        body = node.child_by_field_name("body") if node.type == "function_item" else None
        if body is not None and body.start_byte < change[0] and change[1] < body.end_byte:
            modifiers = [child for child in node.children if child.type == "function_modifiers"]
            constant = any(b"const" in (each.text or b"") for each in modifiers)
            returned = node.child_by_field_name("return_type")
            opaque = returned is not None and b"impl " in (returned.text or b"")
            # A constant function reads no environment, and two bodies have two opaque types.
            return None if constant or opaque else (body.start_byte + 1, body.end_byte - 1)
        node = node.parent
    return None


@dataclass(frozen=True)
class Woven:
    """A file with the bodies of several mutants."""

    text: bytes
    lines: tuple[tuple[Mutant, range], ...]
    """The lines of the body of each mutant, from 1."""


def woven(text: bytes, edits: Iterable[Edit]) -> Woven:
    """The file, each function with the bodies that mutants give it. A mutant breaks one function only."""
    out, done, lines = b"", 0, list[tuple[Mutant, range]]()
    for (start, end), of_function in groupby(sorted(edits, key=_order), key=lambda each: each.body):
        if start < done:
            # Inside a function that has bodies already: the caller tries it alone.
            continue
        out += text[done:start]
        for each in of_function:
            out += b" if { " + _chosen(each.mutant.name) + b" } {"
            first = out.count(b"\n") + 1
            out += text[start : each.change[0]] + each.text + text[each.change[1] : end] + b"} else "
            lines.append((each.mutant, range(first, out.count(b"\n") + 2)))
        out += b"{" + text[start:end] + b"} "
        done = end
    return Woven(out + text[done:], tuple(lines))


def _order(each: Edit) -> tuple[int, int, str]:
    return (*each.body, each.mutant.name)


def _chosen(name: str) -> bytes:
    """An expression that tells whether a mutant runs."""
    asked = f'::std::env::var("{CHOICE}").is_ok_and(|name| name == "{name}")'
    lock = "::std::sync::LazyLock"
    return f"static CHOSEN: {lock}<bool> = {lock}::new(|| {asked}); *CHOSEN".encode()


@dataclass(frozen=True)
class Weave:
    """The files of a checkout with all mutants that can be tried together."""

    files: Mapping[str, Woven]

    @classmethod
    def of(cls, root: Path, mutants: Sequence[Mutant]) -> Weave:
        """Those of the mutants that a function of a Rust file can hold."""
        files: dict[str, Woven] = {}
        rust = sorted((each for each in mutants if each.file.endswith(".rs")), key=lambda each: each.file)
        for file, members in groupby(rust, key=lambda each: each.file):
            path = root / file
            text = path.read_bytes() if path.is_file() else b""
            edits = [found for each in members if (found := edit(each, text))]
            if edits:
                files[file] = woven(text, edits)
        return cls(files)

    def mutants(self) -> list[Mutant]:
        """Those that it holds."""
        return [mutant for file in self.files.values() for mutant, _ in file.lines]

    def culprits(self, output: str) -> set[str]:
        """Names of the mutants that a compiler complains about in its short format."""
        return {
            mutant.name
            for file, line in _ERROR.findall(output)
            for mutant, lines in (self.files[file].lines if file in self.files else ())
            if int(line) in lines
        }


_CHECK = ("cargo", "check", "--quiet", "--workspace", "--tests", "--message-format", "short")


@contextlib.contextmanager
def placed(scratch: Scratch, mutants: Sequence[Mutant]) -> Generator[frozenset[str]]:
    """The sources of the copy hold all mutants that can be tried together; their names.

    Raises `MutantsError` if that does not compile and the compiler blames none of them.
    """
    left = list(mutants)
    while True:
        weave = Weave.of(scratch.root, left)
        with contextlib.ExitStack() as stack:
            for file, held in weave.files.items():
                stack.enter_context(scratch.with_content(file, held.text))
            run = scratch.run(_CHECK, BUILD_LIMIT_S)
            if run.status == 0:
                yield frozenset(mutant.name for mutant in weave.mutants())
                return
        culprits = weave.culprits(run.output)
        if not culprits:
            raise MutantsError(f"the mutants do not compile together\n{run.output}")
        left = [mutant for mutant in left if mutant.name not in culprits]


def judge_woven(bench: Bench, mutant: Mutant) -> Judgement:
    """What the test of a mutant says that the sources hold.

    Raises `MutantsError` if it fails without the mutant, too.
    """
    return Judgement(mutant, bench.attempt_chosen(mutant.file, {CHOICE: mutant.name}, mutant.test))
