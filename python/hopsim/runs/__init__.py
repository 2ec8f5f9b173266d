"""From experiments to results: points on threads or elsewhere, one by one, in sweeps and in searches."""
