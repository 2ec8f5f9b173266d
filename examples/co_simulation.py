"""Processors load lines from a memory over a network that hopsim simulates.

A processor computes, asks the memory for a line, waits for it and goes on. Both are simulated here, event
by event; the network says when what they send is there. `co_simulation.c` is the same in C.
"""

import heapq
import sys
from pathlib import Path

import hopsim as hs

PROCESSORS = [0, 9, 18, 27, 36, 45, 54, 63]
MEMORY = 40
LOADS = 20
ACCESS_CYCLES = 40
REQUEST_PHITS, LINE_PHITS = 1, 8


def compute_cycles(processor: int, load: int) -> int:
    """How long a processor computes before its next load."""
    return 50 + (37 * processor + 11 * load) % 90


network = hs.Simulation(Path(__file__).with_name("co_simulation.toml"))
loads = dict.fromkeys(PROCESSORS, 0)
# What will be sent: cycle, from where, to where, phits.
events = [(compute_cycles(node, 0), node, MEMORY, REQUEST_PHITS) for node in PROCESSORS]
heapq.heapify(events)
total = 0
while events or network.in_flight:
    while events and events[0][0] == network.now:
        _, source, destination, phits = heapq.heappop(events)
        network.inject(source, destination, phits)
    # Up to the next event of ours, or until a message is there.
    network.step_until_delivered(events[0][0] - network.now if events else 100_000)
    for message in network.delivered():
        total += 1
        node = message.destination
        if node == MEMORY:
            heapq.heappush(events, (network.now + ACCESS_CYCLES, MEMORY, message.source, LINE_PHITS))
            continue
        loads[node] += 1
        if loads[node] < LOADS:
            wait = compute_cycles(node, loads[node])
            heapq.heappush(events, (network.now + wait, node, MEMORY, REQUEST_PHITS))
        else:
            sys.stdout.write(f"processor {node} is done at cycle {network.now}\n")
sys.stdout.write(f"{total} messages in {network.now} cycles\n")
