"""Figure 3.9 of the thesis: injection per router, round-robin without priority."""

from hopsim.reproduce.thesis import ROUND_ROBIN
from hopsim.reproduce.thesis_figures import figure

ENTRY = figure("3.9", ROUND_ROBIN)
