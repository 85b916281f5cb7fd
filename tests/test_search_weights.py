"""What is done before a search, compiled for each device: folding, closed forms, weights, ids."""

import pytest
import torch
from graphs import DEVICE, arc_lists, edge_index, path, random_graph, star
from hypothesis import given
from hypothesis import strategies as st
from internals import distinct, has_kernel

from torchcent import Graph

if not has_kernel("search_weights", DEVICE):
    pytest.skip("nothing is compiled for this device", allow_module_level=True)

ops = torch.ops.torchcent
F64 = torch.float64


def caterpillar(n):
    """A path of n vertices, each with a leaf, whose ends are larger than the others."""
    return path(n) + [(v, n + v) for v in range(n)]


def binary_tree(n):
    return [(v, (v - 1) // 2) for v in range(1, n)]


def simple(arcs):
    return sorted({(min(arc), max(arc)) for arc in arcs if arc[0] != arc[1]})


TREES = {
    "nothing": (0, []),
    "isolated": (5, []),
    "edge": (2, [(0, 1)]),
    "two edges": (5, [(3, 0), (1, 4)]),
    "star": (700, star(699)),
    "path": (120, path(120)),
    "caterpillar": (200, caterpillar(100)),
    "binary": (511, binary_tree(511)),
    "star of the last": (600, [(v, 599) for v in range(599)]),
    **{f"random {seed}": (200, simple(random_graph(200, 190, seed))) for seed in range(4)},
}


def undirected(n, arcs):
    return Graph.from_edge_index(edge_index(arcs).to(DEVICE), n, directed=False)


def folded(graph, recursive):
    """The operator's result as lists, and its order checked: each vertex before its parent."""
    order, parent = (x.tolist() for x in ops.fold(graph.rowptr, graph.col, recursive))
    assert sorted(order) == [v for v, onto in enumerate(parent) if onto >= 0]
    place = {v: i for i, v in enumerate(order)}
    assert all(place[v] < place.get(parent[v], len(order)) for v in order)
    return order, parent


@pytest.mark.parametrize("name", TREES)
def test_what_is_left_has_no_leaves(name):
    n, arcs = TREES[name]
    order, parent = folded(undirected(n, arcs), True)
    gone = set(order)
    near = {v: {u for arc in arcs for u in arc if v in arc and u != v} for v in range(n)}
    assert all(parent[v] in near[v] for v in order)
    left = {v: near[v] - gone for v in set(range(n)) - gone}
    assert all(len(around) != 1 for around in left.values())
    # Of a component that is a tree, one vertex is left; edges between the others are untouched.
    assert sum(len(around) for around in left.values()) // 2 == len(arcs) - len(order)


@pytest.mark.parametrize("name", TREES)
def test_one_round_folds_leaves_only(name):
    n, arcs = TREES[name]
    order, parent = folded(undirected(n, arcs), False)
    degree = [sum(v in arc for arc in arcs) for v in range(n)]
    leaves = [v for v in range(n) if degree[v] == 1]
    assert all(degree[v] == 1 for v in order)
    for v in set(leaves) - set(order):  # of two adjacent leaves one stays
        (mate,) = ({*arc} - {v} for arc in arcs if v in arc)
        assert parent[mate.pop()] == v


@given(graph=arc_lists(max_nodes=12), data=st.data())
def test_folded_pairs(graph, data):
    """Every pair of vertices whose paths branches and trees determine, by a search of each."""
    n, arcs = graph
    made = undirected(n, arcs)
    order, parent = ops.fold(made.rowptr, made.col, True)
    numbers = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    a, b = (torch.tensor(data.draw(numbers), dtype=F64, device=DEVICE) for _ in range(2))
    endpoints = data.draw(st.booleans())
    label = made.components
    hanging = [ops.tree_sum(order, parent, x) for x in (a, b)]
    totals = [ops.component_totals(label, x, 2) for x in (a, b)]
    for x, hanging_x, total_x in zip((a, b), hanging, totals, strict=True):
        together = ops.folded_sums(order, parent, label, x, 2)
        assert torch.equal(together[0], hanging_x) and torch.equal(together[1], total_x)
    of = label.tolist()
    for total, x in zip(totals, (a, b), strict=True):
        assert total.tolist() == [
            sum(w for w, c in zip(x.tolist(), of, strict=True) if c == of[v]) for v in range(n)
        ]
    known = ops.folded_pairs(order, parent, a, b, *hanging, *totals, False, endpoints, 2)
    # The branch of u at v: the neighbour of v below which u hangs, or "rest".
    above = parent.tolist()

    def branch(v, u):
        while u != v:
            if above[u] == v:
                return u
            if above[u] < 0:
                return "rest"
            u = above[u]
        raise AssertionError

    expected = [0.0] * n
    for v in range(n):
        others = [u for u in range(n) if u != v and of[u] == of[v]]
        for s in others:
            for t in others:
                expected[v] += branch(v, s) != branch(v, t) and float(a[s] * b[t])
            expected[v] += endpoints * float(a[s] * b[v] + a[v] * b[s])
    assert known.tolist() == expected
    counted = ops.folded_pairs(order, parent, a, b, *hanging, *totals, True, False, 2)
    below = [[u for u in range(n) if u != v and _hangs(above, u, v)] for v in range(n)]
    assert counted.tolist() == [
        sum(float(a[s] * b[t]) for s in own for t in own if branch(v, s) != branch(v, t))
        for v, own in enumerate(below)
    ]


def _hangs(above, u, v):
    while u >= 0 and u != v:
        u = above[u]
    return u == v


@given(graph=arc_lists(max_nodes=12), data=st.data())
def test_weights_that_stand_for_all(graph, data):
    """Tensors of stride 0 give what their contiguous copies give."""
    n, arcs = graph
    made = undirected(n, arcs)
    order, parent = ops.fold(made.rowptr, made.col, True)
    value = float(data.draw(st.integers(0, 5)))
    one = torch.tensor(value, dtype=F64, device=DEVICE).expand(n)
    for function in (
        lambda x: ops.tree_sum(order, parent, x),
        lambda x: ops.component_totals(made.components, x, 1),
        lambda x: torch.cat(ops.folded_sums(order, parent, made.components, x, 1)),
        lambda x: ops.folded_pairs(order, parent, *[x] * 6, False, True, 1),
        lambda x: ops.search_weights(made.rowptr, made.components, None, *[x] * 4, 1)[4],
    ):
        assert torch.equal(function(one), function(one.contiguous()))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n, kept, chosen", [(0, 0, 0), (9, 4, 3), (300, 200, 40), (400, 300, 260)])
def test_search_weights(n, kept, chosen, threads):
    """More than one batch of sources is in the order of the sequence, fewer are by number."""
    generator = torch.Generator().manual_seed(n + kept)
    vertex = torch.randperm(n, generator=generator)[:kept]
    degree = torch.randint(0, 3, (kept,), generator=generator)
    rowptr = torch.cat([torch.zeros(1, dtype=torch.int64), degree.cumsum(0)])
    source = torch.zeros(n, dtype=F64)
    source[torch.randperm(n, generator=generator)[:chosen]] = 2.5
    own, target, through = torch.rand(3, n, dtype=F64, generator=generator)
    sequence = torch.randperm(kept, generator=generator)
    for order in (None, sequence):
        arrays = (rowptr, vertex, order, source, own, target, through)
        found = ops.search_weights(*(x if x is None else x.to(DEVICE) for x in arrays), threads)
        start = [v for v in range(kept) if degree[v] > 0 and float(source[int(vertex[v])]) > 0]
        if order is not None and len(start) > 64:
            start = [v for v in order.tolist() if v in {*start}]
        first = vertex[torch.tensor(start, dtype=torch.int64)]
        expected = (
            torch.tensor(start, dtype=torch.int64), source[first], own[first], target[vertex],
            through[vertex],
        )  # fmt: skip
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours.cpu(), theirs)


@given(ids=st.lists(st.integers(-3, 40), min_size=1, max_size=80), n=st.integers(0, 35))
def test_id_faults(ids, n):
    low, high, repeated = ops.id_faults(torch.tensor(ids, device=DEVICE), n).tolist()
    inside = [v for v in ids if 0 <= v < n]
    assert (low, high, repeated) == (min(ids), max(ids), len(inside) - len({*inside}))


def test_id_faults_of_many():
    ids = torch.randperm(100_000, generator=torch.Generator().manual_seed(1))
    assert ops.id_faults(ids.to(DEVICE), 100_000).tolist() == [0, 99_999, 0]
    ids[70_001] = ids[5]
    missing = set(range(100_000)) - {*ids.tolist()}
    low, high, repeated = ops.id_faults(ids.to(DEVICE), 100_000).tolist()
    assert repeated == 1 and {low, high} - missing == {low, high}
    ids[9] = 2**62
    assert ops.id_faults(ids.to(DEVICE), 100_000)[1] == 2**62


@pytest.mark.parametrize("name", ["star", "binary", "random 1", "random 3"])
def test_breadth_first_takes_known_depths(name):
    graph = undirected(*TREES[name])
    arrays = (graph.rowptr, graph.col, graph.rowptr, graph.col)
    known = ops.depths(graph.rowptr, graph.col, 0)
    assert torch.equal(ops.breadth_first(*arrays, known), ops.breadth_first(*arrays))


@pytest.mark.parametrize("n, k", [(1, 1), (50, 50), (2**16, 2**12), (2**17, 8192), (2**20, 3)])
def test_pivots_are_drawn_without_repetition(n: int, k: int) -> None:
    drawn, again = (distinct(n, k, torch.Generator().manual_seed(n)) for _ in range(2))
    assert torch.equal(drawn, again) and drawn.shape == (k,) and drawn.dtype == torch.int64
    assert drawn.unique().numel() == k and 0 <= int(drawn.min()) <= int(drawn.max()) < n
    other = distinct(n, k, torch.Generator().manual_seed(n + 1))
    assert n == 1 or not torch.equal(drawn, other)


def test_every_pivot_is_equally_likely() -> None:
    """Of few among many, too: means within four standard deviations."""
    n, k, chance = 2**16, 2**12, torch.Generator().manual_seed(3)
    drawn = torch.stack([distinct(n, k, chance) for _ in range(50)]).double()
    middle, spread = (n - 1) / 2, n / 12**0.5
    assert abs(float(drawn.mean()) - middle) < 4 * spread / (50 * k) ** 0.5
    assert abs(float(drawn[:, -1].mean()) - middle) < 4 * spread / 50**0.5  # also the last ones
