"""Statements of Izu and Vallejo, Ridruejo et al. and Gran et al. that do not hold here: what is known.

No paper gives the details of its simulator, and hardly a figure can be read. A statement is listed
here only with what was found out about it, and `make verify` prints it as known, not as agreed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A documented disagreement."""

    entry: str
    text: str
    """Regular expression over statements and over `row, quantity` of values."""
    reason: str


CONGESTION = (
    "Not explained. For these gains the adaptive networks would have to lose more throughput to congestion "
    "with RR than ours do: under transpose our mesh keeps 0.46 and our fat tree 0.68. One input of the "
    "crossbar per port in place of one per VC, and 2 or 4 iterations of the allocator, do not change it."
)
SCALES = (
    "The paper says it of applications (izu-figure-11). The time of bursts that all nodes begin together "
    "changes by less than 2 % from l = 12 to 64."
)
RESTRICTION = (
    "Not explained. The paper gives neither the size of its 2-D network nor figures. Here the gain under "
    "uniform traffic grows with the radix: the time is 1.02 of the base case in 8×8 and 0.90 in 16×16 with "
    "bursts of 1,000, 0.80 in 32×32 with 300. Under hot-region traffic it is 0.98 to 1.05 in all of them."
)
PRESSURE = (
    "The paper does not say how long a cycle is, and it decides what SAT is worth: with 16 ns in place of "
    "1 ns, izu-figure-10-slow-links, the mean with the fastest processors is -4.5 % instead of +4.1 %, "
    "and FT's at base speed -10.6 % instead of -2.9 %. Other seeds, an input of the crossbar per port and "
    "buffered sends change no sign for BT, SP, LU, CG and MG; with all-to-all in MPICH's way SAT costs FT "
    "1.4 %."
)
STAMPS = (
    "Not explained. Here all packets of a message are as old as its place in the node's queue; in the "
    "paper's simulator they presumably get their stamp in the queue of 24 packets, when there is room. "
    "Stamped at injection, later still, Age at base speed is -0.1 % for BT, -0.2 % for SP and +1.3 % for "
    "CG."
)
BASE_SPEED = (
    "Not explained. With cycles of 16 ns SAT's gains for BT and FT at base speed are a little less than "
    "its costs for the others. The paper's machine, and so the length of its computations, is another."
)
THRESHOLDS = (
    "With fast links the mean stays within 0.3 % from l = 4 to 64; with slow ones, in -slow-links, l = 4 "
    "costs 10 %. Only FT and IS take longer with l above 32, by up to 3 %."
)
SHARED_LINK = (
    "With two contributors f1 loses 3 % (figure 13: 7 %) in all eight seeds, later nothing. The link between "
    "the switches carries all three flows then, its output is congested at times, and f1 is marked there: "
    "some 6,000 of its packets a second, which hold it at an index of 24 (33)."
)
CHANCE = (
    "In 4 of 8 seeds f7 has most, with stages of 0.2 s in 6 or more. The text calls the shares unstable: "
    "they depend on what the flows just had."
)
RING = (
    "The paper does not describe the allocator. With one input of the crossbar per port the time of CG.A "
    "is 0.95, of LU.A 0.81 and of IS.A 0.84 of the base case: LU benefits most and CG least. If packets "
    "in transit go first, LBR changes nothing at all."
)

KNOWN: tuple[Known, ...] = (
    Known(
        "izu-table-2",
        "a queue of 24 costs it",
        "Every figure is within 10 % of the published one. The published pair itself gives 20.4 % for "
        "perfect shuffle; ours are 0.4 % more and 6 % less than it.",
    ),
    Known(
        "izu-figure-4",
        "uniform: the fat tree is the most fair",
        "Under uniform traffic all nodes of the torus are alike, and its min/mean (0.98) is above that of "
        "the tree (0.95 oblivious, 0.98 adaptive). The text says it of the tree without naming a pattern; "
        "averaged over the five it holds.",
    ),
    Known(
        "izu-figure-4",
        "oblivious, hot-region: the mesh|adaptive, perfect shuffle: the mesh",
        "Not explained. The torus comes below the mesh: 0.02 and 0.22, 0.09 and 0.28. The text says that of "
        "it only for the permutations with oblivious routing.",
    ),
    Known(
        "izu-figure-4",
        "^fat tree, oblivious: throughput decreases with Age$",
        "Not explained. It rises by 1.5 %.",
    ),
    Known(
        "izu-figure-4",
        "^fat tree, adaptive: throughput increases with SAT|^adaptive mesh, transpose: "
        "|^adaptive fat tree, transpose: (Age|SAT l=8 k=8) ",
        CONGESTION,
    ),
    Known(
        "izu-figure-5",
        "hot-region, adaptive: SAT shows the values of RR",
        "The average latencies are the same; the greatest of all, one packet's, is 3 % lower with SAT at a "
        "load of 0.2.",
    ),
    Known(
        "izu-figure-6",
        "below saturation (Age|SAT)",
        "While the others offer 0.2 nodes 20 and 51 get 0.905 with RR (published: 0.84), 0.958 with age and "
        "0.881 with SAT: 6 % more and 3 % less, where 2 % are allowed.",
    ),
    Known(
        "izu-figure-6",
        "at saturation nodes 20 and 51 do better",
        "Nodes 20 and 51 get 0.461 with RR, not 0.40, so that SAT's 0.435 (published: 0.43) is no gain. "
        "With one input of the crossbar per port it is 0.58. Age leaves them 0.35, as published.",
    ),
    Known(
        "izu-figure-7",
        "the least saturated node gains 20 %",
        "It gains 33 %: the least of the saturated nodes has 0.373 with age and 0.495 with SAT (published: "
        "0.403 and 0.483).",
    ),
    Known(
        "izu-figure-8",
        "RR, 3 %: adaptive routing",
        "It improves the mean by 7, 12 and 2 % at 1, 2 and 3 %. At 3 % node 0, which takes one phit per "
        "cycle, holds the mean to 1 / (63 · (0.03 + 0.97 / 63)) = 0.35 with any routing.",
    ),
    Known(
        "izu-figure-9",
        "row 0 gets the bulk",
        "Read as half of it. Row 0, which comes by one of the two links of node 0, gets 35 %, three times "
        "an equal share.",
    ),
    Known(
        "izu-figure-9",
        "with Age nodes close to node 0",
        "Not explained. With age the nodes up to three hops from node 0 get less than the mean: 0.0115 of "
        "0.0159.",
    ),
    Known(
        "izu-section-4.1",
        "^mesh, uniform: (l = 6,|a large l)|: from about 32 on the time grows with l: (32|64)$",
        SCALES,
    ),
    Known("izu-figure-10", r"\bAge (improves|does not improve|is faster)", STAMPS),
    Known("izu-figure-10", r"\bSAT (improves|is |with )|k > l is worse", PRESSURE),
    Known("izu-figure-10-slow-links", r"\bAge (improves|is faster)", STAMPS),
    Known(
        "izu-figure-10-slow-links",
        "^base speed: SAT (improves SP|leaves LU|is faster|with the best)",
        BASE_SPEED,
    ),
    Known("izu-figure-11", "^l = (4|6), below 8|^it clearly grows", THRESHOLDS),
    Known("izu-figure-11-slow-links", "^from about 32|^it clearly grows", THRESHOLDS),
    Known("gran-figure-4", "added, f7, has the largest share", CHANCE),
    Known("gran-figure-11", "the victim f1 is freed", SHARED_LINK),
    Known("gran-figure-13", "the victim f1 is freed", SHARED_LINK),
    Known("ridruejo-figure-3", "^CG|^LU benefits most", RING),
    Known(
        "ridruejo-figure-2",
        "^8×8 torus, UN: |^32×32 torus, HR: |LBR gains more in the (8×8|32×32) torus",
        RESTRICTION,
    ),
)


def known(entry: str, text: str, documented: Sequence[Known] = KNOWN) -> str | None:
    """What is known of a disagreement; None if it is not documented."""
    found = (each for each in documented if each.entry == entry and re.search(each.text, text))
    return next((each.reason for each in found), None)
