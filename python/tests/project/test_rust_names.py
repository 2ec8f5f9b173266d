"""A type has a name of its own in its crate."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[3] / "crates"

pytestmark = pytest.mark.skipif(not CRATES.is_dir(), reason="needs the sources of the crates")

OF_MECHANISMS = {"Config", "Points"}
"""Each mechanism, or reaction, has one in its file, which is always called by the name of that."""

_TYPE = re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)", re.MULTILINE)


def _files(texts: dict[str, str]) -> dict[str, list[str]]:
    """Type name -> the files that define one of it, their tests apart; `texts` by file."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file, text in sorted(texts.items()):
        for name in dict.fromkeys(_TYPE.findall(text.split("#[cfg(test)]\nmod tests")[0])):
            found[name].append(file)
    return found


def test_types_are_found_outside_of_implementations_and_tests() -> None:
    texts = {
        "a.rs": "pub struct One;\npub(super) enum Two {}\nimpl X {\n    type Three = u8;\n}\n",
        "b.rs": "type One = u8;\n#[cfg(test)]\nmod tests {\nstruct Two;\n}\n",
    }
    assert _files(texts) == {"One": ["a.rs", "b.rs"], "Two": ["a.rs"]}


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.glob("*")))
def test_no_two_files_of_a_crate_define_a_type_of_one_name(crate: str) -> None:
    source = CRATES / crate / "src"
    texts = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in source.rglob("*.rs")}
    found = {name: files for name, files in _files(texts).items() if len(files) > 1}
    assert {name: files for name, files in found.items() if name not in OF_MECHANISMS} == {}
