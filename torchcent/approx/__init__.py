"""Approximate betweenness: path sampling, pivots, and their error guarantees."""
