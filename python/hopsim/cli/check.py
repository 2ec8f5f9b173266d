"""`hopsim check`: validate a file without running it, and say what it would take."""

from __future__ import annotations

import click

from hopsim.cli import options
from hopsim.runs.checking import lines_of


@click.command("check")
@options.experiment
@options.assignments
def command(experiment: str, assignments: tuple[str, ...]) -> None:
    """Validate FILE without running it: every point of its sweep, the network, the routing.

    Shows for each network its links between routers, its diameter (links on the longest of the shortest
    paths between routers with nodes), and its bisection: the links between two halves of the nodes, in the
    best cut that is found by halving the routers by number and across each dimension, and then swapping
    routers while that helps. It is an upper bound; where a network is cut evenly, as tori and trees are, it
    is the bisection itself. Below it is whether packets can wait for each other in a circle (deadlock): what
    every packet may do in every router is gone through, for channels (a VC behind an output port) that wait
    for each other, unless that would take long; then it is the rule that excludes it. Where links or routers
    that fail leave the network in parts, it says which nodes are outside the largest of them, and from when
    to when; of a fabric, from when to when nodes have no way to others, as the forwarding tables
    still lead over links that have failed, or round in a circle. Memory and time are estimates, good to a
    factor of about three where the network accepts what is offered; how long programs take is not known
    beforehand, and a window or warm-up that is found takes longer.
    """
    for line in lines_of(options.document(experiment, assignments)):
        click.echo(line)
