"""Numbers of results: tables, curves, means with intervals, and what points are worth."""
