"""Samples, changes and scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants import rust
from mutants.changes import Change, equivalent
from mutants.score import Fate, Outcome, report, scores
from mutants.scratch import CHECKOUT, MutantsError, Scratch

DIFF = """--- src/a.rs
+++ replace > with < in larger
@@ -1,4 +1,4 @@
 fn larger(a: u32, b: u32) -> u32 {
-    if a > b { a }
+    if a /* ~ changed by cargo-mutants ~ */ < b { a }
     else { b }
 }
"""


def test_a_change_holds_the_lines_that_differ() -> None:
    change = Change.of_diff("src/a.rs", DIFF)
    assert change == Change("src/a.rs", "if a > b { a }", "if a  < b { a }")
    assert change.text() == "    - if a > b { a }\n    + if a  < b { a }\n"


def test_an_equivalent_mutant_is_known_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.toml"
    entry = '[[mutant]]\nfile = "src/a.rs"\nbefore = "if a > b { a }"\nafter = "if a  < b { a }"\nwhy = "w"\n'
    path.write_text(entry, "utf-8")
    assert equivalent(path) == {Change.of_diff("src/a.rs", DIFF): "w"}
    path.write_text(entry.replace("why", "because"), "utf-8")
    with pytest.raises(MutantsError, match="it must have file, before, after, why"):
        equivalent(path)


def test_every_equivalent_mutant_is_of_lines_that_are_there() -> None:
    for change in equivalent():
        lines = [line.strip() for line in (CHECKOUT / change.file).read_text("utf-8").splitlines()]
        missing = [line for line in change.before.splitlines() if line not in lines]
        assert missing == [], change.file


def outcomes() -> list[Outcome]:
    fates = [Fate.CAUGHT, Fate.CAUGHT, Fate.ENDLESS, Fate.MISSED, Fate.MISSED, Fate.UNVIABLE]
    found = [Outcome("one", str(n), Change("f", str(n), ""), fate) for n, fate in enumerate(fates)]
    return [*found, Outcome("two", "6", Change("f", "6", ""), Fate.CAUGHT)]


def test_the_score_is_of_mutants_that_compile_and_change_something(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {Change("f", "4", ""): "changes nothing"}
    found = scores(outcomes(), known)
    assert {place: (score.caught, score.viable) for place, score in found.items()} == {
        "one": (3, 4),
        "two": (1, 1),
    }
    assert report(outcomes(), known, 0.75) == 0
    assert report(outcomes(), known, 0.76) == 1
    assert report(outcomes(), {}, 0.75) == 1
    printed = capsys.readouterr().out
    assert "75.0%" in printed
    assert "missed: 3" in printed
    assert scores([], {}) == {}


def test_a_diff_is_applied_where_its_lines_are() -> None:
    text = "fn larger(a: u32, b: u32) -> u32 {\n    if a > b { a }\n    else { b }\n}\n"
    changed = rust.patched(text, DIFF)
    assert changed == text.replace("a > b", "a /* ~ changed by cargo-mutants ~ */ < b")
    with pytest.raises(MutantsError, match="does not fit its file"):
        rust.patched(text.replace("else", "  else"), DIFF)
    two = "--- a\n+++ b\n@@ -1,2 +1,1 @@\n-1\n 2\n@@ -4,2 +3,3 @@\n 4\n+4.5\n 5\n"
    assert rust.patched("1\n2\n3\n4\n5\n", two) == "2\n3\n4\n4.5\n5\n"


def test_a_sample_is_that_of_its_seed_whatever_other_folders_are_asked_for() -> None:
    mutants = [
        rust.Mutant(f"{folder} {number}", globs[0].replace("**", "a.rs"), "")
        for folder, globs in rust.FOLDERS.items()
        for number in range(20)
    ]
    mutants.append(rust.Mutant("plan", f"{rust.EXPERIMENT}/plan.rs", ""))
    drawn = rust.sample(mutants, 5, 1)
    assert len({mutant.name for mutant in drawn}) == 5 * len(rust.FOLDERS)
    assert rust.sample(mutants[::-1], 5, 1) == drawn != rust.sample(mutants, 5, 2)
    assert rust.sample(mutants, 5, 1, ["engine"]) == [each for each in drawn if each.folder == "engine"]
    assert len(rust.sample(mutants, 99, 1)) == len(mutants)


def test_an_equivalent_mutant_that_no_tool_makes_any_more_is_told() -> None:
    made, gone = (
        Change(f"{rust.EXPERIMENT}/plan.rs", "a", "b"),
        Change(f"{rust.EXPERIMENT}/plan.rs", "a", "c"),
    )
    mutants = [rust.Mutant("a", made.file, "@@ -1 +1 @@\n-a\n+b\n")]
    assert rust.stale(
        mutants, {made: "", gone: "", Change("python/hopsim/metrics/stats.py", "a", "b"): ""}
    ) == [gone]


def test_the_copy_follows_the_checkout_and_leaves_alone_what_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, root = tmp_path / "checkout", tmp_path / "tree"
    sources = ("src/a.rs", "src/b.rs", "src/results/a.py")
    for name in (*sources, "target/debug/a", "results/a", ".git/a", "src/__pycache__/a"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(name)
    monkeypatch.setattr("mutants.scratch.CHECKOUT", checkout)
    first = Scratch.of_checkout(root)
    with pytest.raises(MutantsError, match="tree: another command is at work there"):
        Scratch.of_checkout(root)
    assert first.lock is not None
    first.lock.close()

    def files() -> dict[str, str]:
        return {str(file.relative_to(root)): file.read_text() for file in root.glob("**/*") if file.is_file()}

    assert files() == {name: name for name in sources}
    before = (root / "src" / "a.rs").stat().st_mtime_ns
    assert before == (checkout / "src" / "a.rs").stat().st_mtime_ns
    (root / "src" / "b.rs").write_text("left broken")
    (root / "src" / "c.rs").write_text("gone")
    (root / "target").mkdir()
    (root / "target" / "kept").write_text("compiled")
    second = Scratch.of_checkout(root)
    assert second.lock is not None
    second.lock.close()
    assert files() == {**{name: name for name in sources}, "target/kept": "compiled"}
    assert (root / "src" / "a.rs").stat().st_mtime_ns == before
    # Cargo must see that it has changed again, although the checkout's file is older.
    assert (root / "src" / "b.rs").stat().st_mtime_ns > (checkout / "src" / "b.rs").stat().st_mtime_ns
