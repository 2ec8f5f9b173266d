"""Table 3.3 of the thesis: fairness under ADVc, age arbitration."""

from hopsim.reproduce.thesis import AGE
from hopsim.reproduce.thesis_tables import table

ENTRY = table("3.3", AGE)
