"""What happened inside of a network: why it is slow, and what became of packets."""
