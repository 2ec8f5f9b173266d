"""Dally's virtual channels, in his butterflies and in the meshes and tori of Dally and Towles' textbook.

Their figures were not at hand: statements are those of abstracts, of what others quote, of formulas that
the textbook tabulates, and of ours. `docs/papers/dally.md` says which is which.
"""
