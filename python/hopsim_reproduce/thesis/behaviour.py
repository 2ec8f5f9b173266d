"""Where the published numbers come from a behaviour that the texts do not mention.

Each is one key of the document. `PUBLISHED` has what the simulator of the thesis did, `TEXTBOOK`
what the words of the papers say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RESTRICTION = 1.5
"""Factor on the mean; not printed (the default of the simulator of the thesis)."""
NEVER = 1000.0
"""As such a factor: no output holds so much."""


@dataclass(frozen=True)
class Behaviour:
    """The choices that differ."""

    name: str
    omitted_advc_groups: int
    """ADVc goes to the next h groups but so many."""
    path_lengths: str
    """How source-adaptive routing counts the links of the minimal path."""
    longest_detour: int
    """Most links that a detour counts for in that comparison."""
    flexvc_restriction: float
    """Times the mean over its router that a minimal global output must hold before in-transit routing with
    FlexVC leaves it."""
    notes: Sequence[str]

    def advc_groups(self, h: int) -> int:
        """Groups that ADVc sends to."""
        return max(h - self.omitted_advc_groups, 1)

    def entry_name(self, name: str) -> str:
        """The name of an entry with this behaviour."""
        return f"{name}-{self.name}" if self.name else name

    def entry_title(self, title: str) -> str:
        """The title of an entry with this behaviour."""
        return f"{title}, behaviour of the {self.name}" if self.name else title


PUBLISHED = Behaviour(
    name="",
    omitted_advc_groups=1,
    path_lengths="consecutive",
    longest_detour=5,
    flexvc_restriction=NEVER,
    notes=(
        "As the published figures were made, other than the text says: ADVc goes to the next h-1 "
        "groups, not h; source-adaptive routing takes the length of the minimal path from the formulas "
        "of the consecutive "
        "arrangement, although the network is a palm tree, and counts a detour of 6 links as 5. "
        "In-transit routing draws among all outputs that qualify (all candidates). "
        "The entry NAME-textbook, where there is one, has the behaviour of the text.",
    ),
)
TEXTBOOK = Behaviour(
    name="textbook",
    omitted_advc_groups=0,
    path_lengths="shortest",
    longest_detour=6,
    flexvc_restriction=RESTRICTION,
    notes=(
        "As the text says, other than the published figures were made: ADVc goes to the next h groups, and "
        "source-adaptive routing compares true path lengths.",
    ),
)
