"""Small random graphs full of what exact reductions look for."""

import itertools
import random

from oracles import Arcs

KINDS = ("first", "second", "leaf", "path", "cycle", "clique", "edge", "other", "chain")


def pieces(
    chance: random.Random, directed: bool = False, most: int = 9, kinds: tuple[str, ...] = KINDS
) -> tuple[int, Arcs, list[int]]:
    """Vertices, arcs and their weights of 1 to 4: pieces that share vertices, and some that do not;
    twins of either kind; leaves and paths. Arcs lead one way or both if the graph is directed."""
    weight: dict[tuple[int, int], int] = {}
    heaviest, count = chance.randint(1, 4), 1

    def more() -> int:
        nonlocal count
        count += 1
        return count - 1

    def join(u: int, v: int) -> None:
        if u == v or (u, v) in weight or (v, u) in weight:
            return
        ways = chance.choice([[(u, v)], [(v, u)], [(u, v), (v, u)]]) if directed else [(u, v)]
        weight.update({arc: chance.randint(1, heaviest) for arc in ways})

    def copy(old: int, adjacent: bool) -> None:
        new, between = more(), chance.randint(1, heaviest)
        for (u, v), x in list(weight.items()):
            if old in (u, v):
                weight[new if u == old else u, new if v == old else v] = x
        if adjacent:
            ways = [(old, new), (new, old)] if directed else [(old, new)]
            weight.update(dict.fromkeys(ways, between))

    for _ in range(chance.randint(1, most)):
        old, kind = chance.randrange(count), chance.choice(kinds)
        if kind in ("first", "second"):
            copy(old, kind == "second")
        elif kind == "edge":
            join(old, chance.randrange(count))
        elif kind == "other":
            more()
        else:
            added = [more() for _ in range(1 if kind == "leaf" else chance.randint(2, 5))]
            ends = itertools.combinations([old, *added], 2)
            if kind != "clique":
                last = {"cycle": [old], "chain": [chance.randrange(count)]}.get(kind, [])
                ends = itertools.pairwise([old, *added, *last])
            for u, v in ends:
                join(u, v)
    label = [*range(count)]
    chance.shuffle(label)
    return count, [(label[u], label[v]) for u, v in weight], [*weight.values()]
