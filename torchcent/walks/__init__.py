"""Degrees, triangles, cores, and measures of walks: products of the adjacency matrix.

Terminology: the matrix A has the weight of the arc u -> v in row u and column v, 1 without weights.
Weights are strengths here, not lengths. A *pull* is a product with the transpose of A, by which
every vertex collects from the tails of its incoming arcs (docs/walks.md).
"""
