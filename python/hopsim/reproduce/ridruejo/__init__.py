"""Ridruejo et al.: congestion control under bursts that all nodes begin together.

Figures 3 to 5 are of traces of applications, which are not replayed; `bursts` has figure 2.
"""
