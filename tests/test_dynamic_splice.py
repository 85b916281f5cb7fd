"""Few changes to many arcs leave what many changes would."""

import random

import pytest
import torch

from torchcent.dynamic import _splice
from torchcent.dynamic._arcs import Arcs, both_ways, numbered


def keys_of(edges, directed):
    keys = numbered(*torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2).T)
    return keys if directed else both_ways(keys)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_both_ways_make_the_same_arcs(monkeypatch, directed):
    chance = random.Random(5)
    for _ in range(100):
        n, more = chance.randint(1, 8), chance.randint(0, 3)
        ids = range(n + more)
        pairs = [(u, v) for u in ids for v in ids if (u != v if directed else u < v)]
        edges = {edge for edge in pairs if max(edge) < n and chance.random() < 0.4}
        flipped = set(chance.sample(pairs, min(len(pairs), chance.randint(0, 9))))
        removed, inserted = (keys_of(x, directed) for x in (flipped & edges, flipped - edges))
        before = Arcs(keys_of(edges, directed).sort().values, n, directed)
        # Cached before the change, and not taken over.
        assert before.frozen.num_nodes == n and before.edges.numel() == len(edges)
        few = before.changed(removed, inserted, n + more)
        with monkeypatch.context() as changed:
            changed.setattr(_splice, "FEW", -1)
            many = before.changed(removed, inserted, n + more)
        new = Arcs(keys_of(edges ^ flipped, directed).sort().values, n + more, directed)
        for arcs in (few, many):
            assert torch.equal(arcs.keys, new.keys) and arcs.frozen == new.frozen
            assert torch.equal(arcs.edges, new.edges)
            for part, expected in zip(arcs.forward, new.forward, strict=True):
                assert torch.equal(part, expected) and part.dtype == expected.dtype
