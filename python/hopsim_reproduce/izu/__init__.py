"""Izu and Vallejo (2019): fairness in meshes, tori and trees by age arbitration and by the SAT signal.

`system` and `traffic` write documents with the paper's settings (table 1); the other modules hold the
entries of the tables and figures. The text has few numbers and the figures none that could be read, so
most of what is checked are statements. Its applications (§5.5) need traces and are not run.
"""
