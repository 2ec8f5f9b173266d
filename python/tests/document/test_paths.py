"""Paths under FlexVC, asked from Python: thesis tables 5.1 to 5.4 are in test_reproduce."""

from __future__ import annotations

from hopsim.document.paths import IMPOSSIBLE, OPPORTUNISTIC, SAFE, vc_paths


def test_a_dragonfly_with_three_and_two_vcs() -> None:
    paths = vc_paths(3, 2)
    assert paths["minimal"] == SAFE
    assert paths["valiant"] == paths["in_transit"] == OPPORTUNISTIC


def test_replies_use_the_vcs_of_requests_too() -> None:
    paths = vc_paths(4, 2, reply_local=2, reply_global=1)
    assert (paths["valiant"], paths["valiant_reply"]) == (IMPOSSIBLE, OPPORTUNISTIC)


def test_any_network_of_diameter_two() -> None:
    assert vc_paths(4, network="diameter2")["valiant"] == SAFE
