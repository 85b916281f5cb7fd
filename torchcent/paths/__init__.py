"""Measures that count shortest paths: betweenness of vertices and edges, stress, percolation."""
