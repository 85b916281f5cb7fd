"""Substructures around vertices and edges: cycles, cliques, paths and stars, and WL colours.

Terminology: a *pattern* is a small graph that is counted in others. Its vertices that a symmetry of
the pattern maps to each other are an *orbit*, and so are its edges. A vertex is counted by the
orbit in which it is.
"""
