"""Measures of groups of vertices: betweenness, closeness, degree, and prominent groups."""
