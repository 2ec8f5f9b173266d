"""Ridruejo et al.: congestion control under bursts that all nodes begin together, and under applications.

`bursts` has figure 2, `traces` figure 3, `timelines` figures 4 and 5, `phases` the micro-benchmarks of §4.3.
"""
