"""Slow comparisons of hopsim with measured and published data; run as `python -m verify`."""
