"""Where runs turn from sustained to not sustained, and that a search that is wrong is noticed."""

from verify.saturation import Shown, turn


def runs(fails: str) -> list[Shown]:
    """Runs with loads 1, 2, …: `x` fails."""
    return [Shown(load, 1, letter == "x") for load, letter in enumerate(fails, 1)]


def test_the_turn_is_where_the_fewest_runs_are_on_the_wrong_side() -> None:
    assert turn(runs("..xx")) == 2.5
    assert turn(runs("....x.xx")) == 5.5
    assert turn(runs(".x.x")) == (1.5 + 3.5) / 2
    assert turn(runs("xxx")) == 1
    assert turn(runs("...")) == 3
