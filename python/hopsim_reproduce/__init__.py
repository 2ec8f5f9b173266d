"""Published tables and figures, run again and printed beside what was published.

An entry declares what to run at each scale, what the publication says, how that is computed from
the results, and how it is drawn; families of them are modules such as those of `thesis/`, listed in
`entries`. The rest is here: running through the sweep runner (resumable), printing, drawing, saving.
`figure` makes entries of curves from cases; `claims` has what a publication can say of curves.
"""

from hopsim_reproduce.cli import command

__all__ = ["command"]
