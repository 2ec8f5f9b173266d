"""Figure 3.5 of the thesis: injection per router, round-robin with in-transit priority."""

from hopsim.reproduce.thesis import PRIORITY
from hopsim.reproduce.thesis_figures import figure

ENTRY = figure("3.5", PRIORITY)
