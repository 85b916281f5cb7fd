"""Distances to landmarks and to sets of anchors, against Floyd-Warshall on each graph."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from graphs import DEVICE

import torchcent
from torchcent import Graph, Run

F64 = torch.float64
INF = math.inf
NONE = SimpleNamespace(has_kernel=lambda *_: False)
SIZES = (9, 0, 1, 14, 5)
WEIGHTS = [0.25, 0.5, 1, 3]


@pytest.fixture(params=["compiled", "tensor", "few at a time"])
def way(request, tuning):
    if request.param == "tensor":
        tuning(near_operators=NONE, anchor_operators=NONE)
    if request.param == "few at a time":
        tuning(pairs_together=7, anchors_block=30, anchor_operators=NONE)


def drawn(seed, sizes=SIZES, weights=None, directed=True):
    """Columns with loops and repetitions, their weights, ptr, and the lengths of arcs."""
    draw = np.random.default_rng(seed)
    columns, lengths, ptr, matrices = [], [], np.cumsum([0, *sizes]), []
    for n, first in zip(sizes, ptr, strict=False):
        matrix = np.full((n, n), INF)
        for u, v in draw.integers(0, n, (int(1.4 * n), 2)) if n else ():
            w = 1 if weights is None else draw.choice(weights)
            columns.append((first + u, first + v))
            lengths.append(w)
            if u != v:
                matrix[u, v] = min(matrix[u, v], w)
                if not directed:
                    matrix[v, u] = min(matrix[v, u], w)
        matrices.append(matrix)
    index = torch.tensor(columns, dtype=torch.int64).reshape(-1, 2).T.contiguous().to(DEVICE)
    weight = None if weights is None else torch.tensor(lengths, dtype=F64, device=DEVICE)
    return index, weight, torch.from_numpy(ptr).to(DEVICE), matrices


def lengths(matrix):
    found = matrix.copy()
    np.fill_diagonal(found, 0)
    for via in range(len(found)):
        found = np.minimum(found, found[:, via, None] + found[via])
    return found


def from_landmarks(matrices, ptr, landmarks, direction="from"):
    """[n, k] by Floyd-Warshall; -1 where there is no path or no landmark."""
    found = np.full((int(ptr[-1]), landmarks.shape[1]), -1.0)
    for g, matrix in enumerate(matrices):
        distance, first = lengths(matrix), int(ptr[g])
        for j, landmark in enumerate(landmarks[g].tolist()):
            if landmark >= 0:
                line = landmark - first
                own = distance[line] if direction == "from" else distance[:, line]
                found[first : first + len(own), j] = np.where(own < INF, own, -1)
    return found


def by_degree(matrices, ptr, k):
    found = []
    for g, matrix in enumerate(matrices):
        degree = (matrix < INF).sum(1)
        order = sorted(range(len(matrix)), key=lambda v: (-degree[v], v))[:k]
        found.append([int(ptr[g]) + v for v in order] + [-1] * (k - len(order)))
    return found


def farthest(matrices, ptr, k, direction):
    found = []
    for g, (matrix, first) in enumerate(zip(matrices, by_degree(matrices, ptr, 1), strict=True)):
        distance = lengths(matrix) if direction == "from" else lengths(matrix).T
        chosen = [first[0] - int(ptr[g])] if len(matrix) else []
        while len(chosen) < min(k, len(matrix)):
            near = distance[chosen].min(0)
            near[chosen] = -1
            chosen.append(int(near.argmax()))
        found.append([int(ptr[g]) + v for v in chosen] + [-1] * (k - len(chosen)))
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("direction", ["from", "to"])
def test_distances(way, directed, weights, direction):
    for seed in range(3):
        index, weight, ptr, matrices = drawn(seed, weights=weights, directed=directed)
        graph = Graph.from_edge_index(index, None, directed, weight, ptr=ptr)
        options = {"direction": direction, "dtype": F64}
        for selection in ("degree", "farthest", "random"):
            distance, landmarks = torchcent.landmark_distances(
                graph, landmarks=6, selection=selection, **options
            )
            expected = from_landmarks(matrices, ptr, landmarks, direction)
            assert distance.tolist() == expected.tolist()
            if selection == "degree":
                assert landmarks.tolist() == by_degree(matrices, ptr, 6)
            elif selection == "farthest":
                assert landmarks.tolist() == farthest(matrices, ptr, 6, direction)
            for row, (a, b) in zip(landmarks, itertools.pairwise(ptr.tolist()), strict=True):
                chosen = row[row >= 0]
                assert len(set(chosen.tolist())) == min(6, b - a)
                assert ((chosen >= a) & (chosen < b)).all()
        given = landmarks.flip(1)
        again = torchcent.landmark_distances(graph, landmarks=given, **options)
        assert torch.equal(again.landmarks, given)
        assert torch.equal(again.distance, distance.flip(1))


def generator(seed=7):
    return torch.Generator(device="cpu").manual_seed(seed)


@pytest.mark.parametrize("weights", [None, WEIGHTS, [0.1, 0.2, 0.3, 0.7]])
def test_a_batch_is_each_graph_alone(weights):
    """To the bit, also what is drawn."""
    index, weight, ptr, _ = drawn(11, weights=weights)
    both = Graph.from_edge_index(index, None, True, weight, ptr=ptr)
    for selection in ("degree", "farthest", "random"):
        options = {"landmarks": 4, "selection": selection}
        seeded = selection == "random"
        drawing = {"generator": generator()} if seeded else {}
        found = torchcent.landmark_distances(both, **options, **drawing)
        for g, (a, b) in enumerate(itertools.pairwise(ptr.tolist())):
            own = (index[0] >= a) & (index[0] < b)
            alone = Graph.from_edge_index(
                index[:, own] - a, b - a, True, None if weight is None else weight[own]
            )
            drawing = {"generator": generator()} if seeded else {}
            one = torchcent.landmark_distances(alone, **options, **drawing)
            assert torch.equal(one.distance, found.distance[a:b])
            there = torch.where(one.landmarks < 0, -1, one.landmarks + a)
            assert torch.equal(there, found.landmarks[g])
            anchors = torchcent.anchor_distances(both, generator=generator(), factor=1)
            mine = torchcent.anchor_distances(alone, generator=generator(), factor=1)
            k = mine.sets.shape[1]
            assert torch.equal(mine.sets, anchors.sets[a:b, :k])
            assert torch.equal(mine.distance, anchors.distance[a:b, :k])
            nearest = torch.where(mine.nearest < 0, -1, mine.nearest + a)
            assert torch.equal(nearest, anchors.nearest[a:b, :k])
            assert not anchors.sets[a:b, k:].any() and (anchors.distance[a:b, k:] == -1).all()


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS, [2.0**-9, 1, 300]])
@pytest.mark.parametrize("direction", ["from", "to"])
def test_anchors(way, directed, weights, direction):
    """The nearest member, of several the lowest."""
    for seed in range(3):
        index, weight, ptr, matrices = drawn(50 + seed, weights=weights, directed=directed)
        n = int(ptr[-1])
        draw = np.random.default_rng(seed)
        sets = draw.random((n, 7)) < draw.choice([0, 0.1, 0.5, 1], 7)
        expected = np.full((2, n, 7), -1.0)
        for g, matrix in enumerate(matrices):
            distance, first = lengths(matrix), int(ptr[g])
            distance = distance if direction == "from" else distance.T
            for j in range(7):
                members = [u for u in range(len(matrix)) if sets[first + u, j]]
                for v in range(len(matrix)):
                    near = min(((distance[u, v], u) for u in members), default=(INF, 0))
                    if near[0] < INF:
                        expected[:, first + v, j] = near[0], first + near[1]
        graph = Graph.from_edge_index(index, None, directed, weight, ptr=ptr)
        found = torchcent.anchor_distances(
            graph, sets=torch.from_numpy(sets).to(DEVICE), direction=direction, dtype=F64
        )
        assert found.distance.tolist() == expected[0].tolist()
        assert found.nearest.tolist() == expected[1].tolist()


def test_members_by_decimals():
    """0.1 + 0.2 is as far as 0.3: of both ends the lower one is nearest."""
    arcs = torch.tensor([[0, 1, 3], [1, 2, 2]], device=DEVICE)
    weight = torch.tensor([0.1, 0.2, 0.3], dtype=F64, device=DEVICE)
    sets = torch.tensor([[True], [False], [False], [True]], device=DEVICE)
    found = torchcent.anchor_distances(arcs, weight, sets=sets, dtype=F64)
    assert found.distance[:, 0].tolist() == [0, 0.1, 0.3, 0]
    assert found.nearest[:, 0].tolist() == [0, 0, 0, 3]


@pytest.mark.parametrize("threads", [1, 3])
def test_anchors_of_a_large_graph(threads):
    """More sets than are searched together, on a torus of 1,600 vertices and its weights."""
    side, k = 40, 19
    x, y = np.divmod(np.arange(side * side), side)
    sets = np.random.default_rng(3).random((side * side, k)) < np.linspace(0, 0.02, k)
    step = (np.abs(x[:, None] - x), np.abs(y[:, None] - y))
    step = [np.minimum(each, side - each) for each in step]
    right, below = x * side + (y + 1) % side, (x + 1) % side * side + y
    arcs = np.stack([np.tile(np.arange(side * side), 2), np.concatenate([right, below])])
    weight = torch.tensor([0.3, 0.7], dtype=F64, device=DEVICE).repeat_interleave(side * side)
    for lengths_of, scale in ((None, (1, 1)), (weight, (7, 3))):  # down and to the right, tenths
        distance = scale[0] * step[0] + scale[1] * step[1]
        nearest, near = np.full((side * side, k), -1), np.full((side * side, k), -1.0)
        for j in range(k):
            members = np.flatnonzero(sets[:, j])
            if members.size:
                nearest[:, j] = members[distance[members].argmin(0)]  # of several the first
                near[:, j] = distance[members].min(0) / (1 if lengths_of is None else 10)
        found = torchcent.anchor_distances(
            torch.from_numpy(arcs).to(DEVICE), lengths_of, directed=False, dtype=F64,
            sets=torch.from_numpy(sets).to(DEVICE), run=Run(threads=threads),
        )  # fmt: skip
        assert found.distance.tolist() == near.tolist()
        assert found.nearest.tolist() == nearest.tolist()


def test_sets_do_not_depend_on_what_is_drawn_together(tuning):
    arcs = torchcent.generate.ba(300, 2).to(DEVICE)
    sets = torchcent.anchor_distances(arcs, factor=1, generator=generator()).sets
    tuning(anchors_draws=700)
    again = torchcent.anchor_distances(arcs, factor=1, generator=generator()).sets
    assert torch.equal(sets, again)
    assert len({tuple(column.tolist()) for column in sets.T}) > 50  # of 64


@pytest.mark.parametrize("factor", [0.1, 0.5, 1, 2.5])
def test_sizes_of_drawn_sets(factor):
    """Those of P-GNN: int(n / 2^i) members, int(factor * log2 n) sets of each size."""
    sizes = [1, 2, 3, 4, 31, 32, 33, 100]
    ptr = torch.tensor([0, *itertools.accumulate(sizes)], device=DEVICE)
    graph = Graph.from_edge_index(torch.empty(2, 0, dtype=torch.int64, device=DEVICE), ptr=ptr)
    found = torchcent.anchor_distances(graph, factor=factor, generator=generator())
    for n, (a, b) in zip(sizes, itertools.pairwise(ptr.tolist()), strict=True):
        m = int(math.log2(n))
        expected = [n // 2 ** (i + 1) for i in range(m) for _ in range(max(int(factor * m), 1))]
        count = found.sets[a:b].sum(0).tolist()
        assert count == expected + [0] * (found.sets.shape[1] - len(expected))
    other = torchcent.anchor_distances(graph, factor=factor, generator=generator(8))
    assert not torch.equal(other.sets, found.sets)


@pytest.mark.slow
def test_draws_are_even():
    """Each vertex of a cycle is as often a landmark as another, for seeds in a row."""
    n, trials = 8, 400
    arcs = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n]).to(DEVICE)
    count = torch.zeros(n)
    for seed in range(trials):
        found = torchcent.landmark_distances(
            arcs, landmarks=2, selection="random", generator=generator(seed)
        )
        count[found.landmarks.cpu()] += 1
    # A binomial number with p = 1/4: five standard deviations.
    assert (count - trials / 4).abs().max() < 5 * math.sqrt(trials * 3 / 16)


def test_renumbered_vertices():
    index, weight, ptr, _ = drawn(3, (20,), WEIGHTS)
    order = torch.randperm(20, generator=generator()).to(DEVICE)
    landmarks = torch.tensor([3, 0, 19], device=DEVICE)
    found = torchcent.landmark_distances(index, weight, landmarks=landmarks, num_nodes=20)
    other = torchcent.landmark_distances(
        order[index], weight, landmarks=order[landmarks], num_nodes=20
    )
    assert torch.equal(other.distance[order], found.distance)


def test_values_without_a_path():
    arcs = torch.tensor([[0], [1]], device=DEVICE)
    found = torchcent.landmark_distances(arcs, landmarks=4, unreachable=9, num_nodes=3)
    assert found.landmarks.tolist() == [0, 1, 2, -1]
    assert found.distance.tolist() == [[0, 9, 9, 9], [1, 0, 9, 9], [9, 9, 0, 9]]
    assert found.distance.dtype == torch.int32
    far = torchcent.landmark_distances(
        arcs, landmarks=1, unreachable=INF, num_nodes=3, dtype=torch.float32
    )
    assert far.distance[:, 0].tolist() == [0, 1, INF]
    for n in (0, 1):
        none = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
        assert torchcent.landmark_distances(none, landmarks=2, num_nodes=n).distance.shape == (n, 2)
        assert torchcent.anchor_distances(none, num_nodes=n).distance.shape == (n, 0)


def test_threads_and_large_graphs():
    """Blocks of rows, on one thread and on two; distances beyond int8."""
    arcs = torchcent.generate.ws(2000, 2, 0.02, seed=1).to(DEVICE)
    options = {"landmarks": 3, "selection": "farthest", "directed": False}
    one = torchcent.landmark_distances(arcs, **options, run=Run(threads=1))
    two = torchcent.landmark_distances(arcs, **options, run=Run(threads=2))
    assert torch.equal(one.distance, two.distance)
    rows = torchcent.shortest_path_lengths(arcs, sources=one.landmarks, directed=False)
    assert torch.equal(one.distance.T, rows.int())
    path = torch.stack([torch.arange(199), torch.arange(1, 200)]).to(DEVICE)
    with pytest.raises(OverflowError, match=r"199 does not fit torch\.int8"):
        torchcent.landmark_distances(path, landmarks=1, dtype=torch.int8)
    del options["directed"]
    graph = Graph.from_edge_index(arcs, directed=False)
    with pytest.raises(MemoryError, match="landmark_distances of 3 landmarks"):
        torchcent.landmark_distances(graph, **options, run=Run(memory=1000))
    with pytest.raises(MemoryError, match="anchor_distances of 50 sets"):
        torchcent.anchor_distances(graph, run=Run(memory=1000))


BAD = [
    ({"landmarks": 0}, ValueError, "landmarks must be at least 1, got 0"),
    ({"landmarks": True}, TypeError, "landmarks must be a number, or a tensor of vertices"),
    ({"landmarks": 2.0}, TypeError, "landmarks must be a number, or a tensor of vertices"),
    ({"landmarks": torch.tensor([0, 5])}, ValueError, r"landmarks.*5.*\[0, 4\)"),
    ({"landmarks": torch.tensor([0, 0])}, ValueError, "landmarks contains vertex 0 more than once"),
    ({"landmarks": torch.tensor([[0], [1]])}, ValueError, r"landmarks must be \[k\], got"),
    ({"landmarks": 1, "selection": "best"}, ValueError, "selection must be one of degree, random"),
    ({"landmarks": 1, "direction": "in"}, ValueError, "direction must be one of from, to"),
    ({"landmarks": 1, "unreachable": 0.5}, ValueError, "unreachable must be a whole number"),
    ({"landmarks": 1, "dtype": torch.bool}, ValueError, "dtype must be one of"),
    ({"landmarks": 1, "generator": generator()}, ValueError, "generator is for random choices"),
    ({"landmarks": 1, "generator": 3}, TypeError, "generator must be a torch.Generator"),
]


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_landmarks(options, error, text):
    path = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    with pytest.raises(error, match=text):
        torchcent.landmark_distances(path, **options)


def test_bad_sets():
    path = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    for sets in (torch.ones(4, 2), torch.ones(3, 2).bool(), torch.ones(4).bool()):
        with pytest.raises(ValueError, match=r"sets must be torch.bool \[4, k\]"):
            torchcent.anchor_distances(path, sets=sets)
    with pytest.raises(TypeError, match="sets must be a tensor of bool"):
        torchcent.anchor_distances(path, sets=[[True]])
    with pytest.raises(ValueError, match="factor must be finite and > 0"):
        torchcent.anchor_distances(path, factor=0)
    with pytest.raises(ValueError, match="generator is for random choices, but sets are given"):
        sets = torch.ones(4, 1, dtype=torch.bool)
        torchcent.anchor_distances(path, sets=sets, generator=generator())
    ptr = torch.tensor([0, 2, 4], device=DEVICE)
    pairs = Graph.from_edge_index(torch.tensor([[0, 2], [1, 3]], device=DEVICE), ptr=ptr)
    with pytest.raises(ValueError, match=r"landmarks\[1, 0\] is vertex 1.* not one of graph 1"):
        torchcent.landmark_distances(pairs, landmarks=torch.tensor([[0], [1]]))
    weight = torch.ones(2, dtype=F64, requires_grad=True)
    with pytest.raises(ValueError, match="grad"):
        torchcent.landmark_distances(torch.tensor([[0, 1], [1, 2]]), weight, landmarks=1)
