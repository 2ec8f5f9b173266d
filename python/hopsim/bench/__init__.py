"""`hopsim bench`: what a simulation costs in instructions, time and memory."""

from hopsim.bench.cli import command

__all__ = ["command"]
