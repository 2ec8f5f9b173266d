"""Ridruejo et al.: congestion control under bursts that all nodes begin together, and under applications.

`bursts` has figure 2, `traces` figure 3; figures 4 and 5 show traces.
"""
