from hopsim.sweep import run, sweep
