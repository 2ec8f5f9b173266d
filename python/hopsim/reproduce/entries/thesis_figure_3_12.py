"""Figure 3.12 of the thesis: injection per router, age arbitration."""

from hopsim.reproduce.thesis import AGE
from hopsim.reproduce.thesis_figures import figure

ENTRY = figure("3.12", AGE)
