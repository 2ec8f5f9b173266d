"""Table 3.2 of the thesis: fairness under ADVc, round-robin without priority."""

from hopsim.reproduce.thesis import ROUND_ROBIN
from hopsim.reproduce.thesis_tables import table

ENTRY = table("3.2", ROUND_ROBIN)
