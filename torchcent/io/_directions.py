"""Files that list every edge in both directions."""

from __future__ import annotations

import secrets

import numpy as np

_CHUNK = 1 << 20


def both_directions(row: np.ndarray, col: np.ndarray, weight: np.ndarray | None = None) -> bool:
    """Whether every arc has its reverse, of equal weight and as often.

    Compares the sum of hashes of all arcs with that of their reverses, with a random key: different
    sums are certain, equal sums are wrong with a probability of about 2^-64.
    """
    key = np.uint64(secrets.randbits(64))
    forth = back = 0
    for start in range(0, len(row), _CHUNK):
        u, v = (x[start : start + _CHUNK].astype(np.uint64) for x in (row, col))
        length = np.full(1, key)
        if weight is not None:  # 0.0 and -0.0 are equal
            length = _mixed((weight[start : start + _CHUNK] + 0.0).view(np.uint64) ^ key)
        forth += int(_mixed(_mixed(u ^ length) + v).sum(dtype=np.uint64))
        back += int(_mixed(_mixed(v ^ length) + u).sum(dtype=np.uint64))
    return forth % 2**64 == back % 2**64


def _mixed(x: np.ndarray) -> np.ndarray:
    """A bijection of 64 bits in which each bit depends on all (SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = x ^ (x >> np.uint64(31))
    return mixed
