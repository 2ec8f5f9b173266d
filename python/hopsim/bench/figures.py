"""A measured figure, its target, and how it compares with the one saved before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        case: what was run.
        quantity: what was measured, unique within the case.
        unit: of the value; empty for a ratio.
        value: the figure, `None` if it could not be measured.
        target: greatest value that passes, `None` if there is none.
        note: remark, or why there is no value.
    """

    case: str
    quantity: str
    unit: str
    value: float | None
    target: float | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """Identifies the figure in saved files."""
        return f"{self.case}: {self.quantity}"

    @property
    def verdict(self) -> str:
        """`pass`, `fail`, or nothing without a target or a value."""
        if self.value is None or self.target is None:
            return ""
        return "pass" if self.value <= self.target else "fail"

    def ratio(self, saved: dict[str, float]) -> float | None:
        """The value over the saved one, `None` if there is none."""
        before = saved.get(self.name)
        return self.value / before if self.value is not None and before else None
