"""Table 3.1 of the thesis: fairness under ADVc, round-robin with in-transit priority."""

from hopsim.reproduce.thesis import PRIORITY
from hopsim.reproduce.thesis_tables import table

ENTRY = table("3.1", PRIORITY)
