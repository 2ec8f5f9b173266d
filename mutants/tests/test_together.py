"""Many broken rules in one build, on a made-up crate that is really compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from mutants.bench import Bench, Verdict
from mutants.named import Mutant
from mutants.scratch import WOVEN_PROFILE, MutantsError, Scratch
from mutants.together import CHOICE, Weave, edit, judge_woven, placed, woven

SOURCE = """
const MOST: u32 = 3;

const fn twice(a: u32) -> u32 {
    2 * a
}

fn below(limit: u32) -> impl Iterator<Item = u32> {
    0..limit
}

pub fn larger(a: u32, b: u32) -> u32 {
    // The first of two that are equal.
    if a >= b { a } else { b }
}

pub fn sum(values: &[u32]) -> u32 {
    fn add(a: u32, b: u32) -> u32 {
        a + b
    }
    values.iter().fold(0, |sum, &value| add(sum, value)).min(MOST * twice(below(9).sum()))
}
"""

TESTS = """
#[test]
fn larger_is_larger() {
    assert_eq!(larger(1, 2), 2);
}

#[test]
fn sums() {
    assert_eq!(sum(&[1, 2, 3]), 6);
}
"""


def mutant(name: str, find: str, replace: str, test: str = "") -> Mutant:
    command = ("cargo", "test", *filter(None, [test]))
    return Mutant("area", name, "breaks", "src/lib.rs", find, replace, command)


SMALLER = mutant("smaller", "a >= b { a }", "a <= b { a }", "larger")
LAST = mutant("last", "a >= b { a }", "a > b { a }", "larger")
FROM_ONE = mutant("from-one", "fold(0,", "fold(1,", "sums")
DIFFERENCE = mutant("difference", "a + b", "a.abs_diff(b)", "sums")


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").write_text(SOURCE + TESTS, "utf-8")
    package = '[package]\nname = "rule"\nversion = "0.1.0"\nedition = "2021"\n'
    (tmp_path / "Cargo.toml").write_text(package, "utf-8")
    return Scratch(tmp_path)


def test_the_environment_says_which_body_runs(tmp_path: Path) -> None:
    text = SOURCE.encode()
    chosen = [SMALLER, LAST, FROM_ONE]
    held = woven(text, [found for each in chosen if (found := edit(each, text))])
    main = b'fn main() { print!("{} {}", larger(1, 2), sum(&[1, 2, 3])) }\n'
    (tmp_path / "rule.rs").write_bytes(held.text + main)
    subprocess.run(["rustc", "--edition=2021", "-Adead_code", "rule.rs"], cwd=tmp_path, check=True)

    def output(variables: dict[str, str]) -> str:
        return subprocess.run([tmp_path / "rule"], env=variables, capture_output=True, text=True).stdout

    assert output({}) == "2 6"
    assert output({CHOICE: "smaller"}) == "1 6"
    assert output({CHOICE: "last"}) == "2 6"
    assert output({CHOICE: "from-one"}) == "2 7"
    for each, lines in held.lines:
        assert each.replace.encode() in b"\n".join(held.text.split(b"\n")[lines.start - 1 : lines.stop - 1])


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("MOST: u32 = 3", "MOST: u32 = 4"),
        ("2 * a", "3 * a"),
        ("0..limit", "1..limit"),
        ("larger(a: u32, b", "larger(b: u32, a"),
        ("is not there", "at all"),
    ],
)
def test_what_two_bodies_cannot_hold_is_tried_alone(find: str, replace: str) -> None:
    assert edit(mutant("name", find, replace), SOURCE.encode()) is None


def test_a_function_inside_a_broken_function_is_tried_alone(scratch: Scratch) -> None:
    names = [each.name for each in Weave.of(scratch.root, [FROM_ONE, DIFFERENCE]).mutants()]
    assert names == ["from-one"]


def test_mutants_in_one_build_are_judged_by_their_tests(scratch: Scratch) -> None:
    untyped = mutant("untyped", "sum, value", "sum, true")
    with placed(scratch, [SMALLER, untyped, LAST, FROM_ONE]) as held:
        assert held == {"smaller", "last", "from-one"}, "the compiler has refused the other"
        bench = Bench(scratch, WOVEN_PROFILE)
        verdicts = [judge_woven(bench, each).trial.verdict for each in (SMALLER, LAST, FROM_ONE)]
    assert verdicts == [Verdict.CAUGHT, Verdict.MISSED, Verdict.CAUGHT]
    assert (scratch.root / "src/lib.rs").read_text("utf-8") == SOURCE + TESTS


def test_sources_that_do_not_compile_without_mutants_are_refused(scratch: Scratch) -> None:
    (scratch.root / "src/lib.rs").write_text(SOURCE + "fn broken() -> u32 {}\n", "utf-8")
    with pytest.raises(MutantsError, match="the mutants do not compile together"), placed(scratch, [LAST]):
        pass
