"""Chapters 3 to 5 of P. Fuentes' thesis (2017): fairness, contention counters, FlexVC.

`network`, `traffic`, `routing` and `system` write documents with the thesis' settings (table 1.2);
the other modules hold the entries of the tables and figures. Those of chapter 3 make the entries of
its journal version too (`jsc/`): `study` has what differs.
"""
