"""Which modules of the package are broken on purpose."""

from __future__ import annotations

from mutants import package
from mutants.changes import Change
from mutants.scratch import CHECKOUT

PYTHON = CHECKOUT / "python"


def test_every_module_is_broken_or_said_to_compute_no_number() -> None:
    files = [path for name in package.PACKAGES for path in (PYTHON / name).rglob("*.py")]
    found = {path.relative_to(PYTHON).with_suffix("").as_posix() for path in files}
    found = {name for name in found if not name.startswith(package.FOLDERS_WITHOUT)}
    named = {name for name in package.MODULES if not name.startswith(package.FOLDERS_WITHOUT)}
    assert found == named | package.WITHOUT_NUMBERS
    assert not package.MODULES.keys() & package.WITHOUT_NUMBERS


def test_every_module_has_the_tests_that_are_named() -> None:
    names = {name for tests in package.MODULES.values() for name in tests}
    tests = PYTHON / "tests"
    assert [name for name in sorted(names) if not (tests / package.test_of(name)).exists()] == []


def test_what_only_asserts_is_not_counted() -> None:
    def change(after: str) -> Change:
        return Change("a.py", "for one, other in zip(ones, others, strict=True):", after)

    for without in ("strict=False", "strict=None", ""):
        assert package.only_asserts(change(f"for one, other in zip(ones, others, {without}):"))
    assert not package.only_asserts(change("for one, other in zip(ones, strict=True):"))
    assert not package.only_asserts(change("for one, other in zip(ones, ones, strict=True):"))
    assert not package.only_asserts(Change("a.py", "f(a, b)", "f(a, )"))


def test_what_only_changes_a_type_that_a_checker_is_told_is_not_counted() -> None:
    def change(after: str) -> Change:
        return Change("a.py", 'f(cast("Any", pa.array(places)), 0)', after)

    for kind in ("None", '"XXAnyXX"', '"any"'):
        assert package.only_types(change(f"f(cast({kind}, pa.array(places)), 0)"))
    for after in (
        'f(cast("Any", None), 0)',
        'f(cast("Any", pa.array(places)), 1)',
        'f(cast("Any", ), 0)',
        "f(cast(pa.array(places)), 0)",
        "f(None, 0)",
    ):
        assert not package.only_types(change(after))
    assert not package.only_types(Change("a.py", "f(a, b)", "f(a, b)"))
