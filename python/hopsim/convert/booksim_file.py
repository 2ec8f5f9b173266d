"""What a configuration file of BookSim 2 says: its assignments, each with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hopsim.errors import ConfigError
from hopsim.files import reading

KIND = "a configuration file of BookSim 2, lines such as num_vcs = 4;"

NUMBER, REAL, NAME = "number", "real", "name"
_TOKENS = (
    (NAME, re.compile(r"\{[A-Za-z0-9_\-.({,)}]+\}")),
    (NUMBER, re.compile(r"-?[0-9]+")),
    (REAL, re.compile(r"-?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")),
    (REAL, re.compile(r"-?[0-9]+[eE][+-]?[0-9]+")),
    (NAME, re.compile(r"[A-Za-z_\-/.][A-Za-z0-9_\-/.+({,)}]*")),
)
"""The tokens of BookSim's grammar: of those that match the longest one counts, of several the first."""

_BLANK = re.compile(r"(?://[^\n]*|[ \t\r\n])*")


@dataclass(frozen=True)
class Assignment:
    """`name = value;` in a line of a file; lists and calls such as `hotspot({0})` are texts."""

    name: str
    value: int | float | str
    line: int


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int

    @property
    def value(self) -> int | float | str:
        """The number or text that it stands for."""
        return {NUMBER: int, REAL: float, NAME: str}[self.kind](self.text)

    @property
    def shown(self) -> str:
        """The token in a message."""
        return repr(self.text) if self.text else "the end of the file"


def read(path: Path) -> list[Assignment]:
    """The assignments of a file, in its order. Raises `ConfigError`."""
    try:
        return assignments(reading.text_of(path, KIND))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def assignments(text: str) -> list[Assignment]:
    """The assignments of a text. Raises `ConfigError`."""
    tokens = _tokens(text)
    found: list[Assignment] = []
    place = 0
    while tokens[place].text:
        name, equals, value, end = (*tokens[place : place + 4], *[tokens[-1]] * 3)[:4]
        if name.kind != NAME:
            raise _refused(name, "is no name of an option")
        if equals.text != "=":
            raise _refused(equals, f"follows {name.text}, and no =")
        if value.kind not in {NUMBER, REAL, NAME}:
            raise _refused(value, f"is no value of {name.text}")
        if end.text != ";":
            raise _refused(end, f"follows {name.text} = {value.text}, and no ;")
        found.append(Assignment(name.text, value.value, name.line))
        place += 4
    if not found:
        raise ConfigError(f"sets no option; valid: {KIND}")
    return found


def _refused(token: _Token, reason: str) -> ConfigError:
    return ConfigError(f"line {token.line}: {token.shown} {reason}; valid: {KIND}")


def _tokens(text: str) -> list[_Token]:
    """The tokens of a text, and an empty one behind them."""
    tokens: list[_Token] = []
    place, line = 0, 1
    while True:
        blank = _BLANK.match(text, place)
        end = place if blank is None else blank.end()
        line += text.count("\n", place, end)
        place = end
        if place == len(text):
            return [*tokens, _Token("end", "", line)]
        kind, found = "sign", text[place]
        for each, token in _TOKENS:
            match = token.match(text, place)
            if match is not None and (kind == "sign" or len(match.group()) > len(found)):
                kind, found = each, match.group()
        tokens.append(_Token(kind, found, line))
        place += len(found)


def is_name(text: str) -> bool:
    """Whether a text can be the value of an option, as the name of a file is."""
    return any(kind == NAME and pattern.fullmatch(text) for kind, pattern in _TOKENS)


def elements(value: str) -> list[str]:
    """The elements of a list in braces, as BookSim takes it apart; of any other value that value alone."""
    if not value.startswith("{"):
        return [value] if value else []
    found: list[str] = []
    start, nested = 1, 0
    for place, sign in enumerate(value[1:], 1):
        if sign == "{":
            nested += 1
        elif sign == "}" and nested:
            nested -= 1
        elif sign in ",}" and not nested:
            found += [value[start:place]] * (place > start)
            start = place + 1
    return found


def call(value: str) -> tuple[str, list[str]]:
    """`name(argument)` as name and the elements of the argument."""
    name, opened, rest = value.partition("(")
    return name, elements(rest.rpartition(")")[0] or rest) if opened else []
