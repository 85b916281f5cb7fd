"""Columns of edges, as NumPy arrays, that are large or awkward for preparation."""

import numpy as np


def random_arcs(n: int, count: int, seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    skewed = chance.integers(0, n, (2, count)) * chance.random((2, count)) ** 3
    return skewed.astype(np.int64)


def star(leaves: int) -> np.ndarray:
    return np.stack([np.zeros(leaves, np.int64), np.random.default_rng(0).permutation(leaves) + 1])


# Enough columns for several threads and buckets; rows longer than a bucket; the same few arcs over
# and over; sorted columns.
LARGE = {
    "skewed": (3000, random_arcs(3000, 200_000, 1)),
    "sparse": (200_000, random_arcs(200_000, 150_000, 2)),
    "star": (100_001, star(100_000)),
    "into a star": (100_001, star(100_000)[::-1]),
    "ten vertices": (10, random_arcs(10, 300_000, 3)),
    "one vertex": (1, np.zeros((2, 70_000), np.int64)),
    "sorted": (70_001, np.stack([np.arange(70_000), np.arange(1, 70_001)])),
}
