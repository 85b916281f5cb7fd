"""From a request to sums: registry of measures, plan, reductions, the loop over sources."""
