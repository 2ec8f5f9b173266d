"""What BookSim 2 and documents of hopsim call the same thing, where one name stands for another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATTERNS: Mapping[str, Mapping[str, Any]] = {
    "uniform": {"uniform": {}},
    "randperm": {"random_permutation": {}},
    "bitcomp": {"permutation": "bit_complement"},
    "bitrev": {"permutation": "bit_reversal"},
    "shuffle": {"permutation": "shuffle"},
    "transpose": {"permutation": "transpose"},
    "tornado": {"permutation": "tornado"},
    "neighbor": {"permutation": "neighbour"},
    "bad_dragon": {"adversarial": {"offset": 1}},
}
"""Patterns by `traffic`; hot spots have arguments besides."""

DETOURS: Mapping[str, Mapping[str, Any]] = {
    "valiant": {"valiant": {}},
    "romm": {"valiant": {"within": "quadrant"}},
    "xy_yx": {"o1turn": {}},
    "xyyx": {"o1turn": {}},
    "adaptive_xy_yx": {"o1turn": {"order": "less_occupied"}},
    "adaptive_xyyx": {"o1turn": {"order": "less_occupied"}},
}
"""Routings with half of the VCs for each of two kinds of hops, by `routing_function`."""

ALLOCATORS: Mapping[str, str] = {
    "islip": "islip",
    "pim": "pim",
    "select": "islip",
    "loa": "lonely_output",
    "wavefront": "wavefront",
    "rr_wavefront": "wavefront",
    "max_size": "maximum_size",
    "separable_input_first": "separable_input_first",
    "separable_output_first": "separable_output_first",
}
"""Allocators of documents by `vc_allocator` and `sw_allocator`."""

WITH_ITERATIONS = {"islip", "pim"}
"""Those that hopsim takes iterations of."""

SEPARABLE = {"separable_input_first", "separable_output_first"}

AWARE = {"select", "wavefront", "rr_wavefront", "separable_input_first", "separable_output_first"}
"""Allocators of BookSim that look at priorities."""

TIMESTAMPS: Mapping[str, str] = {
    "age": "generation",
    "network_age": "injection",
    "local_age": "arrival",
}
"""What age is counted from, by `priority`."""

COUNTED = ("hop_count", "queue_length")
"""Priorities that go by the same name in both."""

SPECULATIONS: Mapping[str, Mapping[str, int | str]] = {
    "none": {},
    "equal": {"speculative": 1},
    "firm_first": {"speculative": 1},
    "separate": {"speculative": 1, "spec_sw_allocator": ""},
    "pessimistic": {"speculative": 1, "spec_sw_allocator": "", "spec_mask_by_reqs": 1},
}
"""Options by `speculation`; an allocator without a name is that of the switch."""
