"""Documents whose results are reported."""

PROGRAM = """
units = { cycle = "1 ns", phit = "4 B" }
topology.dragonfly = { p = 1, a = 2, h = 1 }
measure.streams = ["operations"]
jobs = [{ program.collective = { kind = "allreduce", bytes = 64, repeat = 3 } }]
"""
FABRIC = """
router = "infiniband"
topology.fat_tree = { k = 2, levels = 2 }
jobs = [{ flows = [{ source = 0, destination = 3 }, { source = 1, destination = 3 }] }]
[measure]
time = { window = "20 us", interval = "2 us" }
streams = ["links", "link_series"]
"""
