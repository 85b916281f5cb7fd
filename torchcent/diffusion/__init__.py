"""Diffusion from each vertex as sparse rows: personalised PageRank and the heat kernel.

Both are sums over walks, cut off by pushes: a vertex passes mass on only if it has more than a
bound times its strength. Mass is an integer number of units of 2^-62, and pushes are taken in
synchronous steps, so that compiled kernels and tensors find the same bits in any order.
"""
