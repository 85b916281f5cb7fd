"""Compiled preparation on the CPU, on several threads, beside SciPy: CSR, slots, transposes,
symmetry, subgraphs, components, orders."""

import numpy as np
import pytest
import scipy.sparse
import torch
from arcs import LARGE, random_arcs
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import COMPILED

from torchcent import Graph, generate
from torchcent.engines.reduce import _hops
from torchcent.graph import _device

if not COMPILED:
    pytest.skip("needs the compiled extension", allow_module_level=True)

ops = torch.ops.torchcent
THREADS = (1, 2, 5)


def matrix(arcs: np.ndarray, n: int, both: bool) -> scipy.sparse.csr_array:
    """The oracle: ones where there is an arc, sorted, without loops."""
    tail, head = arcs[:, arcs[0] != arcs[1]]
    if both:
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
    found = scipy.sparse.csr_array((np.ones(len(tail)), (tail, head)), shape=(n, n))
    found.sum_duplicates()
    found.data[:] = 1  # however often it was given
    found.sort_indices()
    return found


def built(arcs: np.ndarray, n: int, both: bool, threads: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.from_numpy(np.ascontiguousarray(arcs, np.int32))
    return ops.csr(ids, n, both, threads)[:2]


def same(found: tuple[torch.Tensor, ...], expected: scipy.sparse.csr_array) -> None:
    assert found[0].tolist() == expected.indptr.tolist()
    assert found[1].tolist() == expected.indices.tolist()


def check_building(arcs: np.ndarray, n: int, both: bool, threads: int) -> None:
    expected = matrix(arcs, n, both)
    rowptr, col = built(arcs, n, both, threads)
    same((rowptr, col), expected)
    ids = torch.from_numpy(np.ascontiguousarray(arcs, np.int32))
    slot = ops.slots(ids, rowptr, col, threads).numpy()
    loop = arcs[0] == arcs[1]
    assert (slot[loop] == -1).all()
    row = np.repeat(np.arange(n), np.diff(expected.indptr))
    assert (row[slot[~loop]] == arcs[0, ~loop]).all()
    assert (expected.indices[slot[~loop]] == arcs[1, ~loop]).all()
    length = np.random.default_rng(n).integers(1, 1000, arcs.shape[1]) / 8
    found = ops.slot_weights(ids, torch.from_numpy(length), rowptr, col, both, threads).numpy()
    tail, head = (np.hstack([arcs, arcs[::-1]]) if both else arcs).tolist()
    least: dict[tuple[int, int], float] = {}
    for u, v, x in zip(tail, head, length.tolist() * (1 + both), strict=True):
        least[u, v] = min(x, least.get((u, v), x))
    places = list(zip(row.tolist(), col.tolist(), strict=True))
    assert found.tolist() == [least[arc] for arc in places]
    check_repeats(ids, rowptr, col, length, places, both, threads)


def check_repeats(ids, rowptr, col, length, places, both, threads):
    """What is said of loops and of arcs of several columns, and the sums of their weights."""
    unequal = torch.full((1,), 7)
    *again, repeated = ops.csr(ids, rowptr.numel() - 1, both, threads)
    assert torch.equal(again[0], rowptr) and torch.equal(again[1], col)
    arcs = list(zip(*ids.tolist(), strict=True))
    loops = any(u == v for u, v in arcs)
    assert int(repeated) == (loops or len(set(arcs)) < len(arcs))
    weight = torch.from_numpy(length)
    ops.slot_weights(ids, weight, rowptr, col, both, threads, unequal)
    known: dict[tuple[int, int], set[float]] = {}
    sums: dict[tuple[int, int], float] = {}
    for arc, x in zip(arcs, length.tolist(), strict=True):
        known.setdefault(tuple(sorted(arc)) if both else arc, set()).add(x)
        sums[arc] = sums.get(arc, 0) + x  # multiples of 1/8: exact
    assert int(unequal) == any(len(x) > 1 for (u, v), x in known.items() if u != v)
    found = ops.slot_sums(ids, weight, rowptr, col, both, threads)
    ways = [[(u, v), (v, u)] if both else [(u, v)] for u, v in places]
    assert found.tolist() == [max(sums.get(arc, 0) for arc in way) for way in ways]


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_are_built(name, both, threads):
    n, arcs = LARGE[name]
    check_building(arcs, n, both, threads)


@pytest.mark.sweep(by="tails threads")
@pytest.mark.parametrize("threads", (1, 2, 3, 7))
@pytest.mark.parametrize("tails", (1, 2, 7, 1000))
def test_sorted_columns_of_few_rows(tails, threads):
    """Rows that go on through several ranges of columns, between many that have none."""
    chance, n = np.random.default_rng(tails), 70_000
    tail = np.sort(chance.choice(n, tails, replace=False))
    keys = np.unique(chance.choice(tail, 150_000) * n + chance.integers(0, n, 150_000))
    arcs = np.stack(np.divmod(keys, n))
    arcs = arcs[:, arcs[0] != arcs[1]]
    same(built(arcs, n, False, threads), matrix(arcs, n, False))
    for place in (0, arcs.shape[1] // 2, arcs.shape[1] - 1):
        loop = arcs.copy()
        loop[1, place] = loop[0, place]
        same(built(loop, n, False, threads), matrix(loop, n, False))


@settings(max_examples=60)
@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=200),
        )
    ),
    st.booleans(),
)
def test_small_graphs_are_built(graph, both):
    n, pairs = graph
    check_building(np.array(pairs, np.int64).reshape(-1, 2).T.copy(), n, both, 2)


def test_ids_are_copied_on_all_threads():
    wide = torch.from_numpy(random_arcs(2**40, 100_000, 4))
    copy, ends = ops.vertex_ids(wide.T.contiguous().T, 3)
    assert ends.tolist() == [int(wide.min()), int(wide.max())]
    assert torch.equal(copy, wide.int())


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", LARGE)
def test_symmetry(name, threads):
    n, arcs = LARGE[name]
    whole, half = (built(arcs, n, both, 2) for both in (True, False))
    assert ops.symmetric(*whole, None, threads)
    expected = matrix(arcs, n, False)
    assert ops.symmetric(*half, None, threads) == ((expected - expected.T).nnz == 0)
    if whole[1].numel() == 0:
        return
    # One weight of many differs from that of its reverse, or one arc is missing.
    weight = torch.ones(whole[1].numel(), dtype=torch.float64)
    assert ops.symmetric(*whole, weight, threads)
    for place in (0, weight.numel() // 2, weight.numel() - 1):
        weight[place] = 2
        assert not ops.symmetric(*whole, weight, threads)
        weight[place] = 1
        row = int(torch.searchsorted(whole[0], place, right=True)) - 1
        rowptr = whole[0] - (torch.arange(n + 1) > row).long()
        col = torch.cat([whole[1][:place], whole[1][place + 1 :]])
        assert not ops.symmetric(rowptr, col, None, threads)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", LARGE)
def test_transposes(name, threads):
    n, arcs = LARGE[name]
    rowptr, col = built(arcs, n, False, 2)
    colptr, row, slot = ops.transpose(rowptr, col, threads)
    same((colptr, row), matrix(arcs[::-1], n, False))
    tail = torch.repeat_interleave(torch.arange(n), rowptr.diff())
    assert torch.equal(tail[slot].int(), row)
    assert torch.equal(col[slot].long(), torch.repeat_interleave(torch.arange(n), colptr.diff()))
    both = built(arcs, n, True, 2)
    assert torch.equal(ops.reverse_slots(*both, threads), ops.transpose(*both, threads)[2])


@pytest.mark.sweep(by="name share threads")
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("share", [0, 0.3, 1])
@pytest.mark.parametrize("name", LARGE)
def test_subgraphs(name, share, threads):
    n, arcs = LARGE[name]
    rowptr, col = built(arcs, n, True, 2)
    kept = torch.randperm(n, generator=torch.Generator().manual_seed(5))[: int(share * n)]
    new = ops.induced(rowptr, col, kept, True, threads)
    expected = matrix(arcs, n, True)[kept.numpy()][:, kept.numpy()].tocsr()
    expected.sort_indices()
    same(new, expected)
    tail = torch.repeat_interleave(torch.arange(n), rowptr.diff())
    start = torch.repeat_interleave(torch.arange(kept.numel()), new[0].diff())
    assert torch.equal(tail[new[2]], kept[start])
    assert torch.equal(col[new[2]].long(), kept[new[1].long()])
    without = ops.induced(rowptr, col, kept, False, threads)
    assert torch.equal(new[0], without[0]) and torch.equal(new[1], without[1])
    assert without[2].numel() == 0


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", LARGE)
def test_components(name, both, threads):
    n, arcs = LARGE[name]
    found = ops.components(*built(arcs, n, both, 2), both, threads)
    weak = scipy.sparse.csgraph.connected_components(matrix(arcs, n, True), directed=False)[1]
    assert found.tolist() == weak.tolist()  # both number components by their smallest vertices


def test_components_of_a_path_in_any_order():
    """Long chains of links, which meet from all sides."""
    n = 150_000
    order = np.random.default_rng(7).permutation(n)
    arcs = np.stack([order[:-1], order[1:]])[:, np.arange(n - 1) != n // 2]
    for threads in THREADS:
        found = ops.components(*built(arcs, n, True, 2), True, threads)
        assert found.unique().tolist() == [0, 1]
        assert found[order[: n // 2 + 1]].unique().numel() == 1


def bandwidth(rows: scipy.sparse.csr_array, order: np.ndarray) -> int:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    tail = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return int(np.abs(place[tail] - place[rows.indices]).max())


@pytest.mark.parametrize("directed", [False, True])
def test_orders(directed):
    side = 60
    grid = np.arange(side * side).reshape(side, side)
    arcs = np.concatenate(
        [
            np.stack([grid[:, :-1].ravel(), grid[:, 1:].ravel()]),
            np.stack([grid[:-1].ravel(), grid[1:].ravel()]),
        ],
        axis=1,
    )
    names = np.random.default_rng(3).permutation(side * side)
    arcs, n = names[arcs], side * side + 2  # and two vertices without arcs
    rowptr, col = built(arcs, n, not directed, 1)
    colptr, row = (rowptr, col) if not directed else ops.transpose(rowptr, col)[:2]
    both = matrix(arcs, n, True)
    first = ops.breadth_first(rowptr, col, colptr, row).numpy()
    assert sorted(first.tolist()) == list(range(n))
    depth = scipy.sparse.csgraph.shortest_path(both, unweighted=True, indices=0)
    assert (np.diff(depth[first][: n - 2]) >= 0).all()  # level by level
    found = ops.bandwidth_order(rowptr, col, colptr, row).numpy()
    assert sorted(found.tolist()) == list(range(n))
    theirs = scipy.sparse.csgraph.reverse_cuthill_mckee(both.tocsr(), symmetric_mode=True)
    assert bandwidth(both, found) <= 1.2 * bandwidth(both, theirs)


@pytest.mark.parametrize("kind", ["triangulation", "road", "two parts", "nothing", "one"])
def test_order_by_distances_from_three_vertices(kind):
    """Made for CUDA, of what runs everywhere: as good as Cuthill and McKee's, of fewer steps."""
    edges = {
        "triangulation": lambda: generate.delaunay(20_000),
        "road": lambda: generate.road(120, 120),
        "two parts": lambda: torch.cat([generate.grid(40, 40), generate.grid(20, 20) + 1600], 1),
        "nothing": lambda: torch.empty(2, 0, dtype=torch.int64),
        "one": lambda: torch.zeros(2, 1, dtype=torch.int64),
    }[kind]()
    n = int(edges.max()) + 1 if edges.numel() else 0
    graph = Graph.from_edge_index(torch.randperm(n)[edges], n, directed=False)
    depth, rim = _hops.rim(graph.rowptr, graph.col)
    found = _device.bandwidth_order(graph.rowptr, graph.col, rim).numpy()
    assert sorted(found.tolist()) == list(range(n))
    if n < 2:
        return
    level = rim.numpy()[found]
    assert depth >= level.max()
    assert (np.diff(np.where(level < 0, n, level)) >= 0).all()  # what is not reached comes last
    if kind == "two parts":
        return

    def gap(order: np.ndarray) -> float:
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        tail, head = graph.to_edge_index().numpy()
        return float(np.abs(place[tail] - place[head]).mean())

    both = graph.to_scipy().tocsr()
    theirs = scipy.sparse.csgraph.reverse_cuthill_mckee(both, symmetric_mode=True)
    assert gap(found) <= 1.2 * gap(theirs)


def test_slots_are_found_when_they_are_used():
    arcs = torch.tensor([[3, 0, 1, 1, 3], [1, 0, 2, 2, 0]])
    graph = Graph.from_edge_index(arcs, directed=False)
    assert "slot" not in vars(graph)
    size = graph.nbytes
    assert graph.reversed().slot.tolist() == [2, -1, 3, 3, 0]
    for other in (graph, graph.unweighted(), graph.to("cpu")):
        assert other.slot.tolist() == [5, -1, 1, 1, 4]
    multiplicity = 8 * (graph.num_slots + graph.num_nodes)  # known with the slots
    ends = 4  # of a loop
    assert "_ids" not in vars(graph) and graph.nbytes == size + multiplicity + ends
    weighted = Graph.from_edge_index(arcs, edge_weight=torch.arange(5.0) + 1, directed=False)
    assert "slot" not in vars(weighted) and weighted.weight.tolist() == [5, 3, 1, 3, 5, 1]
    assert weighted.slot.tolist() == [5, -1, 1, 1, 4]
    directed = Graph.from_edge_index(arcs)
    back = directed.reversed()
    assert [int(back.col[s]) if s >= 0 else None for s in back.slot] == [3, None, 1, 1, 3]
    assert torch.equal(back.reversed().slot, directed.slot)
