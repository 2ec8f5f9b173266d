"""Published tables and figures, run again and printed beside what was published.

An entry is one file in `entries/` and one row of its registry. It declares what to run at each
scale, what the publication says, how that is computed from the results, and how it is drawn; the
rest is here: running through the sweep runner (resumable), printing, drawing, saving.
"""

from hopsim.reproduce.cli import command

__all__ = ["command"]
