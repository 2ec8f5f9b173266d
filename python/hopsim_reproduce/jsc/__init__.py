"""Fuentes et al., J. Supercomputing 2016: the journal version of chapter 3 of the thesis.

`study` has its network and settings. Its tables and figures are made by the modules of `thesis/` that have
the same names; those here say with which settings, and what the text says of the figures.
"""
