"""Experiments written as what other simulators read."""
