"""cutoff of closeness and harmonic: distances beyond it count for nothing, on every engine."""

import heapq
import math
import random

import pytest
import torch
from graphs import DEVICE, cycle, edge_index, grid, path, random_graph, star
from test_batch import together

import torchcent
from torchcent import Graph, cli
from torchcent.runtime import _ops

F64 = torch.float64
SHAPES = {
    "path": (12, path(12)),
    "leaves": (9, [*path(6), (2, 6), (2, 7), (6, 8)]),
    "grid": (30, grid(5, 6)),
    "star": (7, star(6)),
    "cycle": (40, cycle(40)),
    "two parts": (60, random_graph(60, 70, seed=2)),
    "150": (150, random_graph(150, 300, seed=3)),
}


def distances(n: int, arcs: list, weights: list[float], directed: bool) -> list[list[float]]:
    """By Dijkstra's algorithm, to every vertex from every other."""
    heads: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for (u, v), weight in zip(arcs, weights, strict=True):
        heads[v].append((u, weight))
        if not directed:
            heads[u].append((v, weight))
    rows = []
    for target in range(n):
        row, heap = [math.inf] * n, [(0.0, target)]
        while heap:
            d, v = heapq.heappop(heap)
            if d >= row[v]:
                continue
            row[v] = d
            for u, weight in heads[v]:
                heapq.heappush(heap, (d + weight, u))
        rows.append(row)
    return rows


def expected(rows: list[list[float]], cutoff: float) -> tuple[list[float], list[float]]:
    """Closeness and harmonic centrality."""
    closeness, harmonic, n = [], [], len(rows)
    for v, row in enumerate(rows):
        near = [d for u, d in enumerate(row) if u != v and d <= cutoff and d < math.inf]
        closeness.append(len(near) / sum(near) * len(near) / (n - 1) if near else 0.0)
        harmonic.append(sum(1 / d for d in near))
    return closeness, harmonic


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", ["auto", "bits", "tensor", "weights auto", "weights relax",
                                    "weights dijkstra", "weights tensor"])  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES)
def test_against_all_distances(shape, engine, directed):
    kind, _, engine = engine.rpartition(" ")
    operator = "distance_sums" if engine == "bits" else "weighted_distances"
    if engine in ("bits", "relax", "dijkstra") and not _ops.has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    n, arcs = SHAPES[shape]
    draw = random.Random(n)
    weights = [draw.randint(1, 4) / 2 if kind else 1 for _ in arcs]
    length = torch.tensor(weights, dtype=F64, device=DEVICE) if kind else None
    graph = Graph.from_edge_index(edge_index(arcs), n, directed, length)
    some = torch.tensor([0, n // 2, n - 1])
    rows = distances(n, arcs, weights, directed)
    cutoffs, columns = (0, 1, 2, 2.5, 5, 1000, math.inf), []
    for cutoff in cutoffs:
        wanted = expected(rows, cutoff)
        options = {"cutoff": cutoff, "engine": engine, "dtype": F64}
        columns.append(wanted)
        for measure, scores in zip((torchcent.closeness, torchcent.harmonic), wanted, strict=True):
            scores = torch.tensor(scores, dtype=F64)
            torch.testing.assert_close(measure(graph, **options).cpu(), scores)
            found = measure(graph, vertices=some, **options).cpu()
            torch.testing.assert_close(found, scores[some])
            every = torch.arange(n)  # as pivots: all of them are exact
            pivots = measure(graph, sources=every, **options).cpu()
            torch.testing.assert_close(pivots, scores)
    for place, measure in enumerate((torchcent.closeness, torchcent.harmonic)):
        scores = torch.tensor([wanted[place] for wanted in columns], dtype=F64).T
        options = {"cutoff": torch.tensor(cutoffs), "engine": engine, "dtype": F64}
        torch.testing.assert_close(measure(graph, **options).cpu(), scores)
        found = measure(graph, vertices=some, **options).cpu()
        torch.testing.assert_close(found, scores[some])


def test_several_from_the_same_pivots(tmp_path):
    graph = Graph.from_edge_index(edge_index(random_graph(150, 300, seed=3)), directed=False)
    options = {"sources": 9, "cutoff": [3, 2], "checkpoint": tmp_path}
    found, again = (
        torchcent.harmonic(graph, generator=torch.Generator().manual_seed(4), **options)
        for _ in range(2)
    )
    assert torch.equal(found, again)
    for column, cutoff in zip(found.unbind(1), options["cutoff"], strict=True):
        chance = torch.Generator().manual_seed(4)
        one = torchcent.harmonic(graph, sources=9, generator=chance, cutoff=cutoff)
        assert torch.equal(column, one)


def test_no_cutoff_gives_the_same_bits():
    graph = torchcent.generate.ba(2000, 3)
    for measure in (torchcent.closeness, torchcent.harmonic):
        plain = measure(graph, dtype=F64, engine="tensor")
        assert torch.equal(plain, measure(graph, dtype=F64, engine="tensor", cutoff=math.inf))
        far = measure(graph, dtype=F64, cutoff=50)
        torch.testing.assert_close(far, measure(graph, dtype=F64))


def test_batch():
    parts = [SHAPES[name] for name in ("path", "grid", "star", "two parts")]
    index, ptr = together(parts)
    found = torchcent.harmonic(index, ptr=ptr, directed=False, cutoff=2, dtype=F64)
    one_by_one = [
        torchcent.harmonic(edge_index(arcs), num_nodes=n, directed=False, cutoff=2, dtype=F64)
        for n, arcs in parts
    ]
    torch.testing.assert_close(found, torch.cat(one_by_one))


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"cutoff": -1}, ValueError, "cutoff must be >= 0, got -1"),
        ({"cutoff": math.nan}, ValueError, "cutoff must be >= 0, got nan"),
        ({"cutoff": "2"}, TypeError, "cutoff"),
        ({"cutoff": True}, TypeError, "cutoff"),
        ({"cutoff": 2, "engine": "tiny"}, ValueError, "cutoff is not for engine='tiny'"),
        ({"cutoff": 2, "top": 1}, ValueError, "top and cutoff"),
    ],
)
def test_malformed(options, kind, said):
    with pytest.raises(kind, match=said):
        torchcent.closeness(edge_index(path(4)), **options)


def test_command_line(tmp_path, capsys):
    (tmp_path / "net.txt").write_text("0 1\n1 2\n2 3\n")
    out = tmp_path / "out.csv"
    for measure, scores in (
        ("harmonic", [1, 2, 2, 1]),
        ("closeness", [1 / 3, 2 / 3, 2 / 3, 1 / 3]),
    ):
        assert cli.main([measure, str(tmp_path / "net.txt"), "--cutoff", "1", "-o", str(out)]) == 0
        lines = out.read_text().splitlines()[1:]
        assert [float(line.split(",")[2]) for line in lines] == pytest.approx(scores)
    capsys.readouterr()
