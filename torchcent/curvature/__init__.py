"""Curvature of edges, and graphs rewired by it."""
