"""Ridruejo et al.: congestion control under bursts that all nodes begin together, and under applications.

`bursts` has figure 2, `traces` figure 3, `cg` figure 4, `lu` figure 5 (both read `messages`), `phases` the
micro-benchmarks of §4.3.
"""
