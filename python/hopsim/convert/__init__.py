"""Documents made of what other simulators read."""
