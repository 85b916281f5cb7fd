"""Approximate betweenness: samples of shortest paths, pivots, and what they promise."""
