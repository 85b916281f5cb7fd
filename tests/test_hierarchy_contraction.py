"""Contraction hierarchies: paths that climb and descend are the shortest paths, each once."""

import math
import random
from fractions import Fraction

import graphs
import interrupt
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph
import torch
from contractions import Arcs, Hierarchy, Pairs, build, csr, directed
from internals import CANCEL, control_record, has_kernel
from torch import Tensor

from torchcent import generate

ops = torch.ops.torchcent

pytestmark = pytest.mark.skipif(
    not has_kernel("hierarchy", torch.device("cpu")), reason="needs the compiled kernels"
)
KINDS = (
    "any", "dense", "tree", "cycle", "path", "grid", "complete", "star", "wheel", "bipartite",
    "hubs", "road", "union", "sparse",
)  # fmt: skip


def kind_of_graph(kind: str, chance: random.Random) -> tuple[int, Pairs]:
    n = chance.randint(2, 40)
    if kind == "any":
        arcs = graphs.random_graph(n, chance.randint(0, 3 * n), seed=chance.randrange(10**6))
    elif kind == "dense":
        arcs = [pair for pair in graphs.complete(n) if chance.random() < 0.5]
    elif kind == "tree":
        arcs = graphs.random_tree(n, chance.randrange(10**6))
    elif kind == "cycle":
        arcs = graphs.cycle(n)
    elif kind == "path":
        arcs = graphs.path(n)
    elif kind == "grid":
        rows, columns = chance.randint(2, 9), chance.randint(2, 9)
        n, arcs = rows * columns, graphs.grid(rows, columns)
    elif kind == "complete":
        arcs = graphs.complete(n)
    elif kind == "star":
        n, arcs = n + 1, graphs.star(n)
    elif kind == "wheel":
        n, arcs = n + 2, graphs.wheel(n + 1)
    elif kind == "bipartite":
        arcs = [(u, v) for u in range(n // 2) for v in range(n // 2, n)]
    elif kind == "hubs":  # with lists of more than 64 neighbours
        hubs, n = chance.randint(1, 4), chance.randint(100, 130)
        arcs = [(hub, v) for hub in range(hubs) for v in range(hubs, n) if chance.random() < 0.9]
        arcs += [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(0, 40))]
    elif kind == "road":
        columns = generate.road(8, 8, seed=chance.randrange(10**6))
        n, arcs = int(columns.max()) + 1, list(map(tuple, columns.T.tolist()))
    elif kind == "union":
        n, arcs = chance.randint(0, 3), []  # isolated vertices
        for _ in range(chance.randint(2, 4)):
            more, others = kind_of_graph(chance.choice([k for k in KINDS if k != "union"]), chance)
            arcs += [(n + u, n + v) for u, v in others]
            n += more
    else:
        n = chance.randint(60, 150)
        arcs = [(chance.randrange(n), chance.randrange(n)) for _ in range(int(1.2 * n))]
    label = list(range(n))
    chance.shuffle(label)
    edges = {(min(label[u], label[v]), max(label[u], label[v])) for u, v in arcs if u != v}
    return n, sorted(edges)


def shortest_paths(matrix: sp.csr_matrix, distance: np.ndarray) -> list[int]:
    """The number of shortest paths from the vertex of a row of distances to every vertex."""
    into = matrix.tocsc()
    begin, tails, lengths = into.indptr.tolist(), into.indices.tolist(), into.data.tolist()
    number = [0] * len(distance)
    for v in np.argsort(distance, kind="stable").tolist():
        if distance[v] == 0:
            number[v] = 1
        elif not math.isinf(distance[v]):
            number[v] = sum(
                number[tails[i]]
                for i in range(begin[v], begin[v + 1])
                if distance[tails[i]] + lengths[i] == distance[v]
            )
    return number


def assert_structure(h: Hierarchy, graph: Arcs) -> None:
    n = graph.rowptr.numel() - 1
    assert sorted(h.vertex.tolist()) == sorted(h.sequence.tolist()) == list(range(n))
    ways = [h.down] if graph.arc is None else [h.down, h.up]
    assert len(h.first) == len(ways) * (n + 1)
    assert h.down[0] == 0 and h.up[0] == (0 if graph.arc is None else h.down[n])
    assert h.up[n] == len(h.to)
    # Subtrees are nested, and upper ends are ancestors, the nearest first.
    enclosing: list[int] = []
    slots = np.arange(graph.col.numel()) if graph.arc is None else graph.arc.numpy()
    ends = {int(slot): pair for slot, *pair in zip(slots, graph.rows, graph.col, strict=True)}
    for p in range(n):
        while enclosing and h.last[enclosing[-1]] <= p:
            enclosing.pop()
        assert p < h.last[p] <= (h.last[enclosing[-1]] if enclosing else n)
        for first in ways:
            above = h.to[first[p] : first[p + 1]].tolist()
            assert above == sorted(set(above), reverse=True) and set(above) <= set(enclosing)
        enclosing.append(p)
    # Those of an undirected graph have the slots of their edges upwards.
    upwards = np.arange(len(h.to)) >= (0 if graph.arc is None else h.up[0])
    for k, (p, x) in enumerate(zip(lower_ends(h), h.to, strict=True)):
        if (slot := h.slot[k]) >= 0:
            pair = (p, x) if upwards[k] else (x, p)
            assert ends[slot] == list(h.vertex[list(pair)])
            assert graph.weight[slot] == h.length[k]
    # Components stand together in both orders.
    label = csgraph.connected_components(graph.matrix)[1]
    starts = np.flatnonzero(np.diff(label[h.vertex], prepend=-1))
    assert len(starts) == len(np.unique(label))
    assert all(h.last[p] == q for p, q in zip(starts, [*starts[1:], n], strict=True))
    other = np.diff(label[h.vertex[h.sequence]], prepend=-1) != 0
    assert ((h.split == 0) == other).all() and other.sum() == len(starts)


def lower_ends(h: Hierarchy) -> np.ndarray:
    """The position of each arc."""
    counts = np.diff(h.first.reshape(-1, len(h.vertex) + 1), axis=1)
    return np.concatenate([np.repeat(np.arange(len(h.vertex)), each) for each in counts])


def assert_paths(h: Hierarchy, graph: Arcs, sources: list[int]) -> None:
    """Climbs and descents have the lengths and numbers of all shortest paths from the sources."""
    n, matrix = graph.rowptr.numel() - 1, graph.matrix
    distance, counts = csgraph.dijkstra(matrix), h.counts()
    descents = [h.descents(counts, p) for p in range(n)]
    position = np.empty(n, dtype=int)
    position[h.vertex] = np.arange(n)
    for s in sources:
        number = shortest_paths(matrix, distance[s])
        one = h.climbs(counts, position[s])
        for t in range(n):
            other = descents[position[t]]
            ways = [(one[x][0] + other[x][0], one[x][1] * other[x][1]) for x in one.keys() & other]
            best = min((length for length, _ in ways), default=math.inf)
            assert best == distance[s, t]
            assert sum(count for length, count in ways if length == best) == number[t]
    # No arc is longer than the distance of its ends.
    lower, upper = h.vertex[lower_ends(h)], h.vertex[h.to]
    downwards = slice(0, h.down[n])
    assert (distance[upper, lower] == h.length)[downwards].all()
    if graph.arc is not None:
        assert (distance[lower, upper] == h.length)[h.up[0] :].all()


@pytest.mark.sweep(by="kind both_ways")
@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_climbs_and_descents_are_the_shortest_paths(kind: str, both_ways: bool):
    for seed in range(25):
        chance = random.Random(f"{kind} {seed}")
        n, edges = kind_of_graph(kind, chance)
        longest = chance.choice([1, 2, 3, 10, 1000])
        if both_ways:
            graph = Arcs(*csr(n, edges, [chance.randint(1, longest) for _ in edges]))
        else:
            graph = directed(n, edges, longest, chance)
        given = torch.tensor(graph.weight, dtype=chance.choice([torch.int32, torch.float64]))
        order = None
        if chance.random() < 0.3:
            order = torch.tensor(chance.sample(range(n), n))
        hops = longest == 1 and chance.random() < 0.5
        weight = None if hops else given
        h = build(graph.rowptr, graph.col, weight, order=order, arc=graph.arc)
        assert_structure(h, graph)
        assert_paths(h, graph, chance.sample(range(n), min(n, 5)))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_without_edges(n: int):
    h = build(torch.zeros(n + 1, dtype=torch.int64), torch.zeros(0, dtype=torch.int32))
    assert sorted(h.vertex.tolist()) == sorted(h.sequence.tolist()) == list(range(n))
    assert h.first.tolist() == [0] * (n + 1) and h.last.tolist() == list(range(1, n + 1))
    assert h.split.tolist() == [0] * n
    assert all(len(part) == 0 for part in (h.to, h.length, h.paths, h.powers, h.slot))


def test_an_edge_longer_than_a_way_around_has_no_slot():
    rowptr, col, weight = csr(3, [(0, 1), (0, 2), (1, 2)], [1, 2, 1])
    # From 0, then 2: the arc from 0 to 2 is its edge, and the way over 1 is not below it.
    h = build(rowptr, col, torch.tensor(weight, dtype=torch.int32), order=torch.tensor([0, 2, 1]))
    assert h.vertex.tolist() == [1, 2, 0] and sorted(h.slot.tolist()) == [0, 1, 5]
    # Over 1 it is as short, a tie; with length 3 the edge is on no shortest path.
    order = torch.tensor([1, 0, 2])
    h = build(rowptr, col, torch.tensor(weight, dtype=torch.int32), order=order)
    assert h.paths.max() == 2 and (h.slot >= 0).all()
    rowptr, col, weight = csr(3, [(0, 1), (0, 2), (1, 2)], [1, 3, 1])
    h = build(rowptr, col, torch.tensor(weight, dtype=torch.int32), order=order)
    assert h.paths.max() == 1 and sorted(h.slot.tolist()) == [-1, 2, 3]
    h = build(rowptr, col, torch.tensor(weight, dtype=torch.int32), order=torch.tensor([0, 1, 2]))
    assert sorted(h.slot.tolist()) == [0, 3]


@pytest.mark.parametrize("rows", [40, 50])
def test_path_counts_of_a_grid(rows: int):
    n = rows * rows
    rowptr, col, weight = csr(n, sorted(graphs.grid(rows, rows)), [1] * (2 * rows * (rows - 1)))
    h = build(rowptr, col)
    assert_structure(h, Arcs(rowptr, col, weight))
    counts = h.counts()
    position = np.empty(n, dtype=int)
    position[h.vertex] = np.arange(n)
    one, other = (h.climbs(counts, int(position[v])) for v in (0, n - 1))
    ways = [(one[x][0] + other[x][0], one[x][1] * other[x][1]) for x in one.keys() & other]
    best = min(length for length, _ in ways)
    assert best == 2 * (rows - 1)
    number = sum(count for length, count in ways if length == best)
    assert abs(Fraction(number, math.comb(best, rows - 1)) - 1) < 1e-12


@pytest.mark.parametrize("both_ways", [True, False])
def test_counts_beyond_float64(both_ways: bool):
    count = 2_000  # 2^2,000 paths from the first hub to the last
    edges = [(min(pair), max(pair)) for pair in graphs.diamonds(count)]
    n = 3 * count + 1
    graph = Arcs(*csr(n, edges, [1] * len(edges)))
    if not both_ways:
        ahead = torch.tensor(graph.rows) < graph.col
        graph = graph._replace(arc=torch.where(ahead, ahead.cumsum(0) - 1, -1))
    inner = [v for v in range(n) if v not in (0, n - 1)]
    arcs = {"rowptr": graph.rowptr, "col": graph.col, "arc": graph.arc}
    h = build(**arcs, order=torch.tensor([*inner, 0, n - 1]))
    assert_structure(h, graph)
    assert (h.paths >= 2.0**-256).all() and (h.paths < 2.0**256).all()
    assert h.powers.max() == 4 and max(h.counts()) == 2**count
    h = build(**arcs)
    position, counts = h.vertex.tolist(), h.counts()
    climb, descent = h.climbs(counts, position.index(0)), h.descents(counts, position.index(n - 1))
    assert sum(climb[x][1] * descent[x][1] for x in climb.keys() & descent) == 2**count
    back = h.climbs(counts, position.index(n - 1)).keys() & h.descents(counts, position.index(0))
    assert bool(back) == both_ways


def test_whole_lengths_close_to_their_limit():
    edges = [(v, v + 1) for v in range(300)]
    rowptr, col, weight = csr(301, edges, [2**53 - 1] * 300)
    h = build(rowptr, col, torch.tensor(weight, dtype=torch.float64))
    climb, descent = (h.climbs(h.counts(), h.vertex.tolist().index(v)) for v in (0, 200))
    assert min(climb[x][0] + descent[x][0] for x in climb.keys() & descent) == 200 * (2**53 - 1)


def test_the_order_given_is_kept():
    rowptr, col, weight = csr(5, [(0, 1), (1, 2), (2, 3), (3, 4)], [1] * 4)
    h = build(rowptr, col, order=torch.arange(5))
    assert h.vertex.tolist() == [4, 3, 2, 1, 0] and h.last.tolist() == [5] * 5
    # Of vertices that are in different branches, the order does not matter.
    h = build(rowptr, col, order=torch.tensor([0, 4, 1, 3, 2]))
    assert h.vertex[0] == 2 and h.to.tolist() == [0, 1, 0, 3]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 3]])
def test_an_order_has_every_vertex_once(order: list[int]):
    rowptr, col, _ = csr(3, [(0, 1), (1, 2)], [1, 1])
    with pytest.raises((RuntimeError, ValueError), match="no order of the vertices"):
        build(rowptr, col, order=torch.tensor(order))


def test_it_gives_up_where_there_are_too_many_arcs():
    def tried(columns: Tensor, n: int, most_fill: float) -> Hierarchy:
        rowptr, col, _ = ops.csr(columns.int(), n, True)
        return build(rowptr, col, most_fill=most_fill)

    for columns, n in (
        (generate.er(600, m=3_000), 600),
        (generate.rmat(10, 8), 1_024),
        (generate.ba(600, 5), 600),
    ):
        h = tried(columns, n, 2)
        assert all(len(part) == 0 for part in h)
        assert len(tried(columns, n, 0).vertex) == n
    n = 900
    h = tried(generate.road(30, 30), n, 2)
    assert len(h.vertex) == n
    columns = generate.grid(60, 60)
    assert len(tried(columns, 3_600, 1).vertex) == 0
    # All arcs of a clique are its edges, but there are too many triangles of them.
    for size, most in ((400, 0), (100, 1), (400, 12), (400, math.inf)):
        clique = graphs.edge_index(graphs.complete(size))
        assert len(tried(clique, size, most).vertex) == size
    assert len(tried(clique, 400, 2).vertex) == 0
    order = torch.randperm(3_600, generator=torch.Generator().manual_seed(0))
    rowptr, col, _ = ops.csr(columns.int(), 3_600, True)
    assert len(build(rowptr, col, most_fill=12, order=order).vertex) == 0


@pytest.mark.parametrize("rim", [False, True])
def test_hubs_cost_no_more_than_their_edges(rim: bool):
    leaves = 100_000
    ends = torch.arange(1, leaves + 1)
    columns = torch.stack([torch.zeros_like(ends), ends])
    if rim:
        columns = torch.cat([columns, torch.stack([ends, ends.roll(1)])], dim=1)
    rowptr, col, _ = ops.csr(columns.int(), leaves + 1, True)
    h = build(rowptr, col, most_fill=2)
    assert len(h.vertex) == leaves + 1
    assert len(h.to) < (3 * leaves if rim else leaves + 1)


@pytest.mark.slow
@pytest.mark.parametrize("both_ways", [True, False])
def test_threads_do_not_matter(both_ways: bool):
    columns = generate.grid(120, 120)  # large enough for both to have work
    rowptr, col, _ = ops.csr(columns.int(), 14_400, True)
    arc = None if both_ways else torch.arange(col.numel())
    weight = None if both_ways else 1 + torch.arange(col.numel(), dtype=torch.int32) % 7
    one, *others = (build(rowptr, col, weight, 0, threads, None, arc) for threads in (1, 2, 3))
    for other in others:
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


def test_neighbours_stand_together_in_the_sequence():
    columns = generate.grid(64, 64)
    rowptr, col, _ = ops.csr(columns.int(), 4_096, True)
    h = build(rowptr, col)
    place = np.empty(4_096, dtype=int)
    place[h.vertex[h.sequence]] = np.arange(4_096)
    ends = place[columns.numpy()]
    across = {size: (ends[0] // size != ends[1] // size).mean() for size in (64, 256, 1024)}
    assert across[64] < 0.25 and across[256] < 0.12 and across[1024] < 0.06
    assert (h.split[1:] >= 1).all() and h.split.max() < 20


@pytest.mark.parametrize("of_size", [0.02, 4.0])
def test_a_contraction_is_given_up_at_a_large_separator(of_size):
    """And never where four times as many arcs are allowed as there are in the end."""
    meshes = {
        "grid": generate.grid(40, 40), "triangles": generate.delaunay(2_000),
        "strip": torch.tensor(graphs.grid(12, 150)).T, "small world": generate.ws(1_500, 8, 0.3),
    }  # fmt: skip
    for columns in meshes.values():
        rowptr, col, _ = ops.csr(columns.int(), int(columns.max()) + 1, True)
        n, slots = rowptr.numel() - 1, col.numel()
        arcs = ops.hierarchy(rowptr, col, None, 0.0, control_record())[2].numel()
        order = ops.hierarchy_order(rowptr, col, of_size * 2 * arcs / slots, control_record())
        assert order.numel() == (n if of_size > 1 else 0)


def test_a_cancelled_contraction_returns_nothing():
    rowptr, col, _ = ops.csr(generate.road(40, 40).int(), 1_600, True)
    n = rowptr.numel() - 1
    stopped = control_record()
    found = ops.hierarchy(rowptr, col, None, 0.0, stopped)
    of_climbs = (*found[1:4], found[6], found[7], 1_000, 64)
    assert found[0].numel() == n and ops.hierarchy_climbs(*of_climbs, stopped)[0].numel() == n
    order = ops.hierarchy_order(rowptr, col, 0.0, stopped)
    assert order.numel() == n
    stopped[CANCEL] = 1
    assert ops.hierarchy_order(rowptr, col, 0.0, stopped).numel() == 0
    for known in (None, order):
        parts = ops.hierarchy(rowptr, col, None, 0.0, stopped, 2, known)
        assert [part.numel() for part in parts] == [0] * len(parts)
    parts = ops.hierarchy_climbs(*of_climbs, stopped)
    assert [part.numel() for part in parts] == [0] * len(parts)


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("known", [False, True])
def test_interrupt(known: bool):
    """In the search for an order, or with a known one; the graph can be contracted afterwards."""
    prepare = f"""
from torchcent import generate
from internals import Hierarchy, core_of
edge_index = generate.road(680, 680, seed=1)
length = ((edge_index[0] ^ edge_index[1]) % 991 + 10).double()
graph = torchcent.Graph.from_edge_index(edge_index, directed=False, edge_weight=length)
core = core_of(graph, "degree", "all")
assert core.num_nodes > 400_000
if {known}:
    core.contraction.find(12.0)
"""
    afterwards = f"""
assert Hierarchy.kept(core) is None and core.contraction.is_known is {known}
print(Hierarchy.of(core).vertex.numel() == core.num_nodes)
"""
    call = "Hierarchy.of(core, 12.0)"
    interrupt.assert_stops(prepare, call, afterwards=afterwards, said_afterwards="True\n")
